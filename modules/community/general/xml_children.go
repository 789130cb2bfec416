package general

import (
	"context"
	"maps"
	"slices"

	"github.com/beevik/etree"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/xmltree"
)

// orderChildren keeps the order in which the playbook has attributes: it is the order in the document.
func orderChildren(_ context.Context, _ *modules.Env, args map[string]any) error {
	for _, name := range []string{"add_children", "set_children"} {
		if list, ok := args[name].([]any); ok {
			args["ordered_children"] = pairs(list)
			args[name] = modules.Plain(list)
		}
	}
	return nil
}

// pairs are values with mappings as lists of keys and values.
func pairs(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = pairs(x)
		}
		return out
	case modules.Object:
		keys, values := []any{}, []any{}
		for _, m := range v {
			keys, values = append(keys, m.Key), append(values, pairs(m.Value))
		}
		return map[string]any{"keys": keys, "values": values}
	case map[string]any:
		keys, values := []any{}, []any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			keys, values = append(keys, key), append(values, pairs(v[key]))
		}
		return map[string]any{"keys": keys, "values": values}
	}
	return v
}

// member is a key of a mapping with its value.
type member struct {
	key   string
	value any
}

// members are those of a mapping, in the order of the playbook where the call brings it.
func (d *document) members(v any) (list []member, ok bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	if d.args.Ordered == nil {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			list = append(list, member{k, m[k]})
		}
		return list, true
	}
	keys, _ := m["keys"].([]any)
	values, _ := m["values"].([]any)
	for i, k := range keys {
		list = append(list, member{modules.Str(k), values[i]})
	}
	return list, true
}

// elements makes elements of children as they are given.
func (d *document) elements(children []any) ([]*etree.Element, error) {
	var list []*etree.Element
	for _, child := range children {
		e, err := d.child(child)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (d *document) child(child any) (*etree.Element, error) {
	text, isText := child.(string)
	if d.args.InputType == "xml" {
		tree, err := xmltree.Parse([]byte(modules.Str(child)), xmltree.Options{PlainCDATA: true})
		if err != nil {
			return nil, tool.Fail(nil, "Error while parsing child element: %s", err)
		}
		e := tree.Root()
		e.Parent().RemoveChild(e)
		return e, nil
	}
	if isText {
		return xmltree.NewElement(text, nil)
	}
	return d.fromMapping(child)
}

func (d *document) fromMapping(child any) (*etree.Element, error) {
	list, ok := d.members(child)
	switch {
	case !ok:
		return nil, tool.Fail(nil, "Invalid child type: %s. Children must be either strings or hashes.", modules.TypeName(child))
	case len(list) > 1:
		return nil, tool.Fail(nil, "Can only create children from hashes with one key")
	case len(list) == 0:
		return nil, tool.Fail(nil, "a child has no name")
	}
	name, value := list[0].key, list[0].value
	inner, ok := d.members(value)
	if !ok {
		e, err := xmltree.NewElement(name, nil)
		text, isText := value.(string)
		switch {
		case err != nil || value == nil:
			return e, err
		case !isText:
			return nil, tool.Fail(nil, "Argument must be bytes or unicode, got '%s'", modules.ClassName(value))
		}
		xmltree.SetText(e, text)
		return e, nil
	}
	return d.withAttributes(name, inner)
}

// withAttributes makes an element with attributes and, under _, children.
func (d *document) withAttributes(name string, list []member) (*etree.Element, error) {
	var attributes []xmltree.Attribute
	var children any
	for _, m := range list {
		text, ok := m.value.(string)
		switch {
		case m.key == "_":
			children = m.value
		case !ok:
			return nil, tool.Fail(nil, "Argument must be bytes or unicode, got '%s'", modules.ClassName(m.value))
		default:
			attributes = append(attributes, xmltree.Attribute{Name: m.key, Value: text})
		}
	}
	e, err := xmltree.NewElement(name, attributes)
	if err != nil || children == nil {
		return e, err
	}
	given, ok := children.([]any)
	if !ok {
		return nil, tool.Fail(nil, "Invalid children type: %s, must be list.", modules.TypeName(children))
	}
	subs := *d
	subs.args.InputType = "yaml" // in YAML all the way down
	inner, err := subs.elements(given)
	for _, c := range inner {
		xmltree.Append(e, c)
	}
	return e, err
}

// setChildren makes the children those that are given, where they are others.
func (d *document) setChildren(given []any) error {
	found, err := xmltree.Select(d.tree.Root(), *d.args.XPath, d.args.Namespaces)
	if err != nil {
		return err
	}
	children, err := d.elements(given)
	if err != nil {
		return err
	}
	var wanted []string
	for _, c := range children {
		wanted = append(wanted, xmltree.PrintNode(c))
	}
	for _, m := range found {
		e, ok := m.Node.(*etree.Element)
		if !ok || m.Value {
			continue
		}
		if haveChildren(e, wanted) {
			continue
		}
		for _, c := range xmltree.Children(e) {
			xmltree.Remove(c)
		}
		for _, c := range children {
			xmltree.Append(e, c)
		}
	}
	return nil
}

// haveChildren compares children as lxml writes them: with the text after them, and with the namespaces from above.
func haveChildren(e *etree.Element, wanted []string) bool {
	have := xmltree.Children(e)
	if len(have) != len(wanted) {
		return false
	}
	for i, c := range have {
		if child, ok := c.(*etree.Element); ok && xmltree.Inherits(child) || xmltree.PrintNode(c) != wanted[i] {
			return false
		}
	}
	return true
}

// addChildren adds children to elements, or beside them.
func (d *document) addChildren(given []any) error {
	found, err := xmltree.Select(d.tree.Root(), *d.args.XPath, d.args.Namespaces)
	if err != nil || len(found) == 0 || found[0].Value {
		return err
	}
	children, err := d.elements(given)
	if err != nil {
		return err
	}
	if d.args.InsertBefore || d.args.InsertAfter {
		return d.insert(found, children)
	}
	for _, m := range found {
		if e, ok := m.Node.(*etree.Element); ok {
			for _, c := range children {
				xmltree.Append(e, c)
			}
		}
	}
	return nil
}

// insert puts children before the first or after the last of the nodes, all into the parent of the first, as Ansible does.
func (d *document) insert(found []xmltree.Match, children []*etree.Element) error {
	at := found[0].Node
	if d.args.InsertAfter {
		at = found[len(found)-1].Node
	}
	parent := found[0].Node.Parent()
	if at == etree.Token(d.tree.Root()) {
		return tool.Fail(nil, "'NoneType' object has no attribute 'index'")
	}
	index := slices.Index(xmltree.Children(at.Parent()), at)
	if d.args.InsertAfter {
		index++
	}
	for i, c := range children {
		if among := xmltree.Children(parent); index+i < len(among) {
			xmltree.Insert(among[index+i], c)
		} else {
			xmltree.Append(parent, c)
		}
	}
	return nil
}
