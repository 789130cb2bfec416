package modules

import (
	"slices"

	"hark/modules/dialect"
)

// Release is the language level of a play, named by a release of ansible-core.
type Release = dialect.Level

// Has reports whether the level of the call's play has a change.
func (env *Env) Has(c *dialect.Change) bool { return env.Release.Has(c) }

// Spec is what a module accepts at one release.
type Spec struct {
	Release Release
	Params  []Param
	Rules   Rules
}

// Param returns the parameter with a name, to be changed; there must be one.
func (s *Spec) Param(name string) *Param {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	panic("there is no parameter " + name)
}

// change is what a release changed.
type change struct {
	since *dialect.Change
	do    func(*Spec)
}

// From changes parameters and rules from a release on; tags say that a parameter came or went. do may change what it
// receives, except lists within.
func From(since *dialect.Change, do func(*Spec)) Option {
	return func(m *Module) { m.changes = append(m.changes, change{since, do}) }
}

// spec returns what the module accepts at a release.
func (m *Module) spec(r Release) Spec {
	s := Spec{r, m.Params(), m.Rules}
	dated := func(p Param) bool { return p.Since != "" || p.Until != "" }
	if len(m.changes) == 0 && !slices.ContainsFunc(s.Params, dated) {
		return s
	}
	s.Params = slices.DeleteFunc(slices.Clone(s.Params), func(p Param) bool { return !p.takenAt(r) })
	for _, c := range m.changes {
		if r.Has(c.since) {
			c.do(&s)
		}
	}
	for i := range s.Params {
		s.Params[i].Extra = s.Params[i].Extra || s.Params[i].Since > r
	}
	return s
}

// takenAt reports whether a module accepts the parameter at a release.
func (p *Param) takenAt(r Release) bool { return r.Takes(p.Since, p.Until) }
