package syntax

import (
	"errors"
	"fmt"

	"hark/modules/dialect"
	"hark/modules/py/datetime"
	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/vault"
)

func (l *Loader) options(name string) pyyaml.Options {
	return pyyaml.Options{Text: value.KindSource, Time: datetime.Printed,
		Tag: func(tag string, n pyyaml.Tagged) (value.Value, bool, error) {
			return l.tag(tag, n, Place{name, n.Mark.Line, n.Mark.Column})
		}, Duplicate: func(key *pyyaml.Node, at pyyaml.Mark) error {
			if l.Duplicates == "ignore" {
				return nil
			}
			msg := fmt.Sprintf("While constructing a mapping from %s, line %d, column %d, found a duplicate dict key (%s). "+
				"Using last defined value only.",
				name, at.Line, at.Column, value.Printed(key.Value))
			if l.Duplicates == "error" {
				return errors.New(msg)
			}
			if l.Level.Has(dialect.PlaybookWords) {
				found := l.Errorf(Place{name, key.Mark.Line, key.Mark.Column}, "Found duplicate mapping key %s.",
					value.ReprText(value.Printed(key.Value)))
				msg = found.Msg + "\n\nUsing last defined value only."
			}
			l.warn("%s", msg)
			return nil
		}}
}

// tag resolves Ansible's own tags.
func (l *Loader) tag(tag string, n pyyaml.Tagged, at Place) (value.Value, bool, error) {
	switch tag {
	case "!vault", "!vault-encrypted":
		if !n.Scalar {
			return nil, true, errors.New("expected a scalar node, but found mapping")
		}
		return l.vaultString(n.Text, at), true, nil
	case "!unsafe":
		v, err := n.Plain()
		if err != nil {
			return nil, true, err
		}
		return unsafe(v), true, nil
	}
	return nil, false, nil
}

// vaultString returns a vault string. One that is damaged knows its place.
func (l *Loader) vaultString(cipher string, at Place) value.Value {
	return &value.Vault{Cipher: cipher, Decrypt: func(cipher string) (string, error) {
		plain, err := l.Secrets.DecryptString(cipher)
		var damaged *vault.FormatError
		if errors.As(err, &damaged) {
			err = l.Errorf(at, "%s", damaged)
		}
		return plain, err
	}}
}

// unsafe returns v with all text in it unsafe. Ansible's own loader loses what is nested below a tagged list or
// mapping; here it stays.
func unsafe(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		out := &value.List{Items: make([]value.Value, len(v.Items))}
		for i, item := range v.Items {
			out.Items[i] = unsafe(item)
		}
		return out
	case *value.Dict:
		out := value.NewDict()
		v.Each(func(k, item value.Value) bool { out.SetKey(unsafe(k), unsafe(item)); return true })
		return out
	case *value.Vault:
		return v
	}
	if s, ok := value.Text(v); ok {
		return value.UnsafeStr(s)
	}
	return v
}

// jsonTags resolves what Ansible's JSON encoder makes of vault strings and unsafe text: {"__ansible_vault": "..."} and
// {"__ansible_unsafe": "..."}.
func (l *Loader) jsonTags(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		for i, item := range v.Items {
			v.Items[i] = l.jsonTags(item)
		}
	case *value.Dict:
		if cipher, ok := v.Get("__ansible_vault"); ok {
			if s, ok := value.Text(cipher); ok {
				return l.vaultString(s, Place{})
			}
		}
		if text, ok := v.Get("__ansible_unsafe"); ok {
			return unsafe(text)
		}
		for _, k := range v.Keys() {
			item, _ := v.GetKey(k)
			v.SetKey(k, l.jsonTags(item))
		}
	}
	return v
}

// nodeOf returns nodes without places.
func nodeOf(v value.Value) *Node {
	n := &Node{Value: v}
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			n.Items = append(n.Items, nodeOf(item))
		}
	case *value.Dict:
		v.Each(func(k, item value.Value) bool {
			n.Keys, n.Vals = append(n.Keys, nodeOf(k)), append(n.Vals, nodeOf(item))
			return true
		})
	}
	return n
}

// Class returns what Python prints of type(v) if Ansible's loader read v: its lists and mappings have classes of their
// own.
func Class(v value.Value) string {
	switch v.(type) {
	case *value.List, *value.Dict:
		return "<class 'ansible.parsing.yaml.objects." + pyyaml.TypeName(v) + "'>"
	}
	return value.ClassOf(v).Str()
}
