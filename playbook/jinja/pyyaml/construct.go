package pyyaml

import (
	"encoding/base64"
	"fmt"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/libyaml"
)

// constructor makes values of one document. An anchor is made once; its aliases share the value, as in Python.
type constructor struct {
	o      Options
	done   map[*libyaml.Node]*Node
	open   map[*libyaml.Node]bool
	merged map[*libyaml.Node]bool
	sizes  map[*Node]int
}

func construct(doc *libyaml.Node, o Options) (*Node, error) {
	c := &constructor{o: o, done: map[*libyaml.Node]*Node{}, open: map[*libyaml.Node]bool{},
		merged: map[*libyaml.Node]bool{}, sizes: map[*Node]int{}}
	n, err := c.node(doc)
	if err != nil {
		return nil, err
	}
	if c.size(n) >= maxValues {
		return nil, &Error{Problem: fmt.Sprintf("the document's aliases expand to more than %d values", maxValues),
			Mark: n.Mark}
	}
	return n, nil
}

// size counts the values below n with all aliases followed, up to maxValues.
func (c *constructor) size(n *Node) int {
	if len(n.Items) == 0 && len(n.Vals) == 0 {
		return 1
	}
	if s, ok := c.sizes[n]; ok {
		return s
	}
	s := 1
	for _, list := range [][]*Node{n.Items, n.Keys, n.Vals} {
		for _, item := range list {
			if s += c.size(item); s >= maxValues {
				c.sizes[n] = maxValues
				return maxValues
			}
		}
	}
	c.sizes[n] = s
	return s
}

func (c *constructor) node(y *libyaml.Node) (*Node, error) {
	if y.Kind == libyaml.Alias {
		y = y.Target
	}
	if n, ok := c.done[y]; ok {
		return n, nil
	}
	if c.open[y] {
		return nil, &Error{Problem: "found unconstructable recursive node", Mark: y.Mark}
	}
	c.open[y] = true
	n, err := c.make(y)
	delete(c.open, y)
	if err != nil {
		return nil, err
	}
	if y.Anchor != "" {
		c.done[y] = n
	}
	return n, nil
}

func (c *constructor) make(y *libyaml.Node) (*Node, error) {
	tag := tagOf(y)
	if !strings.HasPrefix(tag, "!!") {
		return c.tagged(y, tag)
	}
	switch tag {
	case "!!map":
		return c.mapping(y)
	case "!!seq":
		return c.sequence(y)
	case "!!set":
		return c.set(y)
	case "!!omap", "!!pairs":
		return c.pairs(y)
	case tagBinary:
		return c.binary(y)
	case tagStr, tagNull, tagBool, tagInt, tagFloat, tagTimestamp:
		return c.scalar(y, tag)
	}
	return nil, unknownTag(y, tag)
}

// coreTags is how the tags of YAML's own begin; here they are written !!name.
const coreTags = "tag:yaml.org,2002:"

func tagOf(y *libyaml.Node) string {
	if name, core := strings.CutPrefix(y.Tag, coreTags); core {
		return "!!" + name
	}
	switch {
	case y.Tag != "":
		return y.Tag
	case y.Kind == libyaml.Mapping:
		return "!!map"
	case y.Kind == libyaml.Sequence:
		return "!!seq"
	case y.Plain:
		return implicitTag(y.Text)
	}
	return tagStr
}

func unknownTag(y *libyaml.Node, tag string) error {
	if strings.HasPrefix(tag, "!!") {
		tag = coreTags + tag[2:]
	}
	return &Error{Problem: "could not determine a constructor for the tag " + value.ReprText(tag), Mark: y.Mark}
}

func kindOf(y *libyaml.Node) string {
	switch y.Kind {
	case libyaml.Mapping:
		return "mapping"
	case libyaml.Sequence:
		return "sequence"
	}
	return "scalar"
}

func (c *constructor) scalar(y *libyaml.Node, tag string) (*Node, error) {
	if y.Kind != libyaml.Scalar {
		return nil, &Error{Problem: "expected a scalar node, but found " + kindOf(y), Mark: y.Mark}
	}
	v, ok := scalar(tag, y.Text, c.o.Text)
	if s, _ := value.Text(v); ok && tag == tagTimestamp && c.o.Time != nil {
		v = c.o.Time(s)
	}
	if !ok && y.Tag == "" {
		// Python stops with an exception here (0b_); the text itself is the kinder answer.
		v, ok = c.o.Text.TextAs(y.Text), true
	}
	if !ok {
		return nil, &Error{Problem: fmt.Sprintf("invalid value for %s: %q", strings.TrimPrefix(tag, "!!"), y.Text),
			Mark: y.Mark}
	}
	return &Node{Value: v, Mark: y.Mark}, nil
}

func (c *constructor) binary(y *libyaml.Node) (*Node, error) {
	if y.Kind != libyaml.Scalar {
		return nil, &Error{Problem: "expected a scalar node, but found " + kindOf(y), Mark: y.Mark}
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(y.Text), ""))
	if err != nil {
		return nil, &Error{Problem: "failed to decode base64 data: " + err.Error(), Mark: y.Mark}
	}
	return &Node{Value: value.Bytes(raw), Mark: y.Mark}, nil
}

func (c *constructor) sequence(y *libyaml.Node) (*Node, error) {
	if y.Kind != libyaml.Sequence {
		return nil, &Error{Problem: "expected a sequence node, but found " + kindOf(y), Mark: y.Mark}
	}
	n := &Node{Mark: y.Mark, Items: make([]*Node, 0, len(y.Content))}
	l := &value.List{Items: make([]value.Value, 0, len(y.Content))}
	for _, child := range y.Content {
		item, err := c.node(child)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
		l.Items = append(l.Items, item.Value)
	}
	n.Value = l
	return n, nil
}

// set has no value of its own kind: it is the list of its members.
func (c *constructor) set(y *libyaml.Node) (*Node, error) {
	m, err := c.mapping(y)
	if err != nil {
		return nil, err
	}
	l := value.NewList()
	for _, k := range m.Keys {
		l.Items = append(l.Items, k.Value)
	}
	return &Node{Value: l, Mark: m.Mark, Items: m.Keys}, nil
}

func (c *constructor) pairs(y *libyaml.Node) (*Node, error) {
	if y.Kind != libyaml.Sequence {
		return nil, &Error{Problem: "expected a sequence, but found " + kindOf(y), Mark: y.Mark}
	}
	n, l := &Node{Mark: y.Mark}, value.NewList()
	for _, child := range y.Content {
		switch {
		case child.Kind != libyaml.Mapping:
			return nil, &Error{Problem: "expected a mapping of length 1, but found " + kindOf(child), Mark: child.Mark}
		case len(child.Content) != 2:
			return nil, &Error{Problem: fmt.Sprintf("expected a single mapping item, but found %d items", len(child.Content)/2),
				Mark: child.Mark}
		}
		k, err := c.node(child.Content[0])
		if err != nil {
			return nil, err
		}
		v, err := c.node(child.Content[1])
		if err != nil {
			return nil, err
		}
		pair := value.NewTuple(k.Value, v.Value)
		n.Items = append(n.Items, &Node{Value: pair, Mark: child.Mark, Items: []*Node{k, v}})
		l.Items = append(l.Items, pair)
	}
	n.Value = l
	return n, nil
}

func (c *constructor) tagged(y *libyaml.Node, tag string) (*Node, error) {
	if c.o.Tag == nil {
		return nil, unknownTag(y, tag)
	}
	n := &Node{Mark: y.Mark}
	t := Tagged{Text: y.Text, Scalar: y.Kind == libyaml.Scalar, Mark: n.Mark}
	t.plain = func() (value.Value, error) {
		var inner *Node
		var err error
		switch y.Kind {
		case libyaml.Mapping:
			inner, err = c.mapping(y)
		case libyaml.Sequence:
			inner, err = c.sequence(y)
		default:
			return c.o.Text.TextAs(y.Text), nil
		}
		if err != nil {
			return nil, err
		}
		n.Items, n.Keys, n.Vals = inner.Items, inner.Keys, inner.Vals
		return inner.Value, nil
	}
	v, known, err := c.o.Tag(tag, t)
	if err != nil {
		return nil, &Error{Problem: err.Error(), Mark: n.Mark}
	}
	if !known {
		return nil, unknownTag(y, tag)
	}
	n.Value = v
	return n, nil
}
