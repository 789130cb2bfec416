package xmltree

import (
	"strings"

	"github.com/antchfx/xpath"
	"github.com/beevik/etree"
)

// cursor walks a document for the library that evaluates expressions. Instructions and document types are not seen.
type cursor struct {
	node etree.Token
	attr int // the attribute of node that is meant, -1 for none
}

func (c *cursor) match() Match {
	switch n := c.node.(type) {
	case *etree.CharData:
		return Match{Node: n.Parent(), Value: true}
	case *etree.Element:
		if c.attr >= 0 {
			return Match{Node: n, Value: true, Key: n.Attr[c.attr].FullKey()}
		}
	}
	return Match{Node: c.node}
}

func (c *cursor) element() *etree.Element {
	e, _ := c.node.(*etree.Element)
	return e
}

// NodeType is part of xpath.NodeNavigator.
func (c *cursor) NodeType() xpath.NodeType {
	switch c.node.(type) {
	case *etree.CharData:
		return xpath.TextNode
	case *etree.Comment:
		return xpath.CommentNode
	}
	switch {
	case c.attr >= 0:
		return xpath.AttributeNode
	case c.node.Parent() == nil:
		return xpath.RootNode
	}
	return xpath.ElementNode
}

// LocalName is part of xpath.NodeNavigator.
func (c *cursor) LocalName() string {
	e := c.element()
	switch {
	case e == nil:
		return ""
	case c.attr >= 0:
		return e.Attr[c.attr].Key
	}
	return e.Tag
}

// unnamed stands for the prefix of a default namespace: names without a prefix do not select what is in one.
const unnamed = "\x00"

// Prefix is part of xpath.NodeNavigator.
func (c *cursor) Prefix() string {
	e := c.element()
	switch {
	case e == nil:
		return ""
	case c.attr >= 0:
		return e.Attr[c.attr].Space
	case e.Space == "" && c.NamespaceURL() != "":
		return unnamed
	}
	return e.Space
}

// NamespaceURL is what the library asks where prefixes of an expression have namespaces.
func (c *cursor) NamespaceURL() string {
	e := c.element()
	if e == nil || c.attr >= 0 && e.Attr[c.attr].Space == "" {
		return ""
	}
	prefix := e.Space
	if c.attr >= 0 {
		prefix = e.Attr[c.attr].Space
	}
	uri, _ := lookup(e, prefix)
	return uri
}

// Value is part of xpath.NodeNavigator.
func (c *cursor) Value() string {
	switch n := c.node.(type) {
	case *etree.CharData:
		return n.Data
	case *etree.Comment:
		return n.Data
	case *etree.Element:
		if c.attr >= 0 {
			return n.Attr[c.attr].Value
		}
		var text strings.Builder
		gather(&text, n)
		return text.String()
	}
	return ""
}

func gather(text *strings.Builder, e *etree.Element) {
	for _, c := range e.Child {
		switch c := c.(type) {
		case *etree.CharData:
			text.WriteString(c.Data)
		case *etree.Element:
			gather(text, c)
		}
	}
}

// Copy is part of xpath.NodeNavigator.
func (c *cursor) Copy() xpath.NodeNavigator {
	other := *c
	return &other
}

// MoveToRoot is part of xpath.NodeNavigator.
func (c *cursor) MoveToRoot() {
	for c.attr = -1; c.node.Parent() != nil; {
		c.node = c.node.Parent()
	}
}

// MoveToParent is part of xpath.NodeNavigator.
func (c *cursor) MoveToParent() bool {
	switch {
	case c.attr >= 0:
		c.attr = -1
	case c.node.Parent() == nil:
		return false
	default:
		c.node = c.node.Parent()
	}
	return true
}

// MoveToNextAttribute is part of xpath.NodeNavigator.
func (c *cursor) MoveToNextAttribute() bool {
	e := c.element()
	if e == nil {
		return false
	}
	for i := c.attr + 1; i < len(e.Attr); i++ {
		if !isDeclaration(e.Attr[i]) {
			c.attr = i
			return true
		}
	}
	return false
}

// MoveToChild is part of xpath.NodeNavigator.
func (c *cursor) MoveToChild() bool {
	if e := c.element(); e != nil && c.attr < 0 {
		return c.among(e, 0, 1)
	}
	return false
}

// MoveToFirst is part of xpath.NodeNavigator.
func (c *cursor) MoveToFirst() bool {
	return c.attr < 0 && c.node.Parent() != nil && c.among(c.node.Parent(), 0, 1)
}

// MoveToNext is part of xpath.NodeNavigator.
func (c *cursor) MoveToNext() bool {
	return c.attr < 0 && c.node.Parent() != nil && c.among(c.node.Parent(), c.node.Index()+1, 1)
}

// MoveToPrevious is part of xpath.NodeNavigator.
func (c *cursor) MoveToPrevious() bool {
	return c.attr < 0 && c.node.Parent() != nil && c.among(c.node.Parent(), c.node.Index()-1, -1)
}

// among moves to the first child, from an index on, that is seen.
func (c *cursor) among(parent *etree.Element, from, step int) bool {
	for i := from; i >= 0 && i < len(parent.Child); i += step {
		switch parent.Child[i].(type) {
		case *etree.CharData:
			if parent.Parent() == nil {
				continue // white space beside the root
			}
		case *etree.Element, *etree.Comment:
		default:
			continue
		}
		c.node = parent.Child[i]
		return true
	}
	return false
}

// MoveTo is part of xpath.NodeNavigator.
func (c *cursor) MoveTo(to xpath.NodeNavigator) bool {
	other, ok := to.(*cursor)
	if ok {
		*c = *other
	}
	return ok
}
