package general

import (
	"github.com/beevik/etree"
	"slices"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/xmltree"
	"hark/modules/py/value"
)

// elements makes elements of children as they are given.
func (d *document) elements(children []value.Value) ([]*etree.Element, error) {
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

func (d *document) child(child value.Value) (*etree.Element, error) {
	text, isText := value.Text(child)
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

func (d *document) fromMapping(child value.Value) (*etree.Element, error) {
	mapping, ok := child.(*value.Dict)
	switch {
	case !ok:
		return nil, tool.Fail(nil, "Invalid child type: %s. Children must be either strings or hashes.", modules.TypeName(child))
	case mapping.Len() > 1:
		return nil, tool.Fail(nil, "Can only create children from hashes with one key")
	case mapping.Len() == 0:
		return nil, tool.Fail(nil, "a child has no name")
	}
	key, v := mapping.At(0)
	name := modules.Str(key)
	inner, ok := v.(*value.Dict)
	if !ok {
		e, err := xmltree.NewElement(name, nil)
		text, isText := value.Text(v)
		switch {
		case err != nil || value.IsNone(v):
			return e, err
		case !isText:
			return nil, tool.Fail(nil, "Argument must be bytes or unicode, got '%s'", modules.ClassName(v))
		}
		xmltree.SetText(e, text)
		return e, nil
	}
	return d.withAttributes(name, inner)
}

// withAttributes makes an element with attributes, in the order of the playbook, and, under _, children.
func (d *document) withAttributes(name string, mapping *value.Dict) (*etree.Element, error) {
	var attributes []xmltree.Attribute
	var children value.Value
	for i := range mapping.Len() {
		key, v := mapping.At(i)
		text, ok := value.Text(v)
		switch name := modules.Str(key); {
		case name == "_":
			children = v
		case !ok:
			return nil, tool.Fail(nil, "Argument must be bytes or unicode, got '%s'", modules.ClassName(v))
		default:
			attributes = append(attributes, xmltree.Attribute{Name: name, Value: text})
		}
	}
	e, err := xmltree.NewElement(name, attributes)
	if err != nil || children == nil || value.IsNone(children) {
		return e, err
	}
	given, ok := value.Items(children)
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
func (d *document) setChildren(given []value.Value) error {
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
func (d *document) addChildren(given []value.Value) error {
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
