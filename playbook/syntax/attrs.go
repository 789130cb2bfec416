package syntax

import (
	"slices"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/ident"
	"hark/modules/py/value"
)

// object is a mapping being read: what it may hold and what was found.
type object struct {
	n    *Node
	at   Place
	what string // Play, Block, Task: Ansible's class, for messages
}

// attrs reads the keywords of an object. It leaves keys in skip to the caller.
func (r *reader) attrs(o object, known wordSet, skip wordSet) Attrs {
	out := Attrs{}
	for i, kn := range o.n.Keys {
		key := value.Printed(kn.Value)
		if skip[key] {
			continue
		}
		if !known[key] || r.loader.lacks(key) {
			at := o.at
			if r.loader.Level.Has(dialect.PlaybookWords) {
				at = placeOf(at.File, kn)
			}
			r.failAt(at, dialect.InvalidAttribute.Format, key, o.what)
			continue
		}
		r.attr(o, out, key, o.n.Vals[i])
	}
	return out
}

func (r *reader) attr(o object, out Attrs, key string, v *Node) {
	if key == "register" && r.loader.Level.Has(dialect.RegisterNames) {
		names := r.loader.Level.Has(dialect.RegisterMap)
		if bad := badNames(v, names); bad != nil {
			r.errs = append(r.errs, badRegister(r.loader, bad.Value, r.place(bad)))
			return
		}
	} else if isText(key) {
		switch v.Value.(type) {
		case *value.List, *value.Dict:
			r.failAt(o.at, "The field '%s' is supposed to be a string type, however the incoming data structure is a %s", key,
				Class(v.Value))
			return
		}
	}
	out[key] = Attr{Value: v.Value, Place: r.place(v)}
}

// badNames returns what may be no name of what a task registers: a name, or with mapped (since ansible-core 2.21) a
// mapping of names to expressions. It is nil if all is well.
func badNames(v *Node, mapped bool) *Node {
	switch v.Value.(type) {
	case *value.Dict:
		if !mapped {
			return v
		}
		for _, k := range v.Keys {
			if name, ok := value.Text(k.Value); !ok || !ident.Jinja(name) {
				return k
			}
		}
	case value.None:
	default:
		if name, ok := value.Text(v.Value); !ok || !ident.Jinja(name) {
			return v
		}
	}
	return nil
}

// badRegister returns the error, at level 2.19, of a register that is no valid name of a variable.
func badRegister(l *Loader, name value.Value, at Place) error {
	const outer = "Invalid 'register' specified"
	inner := invalidName(name)
	return &Error{Place: at, Msg: outer + ": " + inner + "\n\n" + l.Errorf(at, outer+".").Msg +
		"\n\n<<< caused by >>>\n\n" +
		l.Errorf(at, "%s", inner).Msg + "\n\n" + nameHelp}
}

const nameHelp = "Variable names must be strings starting with a letter or underscore character, and contain only " +
	"letters, numbers and underscores."

// vars reads the keyword vars: a mapping, or a list of mappings to merge.
func (r *reader) vars(o object) *value.Dict {
	n := o.n.Get("vars")
	if n == nil {
		return nil
	}
	switch v := n.Value.(type) {
	case *value.Dict:
		r.variableNames(o, n, v)
		return v
	case value.None:
		return value.NewDict()
	case *value.List:
		if r.loader.Level.Has(dialect.VarsLists) {
			break
		}
		all := value.NewDict()
		for _, item := range v.Items {
			d, ok := item.(*value.Dict)
			if !ok {
				r.fail(n, "Vars in a %s must be specified as a dictionary, or a list of dictionaries", o.what)
				return all
			}
			r.variableNames(o, n, d)
			d.Each(func(k, item value.Value) bool { all.SetKey(k, item); return true })
		}
		return all
	}
	if r.loader.Level.Has(dialect.VarsLists) {
		r.fail(n, "Vars in a %s must be specified as a dictionary.", o.what)
		return nil
	}
	if value.IsText(n.Value) {
		r.fail(n, "Vars in a %s must be specified as a dictionary, or a list of dictionaries", o.what)
	} else {
		// Ansible knows no place of a number
		r.say("Vars in a %s must be specified as a dictionary, or a list of dictionaries. ", o.what)
	}
	return nil
}

func (r *reader) variableNames(o object, n *Node, d *value.Dict) {
	for i, k := range d.Keys() {
		s, ok := value.Text(k)
		switch {
		case r.loader.Level.Has(dialect.VariableNames) && !(ok && ident.Jinja(s)):
			r.errs = append(r.errs, badVariable(r.loader, k, r.place(n.Keys[i])))
		case !r.loader.Level.Has(dialect.VariableNames) && !(ok && ident.Python(s)):
			r.fail(n, "Invalid variable name in vars specified for %s: '%s' is not a valid variable name", o.what,
				value.Printed(k))
		}
	}
}

// badVariable returns the error, at level 2.19, of an invalid name of a variable.
func badVariable(l *Loader, name value.Value, at Place) error {
	e := l.Errorf(at, "%s", invalidName(name))
	e.Detail, e.General = strings.TrimPrefix(e.Detail+"\n\n"+nameHelp, "\n\n"), true
	return e
}

// invalidName returns a key for the message; of one that is no text its type too.
func invalidName(name value.Value) string {
	said := "Invalid variable name"
	switch name.(type) {
	case *value.List, *value.Dict:
	default:
		said += " " + value.ReprText(value.Printed(name))
	}
	if _, ok := value.Text(name); ok {
		return said + "."
	}
	return said + " of type " + value.ReprText(name.Type()) + "."
}

// tags reads the keyword tags.
func (r *reader) tags(o object) []value.Value {
	n := o.n.Get("tags")
	if n == nil {
		return nil
	}
	var tags []value.Value
	text, isText := value.Text(n.Value)
	switch v := n.Value.(type) {
	case *value.List:
		tags = v.Items
	case *value.Dict:
		r.fail(n, "tags must be specified as a list").General = true
	default:
		if !isText {
			r.say("tags must be specified as a list").General = true
			return nil
		}
		for _, tag := range strings.Split(text, ",") {
			tags = append(tags, value.SourceText(strings.TrimSpace(tag)))
		}
	}
	r.loader.warnOfTags(tags, r.place(n))
	return tags
}

// warnOfTags warns of tags whose names have a meaning where tags are selected, as ansible-core 2.20 does.
func (l *Loader) warnOfTags(tags []value.Value, at Place) {
	var reserved []string
	for _, tag := range tags {
		name, _ := value.Text(tag)
		if said := value.ReprText(name); slices.Contains([]string{"all", "tagged", "untagged"}, name) &&
			!slices.Contains(reserved, said) {
			reserved = append(reserved, said)
		}
	}
	if len(reserved) > 0 && l.Level.Has(dialect.ReservedTags) {
		l.warn("Found reserved tagnames in tags: [%s], we do not recommend doing this as it might give unexpected "+
			"results\n%s",
			strings.Join(reserved, ", "), Origin(at, l.text(at.File, false)))
	}
}

// ownCollections reads the keyword collections; nil if it was not given.
func (r *reader) ownCollections(o object) []string {
	n := o.n.Get("collections")
	if n == nil {
		return nil
	}
	items := []value.Value{n.Value}
	switch v := n.Value.(type) {
	case value.None:
		return []string{}
	case *value.List:
		items = v.Items
	}
	out := []string{}
	for _, item := range items {
		s, ok := value.Text(item)
		if !ok {
			r.failAt(o.at, "the field 'collections' should be a list of (<class 'str'>,), but the item '%s' is a %s",
				value.Printed(item), Class(item))
			continue
		}
		if strings.Contains(s, "{{") {
			r.loader.warn(`"collections" is not templatable, but we found: %s, it will not be templated and will be used `+
				`"as is".`, s)
		}
		out = append(out, s)
	}
	return out
}
