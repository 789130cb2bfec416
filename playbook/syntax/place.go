// Package syntax reads the files of a project: YAML and JSON as Ansible's loader reads them, with the place of
// everything, and the form of playbooks and task files: plays, blocks, tasks, roles. It knows what may stand where
// and how arguments are written; what keywords mean, what is inherited and what templates give is the business of
// compile.
package syntax

import (
	"fmt"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// Place is where something stands. Lines and columns count from 1; the zero Place is unknown (JSON, command line).
type Place struct {
	File         string
	Line, Column int
}

// String is file:line:column, "" for an unknown place.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Node is a value of a file with the nodes of what it holds. The node of an empty file holds None.
type Node = pyyaml.Node

// Attr is a keyword as it stands in the file: a raw value and its place.
type Attr struct {
	Value value.Value
	Place Place
}

// Attrs are the keywords of a play, block, task or role entry by name, under the names that Ansible documents
// (async, remote_user). What a field of its own holds (tasks, args, vars, loop) is not among them.
type Attrs map[string]Attr

// Get is a keyword's raw value, nil if it was not given; so plan.Lit(a.Get("when")) is right in both cases.
func (a Attrs) Get(name string) value.Value { return a[name].Value }

// Has reports whether the keyword was given, be it with null.
func (a Attrs) Has(name string) bool { return a[name].Value != nil }

func placeOf(file string, n *Node) Place {
	if n == nil || n.Mark.Line == 0 {
		return Place{File: file}
	}
	return Place{File: file, Line: n.Mark.Line, Column: n.Mark.Column}
}
