package pyyaml

import (
	"errors"
	"fmt"

	"hark/modules/py/value"
	"hark/playbook/jinja/libyaml"
)

// constructing is the context of errors of mappings.
const constructing = "while constructing a mapping"

func (c *constructor) mapping(y *libyaml.Node) (*Node, error) {
	if y.Kind != libyaml.Mapping {
		return nil, &Error{Problem: "expected a mapping node, but found " + kindOf(y), Mark: y.Mark}
	}
	if err := c.flatten(y); err != nil {
		return nil, err
	}
	n := &Node{Mark: y.Mark, Keys: make([]*Node, 0, len(y.Content)/2), Vals: make([]*Node, 0, len(y.Content)/2)}
	d := value.NewDict()
	at := make(map[string]int, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, err := c.key(y.Content[i])
		if err != nil {
			return nil, err
		}
		hash, ok := value.HashKey(k.Value)
		if !ok {
			return nil, &Error{Problem: fmt.Sprintf("found unacceptable key (unhashable type: '%s')", TypeName(k.Value)),
				Mark:    k.Mark,
				Context: constructing, ContextMark: n.Mark}
		}
		v, err := c.node(y.Content[i+1])
		if err != nil {
			return nil, err
		}
		d.SetKey(k.Value, v.Value)
		if j, twice := at[hash]; twice {
			if err := c.duplicate(k, n.Mark); err != nil {
				return nil, err
			}
			n.Vals[j] = v
			continue
		}
		at[hash] = len(n.Keys)
		n.Keys, n.Vals = append(n.Keys, k), append(n.Vals, v)
	}
	n.Value = d
	return n, nil
}

// TypeName returns the name of the class that Ansible's loader makes of v.
func TypeName(v value.Value) string {
	switch v.(type) {
	case *value.List:
		return "AnsibleSequence"
	case *value.Dict:
		return "AnsibleMapping"
	}
	return v.Type()
}

// key makes the key of an entry; "=" is text there.
func (c *constructor) key(y *libyaml.Node) (*Node, error) {
	if tagOf(y) == tagValue {
		return &Node{Value: c.o.Text.TextAs(y.Text), Mark: y.Mark}, nil
	}
	return c.node(y)
}

func (c *constructor) duplicate(k *Node, mapping Mark) error {
	if c.o.Duplicate == nil {
		return nil
	}
	err := c.o.Duplicate(k, mapping)
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{Problem: err.Error(), Mark: mapping}
}

// maxMerged bounds what << may add to one mapping.
const maxMerged = 100_000

// flatten replaces << entries by the entries of the mappings they name, put in front, so that the
// mapping's own keys win; of several mappings the first wins.
func (c *constructor) flatten(y *libyaml.Node) error {
	if c.merged[y] {
		return nil
	}
	c.merged[y] = true
	var merge, own []*libyaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind != libyaml.Scalar || tagOf(k) != tagMerge {
			own = append(own, k, v)
			continue
		}
		entries, err := c.mergeEntries(y.Mark, v)
		if err != nil {
			return err
		}
		merge = append(merge, entries...)
	}
	if len(merge) > maxMerged {
		return &Error{Problem: fmt.Sprintf("more than %d merged entries", maxMerged), Mark: y.Mark}
	}
	y.Content = append(merge[:len(merge):len(merge)], own...)
	return nil
}

// mergeEntries returns the entries that << adds to the mapping at a place.
func (c *constructor) mergeEntries(mapping Mark, v *libyaml.Node) ([]*libyaml.Node, error) {
	if v.Kind == libyaml.Alias {
		v = v.Target
	}
	switch v.Kind {
	case libyaml.Mapping:
		if err := c.flatten(v); err != nil {
			return nil, err
		}
		return v.Content, nil
	case libyaml.Sequence:
		var out []*libyaml.Node
		for i := len(v.Content) - 1; i >= 0; i-- {
			item := v.Content[i]
			if item.Kind == libyaml.Alias {
				item = item.Target
			}
			if item.Kind != libyaml.Mapping {
				return nil, &Error{Problem: "expected a mapping for merging, but found " + kindOf(item), Mark: item.Mark,
					Context: constructing, ContextMark: mapping}
			}
			if err := c.flatten(item); err != nil {
				return nil, err
			}
			out = append(out, item.Content...)
		}
		return out, nil
	}
	return nil, &Error{Problem: "expected a mapping or list of mappings for merging, but found " + kindOf(v), Mark: v.Mark,
		Context: constructing, ContextMark: mapping}
}
