package xmltree

import (
	"github.com/beevik/etree"
)

// Children are the elements, comments and instructions in an element.
func Children(e *etree.Element) []etree.Token {
	var list []etree.Token
	for _, c := range e.Child {
		if !isText(c) {
			list = append(list, c)
		}
	}
	return list
}

// Text is the text before the first child of an element; ok is false if there is none.
func Text(e *etree.Element) (text string, ok bool) {
	for _, c := range e.Child {
		data, isText := c.(*etree.CharData)
		if !isText {
			break
		}
		text, ok = text+data.Data, true
	}
	return text, ok
}

// SetText replaces the text before the first child.
func SetText(e *etree.Element, text string) {
	for len(e.Child) > 0 && isText(e.Child[0]) {
		e.RemoveChildAt(0)
	}
	e.InsertChildAt(0, etree.NewText(text))
}

// Remove takes a node out of its parent, with the text after it.
func Remove(n etree.Token) {
	parent, at := n.Parent(), n.Index()
	parent.RemoveChildAt(at)
	for at < len(parent.Child) && isText(parent.Child[at]) {
		parent.RemoveChildAt(at)
	}
}

// Append puts an element at the end of another one. From where it was it goes with the text after it.
func Append(parent, e *etree.Element) { place(parent, len(parent.Child), e) }

// Insert puts an element before a child.
func Insert(before etree.Token, e *etree.Element) { place(before.Parent(), before.Index(), e) }

func place(parent *etree.Element, at int, e *etree.Element) {
	moved := []etree.Token{e}
	if e.Parent() != nil {
		for i := e.Index() + 1; i < len(e.Parent().Child) && isText(e.Parent().Child[i]); i++ {
			moved = append(moved, e.Parent().Child[i])
		}
		if e.Parent() == parent && e.Index() < at {
			at -= len(moved)
		}
		Remove(e)
	}
	for i, n := range moved {
		parent.InsertChildAt(at+i, n)
	}
	adopt(e)
}

// Inherits tells whether namespaces are declared above an element, which lxml writes out where it writes the element alone.
func Inherits(e *etree.Element) bool {
	for at := e.Parent(); at != nil; at = at.Parent() {
		for _, a := range at.Attr {
			if isDeclaration(a) {
				return true
			}
		}
	}
	return false
}
