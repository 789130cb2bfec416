package modules

import "slices"

// Release is the release of ansible-core whose language a play speaks, as plan.Level has it: "" is 2.14, which stands for those up to 2.18.
// Releases are ordered as their texts are.
type Release string

// The releases.
const (
	Release219 Release = "2.19"
	Release220 Release = "2.20"
	Release221 Release = "2.21"
	Release222 Release = "2.22"
)

// Since tells that the release is another one or later.
func (r Release) Since(other Release) bool { return r >= other }

// Tagged tells that the call is of a play in the language of ansible-core 2.19 or later.
func (env *Env) Tagged() bool { return env.Release.Since(Release219) }

// Spec is what a module takes at one release.
type Spec struct {
	Release Release
	Params  []Param
	Rules   Rules
}

// Param is the parameter of a name, to be changed; there must be one.
func (s *Spec) Param(name string) *Param {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	panic("there is no parameter " + name)
}

// change is what a release made other.
type change struct {
	since Release
	do    func(*Spec)
}

// From says what parameters and rules are since a release; that a parameter came or went is said by its tag. What the function is given is
// its own, but for lists within.
func From(since Release, do func(*Spec)) Option {
	return func(m *Module) { m.changes = append(m.changes, change{since, do}) }
}

// spec is what the module takes at a release.
func (m *Module) spec(r Release) Spec {
	s := Spec{r, m.Params(), m.Rules}
	dated := func(p Param) bool { return p.Since != "" || p.Until != "" }
	if len(m.changes) == 0 && !slices.ContainsFunc(s.Params, dated) {
		return s
	}
	s.Params = slices.DeleteFunc(slices.Clone(s.Params), func(p Param) bool { return !p.takenAt(r) })
	for _, c := range m.changes {
		if r.Since(c.since) {
			c.do(&s)
		}
	}
	for i := range s.Params {
		s.Params[i].Extra = s.Params[i].Extra || !r.Since(s.Params[i].Since)
	}
	return s
}

// takenAt tells that a module takes the parameter at a release. What came with 2.15 to 2.18 is taken at 2.14 too, and what went with them as well.
func (p *Param) takenAt(r Release) bool {
	came := p.Since < Release219 || r.Since(p.Since)
	gone := p.Until != "" && r.Since(p.Until)
	return came && !gone
}
