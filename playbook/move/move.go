// Package move tells what becomes of a project that moves from the classic language, that of ansible-core 2.14 to 2.18, to the one of 2.19.
// It reads the files that a run could come to and runs nothing. What their text does not show it counts and does not guess; what differs
// between the languages is the business of package level, and each finding names a row of its table.
package move

import (
	"cmp"
	"slices"

	"hark/modules/py/value"
	"hark/playbook/level"
	"hark/playbook/roles"
	"hark/playbook/syntax"
)

// Input is a project.
type Input struct {
	// Playbooks are paths; VarsDirs are the other directories in which group_vars and host_vars may lie.
	Playbooks, VarsDirs []string
	// Inventories are directories of inventories.
	Inventories []string
	// Loader reads the files; Roles finds roles.
	Loader *syntax.Loader
	Roles  *roles.Finder
	// Variables are those that stand in no file of YAML.
	Variables []Variable
	// Set tells where a setting has its value from, false for its default.
	Set func(setting string) (origin string, ok bool)
}

// Variable is one that comes with the command line or the inventory.
type Variable struct {
	Name, Origin string
	Value        value.Value
}

// Effect is what a finding means.
type Effect int

// The effects, the worst first.
const (
	Fails   Effect = iota // an error where it worked
	Differs               // works, and gives something else
	Warns                 // works, with a deprecation warning
)

// Finding is a place whose meaning changes.
type Finding struct {
	Place syntax.Place
	// Origin is where it stands if that is no file that was read.
	Origin string
	Row    level.Row
	Effect Effect
	// Perhaps tells that it depends on values that only a run has.
	Perhaps bool
	// What it is, and what to write instead: "" if there is nothing to be written.
	What, Instead string
}

// Report is what was found.
type Report struct {
	// Findings are in the order of files and lines.
	Findings []Finding
	// Files is how many were read, Conditions and Templates how many are in them.
	Files, Conditions, Templates int
	// Unknown are the conditions whose values only a run has, Unfollowed the names of files and roles that only a run has, Plugins
	// the files of Python that are called with what templates give.
	Unknown, Unfollowed, Plugins int
	// Unread are the files that could not be read.
	Unread []error
}

// Count is how many findings have an effect.
func (r Report) Count(e Effect) int {
	n := 0
	for _, f := range r.Findings {
		if f.Effect == e {
			n++
		}
	}
	return n
}

// Read reads a project.
func Read(in Input) Report {
	p := &project{in: in, seen: map[string]bool{}, vars: map[string][]definition{}}
	for _, v := range in.Variables {
		p.define(v.Name, definition{v: v.Value, origin: v.Origin})
	}
	for _, dir := range in.VarsDirs {
		p.varsBeside(dir)
	}
	for _, book := range in.Playbooks {
		p.playbook(book)
	}
	p.settings()
	p.inventories()
	for _, s := range p.sites {
		p.judge(s)
	}
	slices.SortStableFunc(p.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column),
			cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Row.ID, b.Row.ID), cmp.Compare(a.What, b.What))
	})
	p.report.Findings = slices.CompactFunc(p.report.Findings, func(a, b Finding) bool {
		return a.Place == b.Place && a.Origin == b.Origin && a.Row.ID == b.Row.ID && a.What == b.What
	})
	return p.report
}

// project is what was read so far.
type project struct {
	in     Input
	seen   map[string]bool
	vars   map[string][]definition
	sites  []site
	report Report
}

// site is a text that has a meaning in both languages. It is judged when all variables are known.
type site struct {
	at   syntax.Place
	use  use
	v    value.Value
	file bool // the text of a template file
}

// use is what a text is for.
type use int

const (
	asValue use = iota
	asCondition
	asLoop  // loop
	asItems // with_items
	asEntry // an entry of a list
)

func (p *project) found(s site, row string, e Effect, what string) *Finding {
	p.report.Findings = append(p.report.Findings, Finding{Place: s.at, Row: rowOf(row), Effect: e, What: what, Instead: rowOf(row).Instead})
	return &p.report.Findings[len(p.report.Findings)-1]
}

// rowOf is a row of the table of levels.
func rowOf(id string) level.Row {
	r, _ := level.RowOf(id)
	return r
}
