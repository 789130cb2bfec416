// Package libyaml reads the grammar of YAML 1.1 as libyaml 0.2.5 does, on which Ansible's loader stands: what it
// takes, what it refuses, and the place and words of its errors. The result is a tree of nodes; what scalars mean is
// not its business.
package libyaml

import "fmt"

// Mark is a place in a text; lines and columns, in characters, count from 1.
type Mark struct{ Line, Column int }

// Kind is that of a node.
type Kind int

// The kinds of nodes.
const (
	Scalar Kind = iota
	Sequence
	Mapping
	Alias
)

// Node is one of a document.
type Node struct {
	Kind Kind
	// Tag is what the node is tagged with, in full; empty if it is not, or with "!".
	Tag string
	// Text is that of a scalar.
	Text string
	// Plain says that what a scalar without a tag is depends on its look: it has no quotes.
	Plain bool
	// Anchor is the name under which aliases refer to the node.
	Anchor string
	// Target is what an alias refers to.
	Target *Node
	// Content are the nodes of a sequence, or the keys and values of a mapping in turn.
	Content []*Node
	Mark    Mark
}

// Error is what is wrong with a text. Its context, what was being read and from where, may be empty.
type Error struct {
	// Class is the exception that PyYAML raises: ScannerError, ParserError or ComposerError.
	Class       string
	Context     string
	ContextMark Mark
	Problem     string
	Mark        Mark
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Mark.Line, e.Mark.Column, e.Problem)
}

// deepest is how far nodes may be nested.
const deepest = 1000

// Single reads a text of one document; nil if it has none.
func Single(text string) (*Node, error) {
	c := newComposer(text)
	n, err := c.document()
	if err != nil || n == nil {
		return n, err
	}
	start := n.Mark
	more, err := c.start()
	if err != nil {
		return nil, err
	}
	if more {
		return nil, &Error{Class: "ComposerError", Context: "expected a single document in the stream", ContextMark: start,
			Problem: "but found another document", Mark: c.at}
	}
	return n, nil
}

// All reads all documents of a text.
func All(text string) ([]*Node, error) {
	c := newComposer(text)
	var all []*Node
	for {
		n, err := c.document()
		if err != nil || n == nil {
			return all, err
		}
		all = append(all, n)
	}
}
