package pyyaml

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"hark/playbook/jinja/value"
)

func (c *constructor) mapping(y *yaml.Node) (*Node, error) {
	if y.Kind != yaml.MappingNode {
		return nil, &Error{Problem: "expected a mapping node, but found " + kindOf(y), Mark: markOf(y)}
	}
	if err := c.flatten(y); err != nil {
		return nil, err
	}
	n := &Node{Mark: markOf(y), Keys: make([]*Node, 0, len(y.Content)/2), Vals: make([]*Node, 0, len(y.Content)/2)}
	d := value.NewDict()
	at := make(map[string]int, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v, err := c.entry(y.Content[i], y.Content[i+1])
		if err != nil {
			return nil, err
		}
		hash, ok := value.HashKey(k.Value)
		if !ok {
			return nil, &Error{Problem: fmt.Sprintf("found unacceptable key (unhashable type: '%s')", pythonType(k.Value)), Mark: k.Mark}
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

func pythonType(v value.Value) string {
	switch v.(type) {
	case *value.List:
		return "AnsibleSequence"
	case *value.Dict:
		return "AnsibleMapping"
	}
	return v.Type()
}

func (c *constructor) entry(ky, vy *yaml.Node) (k, v *Node, err error) {
	if tagOf(ky) == tagValue { // a key "=" is text
		k = &Node{Value: c.o.Text.TextAs(ky.Value), Mark: markOf(ky)}
	} else if k, err = c.node(ky); err != nil {
		return nil, nil, err
	}
	v, err = c.node(vy)
	return k, v, err
}

func (c *constructor) duplicate(k *Node, mapping Mark) error {
	if c.o.Duplicate == nil {
		return nil
	}
	err := c.o.Duplicate(k.Value, mapping)
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
func (c *constructor) flatten(y *yaml.Node) error {
	if c.merged[y] {
		return nil
	}
	c.merged[y] = true
	var merge, own []*yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind != yaml.ScalarNode || tagOf(k) != tagMerge {
			own = append(own, k, v)
			continue
		}
		entries, err := c.mergeEntries(v)
		if err != nil {
			return err
		}
		merge = append(merge, entries...)
	}
	if len(merge) > maxMerged {
		return &Error{Problem: fmt.Sprintf("more than %d merged entries", maxMerged), Mark: markOf(y)}
	}
	y.Content = append(merge[:len(merge):len(merge)], own...)
	return nil
}

func (c *constructor) mergeEntries(v *yaml.Node) ([]*yaml.Node, error) {
	if v.Kind == yaml.AliasNode {
		v = v.Alias
	}
	switch v.Kind {
	case yaml.MappingNode:
		if err := c.flatten(v); err != nil {
			return nil, err
		}
		return v.Content, nil
	case yaml.SequenceNode:
		var out []*yaml.Node
		for i := len(v.Content) - 1; i >= 0; i-- {
			item := v.Content[i]
			if item.Kind == yaml.AliasNode {
				item = item.Alias
			}
			if item.Kind != yaml.MappingNode {
				return nil, &Error{Problem: "expected a mapping for merging, but found " + kindOf(item), Mark: markOf(item)}
			}
			if err := c.flatten(item); err != nil {
				return nil, err
			}
			out = append(out, item.Content...)
		}
		return out, nil
	}
	return nil, &Error{Problem: "expected a mapping or list of mappings for merging, but found " + kindOf(v), Mark: markOf(v)}
}
