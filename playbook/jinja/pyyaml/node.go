// Package pyyaml reads YAML 1.1 and JSON as Python's yaml.safe_load and json.loads do, into values
// that know where they stand. The grammar is package libyaml's; what a scalar means, how mappings merge and how
// errors are worded is PyYAML's. The package knows nothing of playbooks: tags beyond YAML's own come in by Options.
package pyyaml

import (
	"fmt"

	"hark/modules/py/value"
	"hark/playbook/jinja/libyaml"
)

// Mark is a place in a text; lines and columns count from 1. The zero Mark is no place: JSON has none.
type Mark = libyaml.Mark

// Node is a value with its place, and the nodes of what it holds.
type Node struct {
	Value value.Value
	Mark  Mark
	// Items are the nodes of a list, in order.
	Items []*Node
	// Keys and Vals are the nodes of a dict's entries, in the order of the dict.
	Keys, Vals []*Node

	index map[string]int
}

// Get returns the node of a dict's entry, nil if there is none.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	if n.index == nil {
		n.index = make(map[string]int, len(n.Keys))
		for i, k := range n.Keys {
			if s, ok := value.Text(k.Value); ok {
				n.index[s] = i
			}
		}
	}
	if i, ok := n.index[key]; ok {
		return n.Vals[i]
	}
	return nil
}

// Options say how to read. The zero Options read as yaml.safe_load.
type Options struct {
	// Text is the kind that text becomes.
	Text value.Kind
	// Tag makes the value of a node whose tag is not YAML's own ("!vault"). False: the tag is unknown.
	Tag func(tag string, n Tagged) (value.Value, bool, error)
	// Time makes the value of a date or time from the text that Python's objects print. Nil leaves the text.
	Time func(text string) value.Value
	// Duplicate hears of a key that stands twice in a mapping, with the place of the mapping; the last one wins.
	// An error that it returns ends the reading.
	Duplicate func(key *Node, mapping Mark) error
}

// Tagged is a node with a tag of its own, for Options.Tag.
type Tagged struct {
	// Text is the text of a scalar.
	Text string
	// Scalar is false for lists and mappings.
	Scalar bool
	Mark   Mark
	plain  func() (value.Value, error)
}

// Plain returns the value that the node has without its tag: text for every scalar.
func (t Tagged) Plain() (value.Value, error) { return t.plain() }

// Error is what is wrong with a text, worded as PyYAML words it.
type Error struct {
	Problem string
	// Mark is where; the zero Mark if that is unknown.
	Mark Mark
	// Class is the exception that PyYAML raises for an error of the grammar; empty for those of values.
	Class string
	// Context is what was being read, and ContextMark where it began; both may be missing.
	Context     string
	ContextMark Mark
	// Tail is what PyYAML says beside the problem when it knows no place.
	Tail string
}

func (e *Error) Error() string {
	if e.Mark == (Mark{}) {
		return e.Problem + e.Tail
	}
	return fmt.Sprintf("%d:%d: %s", e.Mark.Line, e.Mark.Column, e.Problem)
}

// maxValues bounds what a document may grow to when its aliases are followed.
const maxValues = 20_000_000
