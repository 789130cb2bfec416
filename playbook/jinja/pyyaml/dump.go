package pyyaml

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// Flow says when lists and mappings are written in brackets.
type Flow int

// The values of yaml.dump's default_flow_style: False, None and True.
const (
	FlowNever  Flow = iota
	FlowLeaves      // those that hold only scalars
	FlowAlways
)

// DumpOptions are the arguments of yaml.dump.
type DumpOptions struct {
	// Indent is 2 unless it is between 2 and 9; Width is 80 unless it is more than twice the indent.
	Indent, Width int
	Flow          Flow
	// Unicode writes characters beyond ASCII as they are.
	Unicode bool
	// Unsorted keeps the order of mappings.
	Unsorted bool
	// Start and End write the document's markers.
	Start, End bool
	// Style is the style of scalars: 0 for the simplest, or one of " ' | >
	Style byte
	// Text, if set, may choose another text and a style for a string: one of those of Style, or 0 for what fits.
	Text func(s string) (text string, style byte)
}

// Dump writes a value as yaml.dump does with libyaml and Ansible's dumper: vault strings stay encrypted, a list or
// mapping that comes twice is an anchor and aliases. The error is that of a value that cannot be written.
func Dump(v value.Value, o DumpOptions) (string, error) {
	e := newEmitter(o)
	r := &representer{o: o, seen: map[value.Value]*node{}}
	n, err := r.node(v, 0)
	if err != nil {
		return "", err
	}
	r.anchors(n, map[*node]bool{})
	if o.Start {
		e.write("---")
		e.whitespace, e.indention = false, false
	}
	e.node(n, place{root: true})
	if e.full {
		return "", value.TooLong()
	}
	e.writeIndent()
	if o.End || e.openEnded {
		e.write("...")
		e.indention, e.whitespace = false, false
		e.writeIndent()
	}
	return e.b.String(), nil
}

// node is a value as YAML has it.
type node struct {
	kind   byte // s(calar), l(ist), m(apping)
	tag    string
	text   string
	style  byte
	plain  bool // the text has its tag by its look
	quoted bool // the tag is that of quoted text
	flow   bool
	items  []*node // of a mapping: keys and values in turn
	anchor string
}

type representer struct {
	o    DumpOptions
	seen map[value.Value]*node // lists and mappings by identity
	last int                   // number of the last anchor
	size int                   // of the text of all scalars
}

// maxDumpDepth bounds nesting: what refers to itself has no end otherwise, since templates share by reference.
const maxDumpDepth = 1000

func (r *representer) node(v value.Value, depth int) (*node, error) {
	if depth > maxDumpDepth {
		return nil, errors.New("the value is nested too deeply")
	}
	switch v := v.(type) {
	case *value.List:
		return r.list(v, v.Items, depth)
	case *value.Tuple:
		return r.list(v, v.Items, depth)
	case *value.Dict:
		return r.mapping(v, depth)
	}
	n, err := r.scalar(v)
	if err != nil {
		return nil, err
	}
	if r.size += len(n.text); r.size > value.MaxText {
		return nil, value.TooLong()
	}
	return n, nil
}

func (r *representer) list(id value.Value, items []value.Value, depth int) (*node, error) {
	if n := r.seen[id]; n != nil {
		return n, nil
	}
	n := &node{kind: 'l', tag: "!!seq"}
	r.seen[id] = n
	for _, item := range items {
		child, err := r.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, child)
	}
	n.flow = r.flow(n)
	return n, nil
}

func (r *representer) flow(n *node) bool {
	if r.o.Flow != FlowLeaves {
		return r.o.Flow == FlowAlways
	}
	return !slices.ContainsFunc(n.items, func(c *node) bool { return c.kind != 's' || c.style != 0 })
}

func (r *representer) mapping(d *value.Dict, depth int) (*node, error) {
	if n := r.seen[d]; n != nil {
		return n, nil
	}
	n := &node{kind: 'm', tag: "!!map"}
	r.seen[d] = n
	keys := d.Keys()
	if !r.o.Unsorted {
		keys = sortedKeys(keys)
	}
	for _, k := range keys {
		item, _ := d.GetKey(k)
		kn, err := r.node(k, depth+1)
		if err != nil {
			return nil, err
		}
		vn, err := r.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, kn, vn)
	}
	n.flow = r.flow(n)
	return n, nil
}

// sortedKeys sorts as Python's sorted; keys that do not compare leave the order as it is.
func sortedKeys(keys []value.Value) []value.Value {
	sorted := slices.Clone(keys)
	ok := true
	slices.SortStableFunc(sorted, func(a, b value.Value) int {
		less, err := value.Compare("<", a, b)
		ok = ok && err == nil
		return less
	})
	if !ok {
		return keys
	}
	return sorted
}

func (r *representer) scalar(v value.Value) (*node, error) {
	n := &node{kind: 's', style: r.o.Style}
	switch v := v.(type) {
	case value.None:
		n.text, n.tag = "null", tagNull
	case value.Bool:
		n.text, n.tag = strconv.FormatBool(bool(v)), tagBool
	case value.Int:
		n.text, n.tag = strconv.FormatInt(int64(v), 10), tagInt
	case *value.BigInt:
		n.text, n.tag = v.Int.String(), tagInt
	case value.Float:
		n.text, n.tag = floatText(float64(v)), tagFloat
	case value.Bytes:
		n.text, n.tag, n.style = encodeBinary(v), tagBinary, '|'
	case *value.Vault:
		n.text, n.tag, n.style = v.Cipher, "!vault", '|'
	case value.Moment:
		n.text, n.tag = v.Str(), tagTimestamp
	case *value.Undefined:
		return nil, errors.New(v.Msg)
	default:
		s, ok := value.Text(v)
		n.text, n.tag = s, tagStr
		if ok && r.o.Text != nil {
			n.text, n.style = r.o.Text(s)
		}
		if !ok {
			return nil, fmt.Errorf("cannot represent an object of type %s", v.Type())
		}
	}
	n.plain = implicitTag(n.text) == n.tag
	n.quoted = n.tag == tagStr
	return n, nil
}

func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	s := strings.ToLower(value.FloatText(f))
	if !strings.Contains(s, ".") {
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return s
}

// encodeBinary writes base64 in lines of 76, as Python's encodebytes.
func encodeBinary(b []byte) string {
	s := base64.StdEncoding.EncodeToString(b)
	var out strings.Builder
	for len(s) > 0 {
		n := min(76, len(s))
		out.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return out.String()
}

// anchors names the lists and mappings that come more than once, in the order in which the second time is met.
func (r *representer) anchors(n *node, seen map[*node]bool) {
	if n.kind == 's' {
		return
	}
	if seen[n] {
		if n.anchor == "" {
			r.last++
			n.anchor = fmt.Sprintf("id%03d", r.last)
		}
		return
	}
	seen[n] = true
	for _, c := range n.items {
		r.anchors(c, seen)
	}
}
