// Package syntax reads the files of a project: YAML and JSON as Ansible's loader reads them, with the place of
// everything, and the form of playbooks and task files: plays, blocks, tasks, roles. It knows where each key may be and
// how arguments are written. Package compile knows what keywords mean, what is inherited and what templates render to.
package syntax

import (
	"fmt"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// Place is a position in a file. Lines and columns count from 1; the zero Place is unknown (JSON, command line).
type Place struct {
	File         string
	Line, Column int
}

// String returns file:line:column, "" for an unknown place.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Node is a value of a file with the nodes within it. The node of an empty file holds None.
type Node = pyyaml.Node

// Attr is a keyword in a file: its raw value and its place.
type Attr struct {
	Value value.Value
	Place Place
}

// Attrs are the keywords of a play, block, task or role entry, under the names that Ansible documents (async,
// remote_user). Keywords with a field of their own (tasks, args, vars, loop) are not among them.
type Attrs map[string]Attr

// Get returns a keyword's raw value, nil if it was not given; so plan.Lit(a.Get("when")) is right in both cases.
func (a Attrs) Get(name string) value.Value { return a[name].Value }

// Has reports whether the keyword was given, even as null.
func (a Attrs) Has(name string) bool { return a[name].Value != nil }

func placeOf(file string, n *Node) Place {
	if n == nil || n.Mark.Line == 0 {
		return Place{File: file}
	}
	return Place{File: file, Line: n.Mark.Line, Column: n.Mark.Column}
}
