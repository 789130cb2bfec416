package xmltree

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/antchfx/xpath"
	"github.com/beevik/etree"
)

// Match is what an expression selects: a node, or the value of an attribute or a text in it.
type Match struct {
	// Node is an element or a comment; of a value it is the element that holds it.
	Node etree.Token
	// Value tells that a text is selected, Key as an attribute under this name.
	Value bool
	Key   string
}

// CheckExpression tells what is wrong with an expression, in libxml2's words.
func CheckExpression(expr string) error {
	_, err := xpath.Compile(expr)
	return inWords(err)
}

func inWords(err error) error {
	switch {
	case err == nil:
		return nil
	case strings.HasSuffix(err.Error(), "not defined."):
		return said("Undefined namespace prefix")
	case strings.Contains(err.Error(), "unclosed string"):
		return said("Unfinished literal")
	}
	return said("Invalid expression")
}

// Select finds what an expression selects, in the order of the document. Relative ones begin at the element from.
func Select(from *etree.Element, expr string, namespaces map[string]string) ([]Match, error) {
	found, err := evaluate(from, expr, namespaces)
	if err != nil {
		return nil, err
	}
	nodes, ok := found.(*xpath.NodeIterator)
	if !ok {
		return nil, &ScalarError{found}
	}
	var list []Match
	for nodes.MoveNext() {
		if at := nodes.Current().(*cursor); at.node.Parent() != nil { // lxml leaves out the document itself
			list = append(list, at.match())
		}
	}
	slices.SortStableFunc(list, func(a, b Match) int { return slices.Compare(position(a.Node), position(b.Node)) })
	return list, nil
}

// Number is the value of an expression that is a number.
func Number(from *etree.Element, expr string, namespaces map[string]string) (float64, error) {
	found, err := evaluate(from, expr, namespaces)
	n, ok := found.(float64)
	if err == nil && !ok {
		n = math.NaN()
	}
	return n, err
}

// ScalarError tells that an expression is a bool, a float64 or a string, and selects nothing.
type ScalarError struct{ Value any }

// Error has Python's words.
func (e *ScalarError) Error() string {
	kind := "str"
	switch e.Value.(type) {
	case bool:
		kind = "bool"
	case float64:
		kind = "float"
	}
	return "'" + kind + "' object is not iterable"
}

// evaluate runs an expression; the library panics where the types do not fit.
func evaluate(from *etree.Element, expr string, namespaces map[string]string) (found any, err error) {
	defer func() {
		if recover() != nil {
			err = said("Invalid type")
		}
	}()
	if namespaces == nil {
		namespaces = map[string]string{}
	}
	compiled, err := xpath.CompileWithNS(expr, namespaces)
	if err != nil {
		return nil, inWords(err)
	}
	return compiled.Evaluate(&cursor{node: from, attr: -1}), nil
}

// position is where a node stands: its index, below that of its parent.
func position(n etree.Token) []int {
	var at []int
	for ; n.Parent() != nil; n = n.Parent() {
		at = append(at, n.Index())
	}
	slices.Reverse(at)
	return at
}

// Path is an expression that selects a node and no other.
func Path(n etree.Token) string {
	if n.Parent() == nil {
		return ""
	}
	step, same := stepOf(n)
	before, after := 0, false
	for _, c := range n.Parent().Child {
		switch {
		case !same(c):
		case c.Index() < n.Index():
			before++
		case c.Index() > n.Index():
			after = true
		}
	}
	if before > 0 || after {
		step += "[" + strconv.Itoa(before+1) + "]"
	}
	return Path(n.Parent()) + "/" + step
}

// stepOf is the last step of a path to a node, and which others it selects too. Names of a default namespace cannot be written.
func stepOf(n etree.Token) (step string, same func(etree.Token) bool) {
	e, ok := n.(*etree.Element)
	if !ok {
		return "comment()", func(t etree.Token) bool { _, ok := t.(*etree.Comment); return ok }
	}
	uri, _ := lookup(e, e.Space)
	if e.Space == "" && uri != "" {
		return "*", func(t etree.Token) bool { _, ok := t.(*etree.Element); return ok }
	}
	return e.FullTag(), func(t etree.Token) bool {
		other, ok := t.(*etree.Element)
		if !ok || other.FullTag() != e.FullTag() {
			return false
		}
		otherURI, _ := lookup(other, other.Space)
		return e.Space != "" || otherURI == ""
	}
}
