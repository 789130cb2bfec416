package pyre

import (
	"strings"

	"github.com/dlclark/regexp2"
)

// Match is one match.
type Match struct {
	r    *Regexp
	text []rune
	m    *regexp2.Match
}

// place returns where a group is in the text; false if it took no part.
func (m *Match) place(n int) (start, end int, took bool) {
	g := m.m.GroupByNumber(n)
	if g == nil || len(g.Captures) == 0 {
		return 0, 0, false
	}
	return g.Index, g.Index + g.Length, true
}

// Group returns the text of group n, 0 for the whole; false if it took no part.
func (m *Match) Group(n int) (string, bool) {
	start, end, took := m.place(n)
	return m.r.text(m.text[start:end]), took
}

// Around returns the text before and after group n, nothing if it took no part.
func (m *Match) Around(n int) (before, after string) {
	start, end, took := m.place(n)
	if !took {
		return "", ""
	}
	return m.r.text(m.text[:start]), m.r.text(m.text[end:])
}

// Groups returns the texts of all groups but the match itself, nil for what took no part, as Python's groups and
// groupdict give them.
func (m *Match) Groups() (all []any, named map[string]any) {
	all, named = []any{}, map[string]any{}
	for n := 1; n <= m.r.groups; n++ {
		if text, took := m.Group(n); took {
			all = append(all, text)
		} else {
			all = append(all, nil)
		}
	}
	for name, n := range m.r.names {
		named[name] = all[n-1]
	}
	return all, named
}

// Expand fills a template with the groups.
func (m *Match) Expand(template string) (string, error) {
	parts, err := m.r.template(template)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	expand(&b, parts, m)
	return b.String(), nil
}
