// Package pyre is Python's regular expressions: their grammar and the words of their errors, carried out by regexp2 with a limit
// on the time of a match. One thing differs: where an empty match was found, no longer one is looked for at the same place.
package pyre

import (
	"time"

	"github.com/dlclark/regexp2"

	"hark/playbook/jinja/value"
)

// Flags are those of Python's re module.
type Flags struct{ IgnoreCase, Multiline, DotAll, Verbose, ASCII bool }

// Anchor is where a match must begin and end.
type Anchor int

// The anchors are those of Python's search, match and fullmatch.
const (
	Anywhere Anchor = iota
	AtStart
	Whole
)

// matchTimeout bounds one match.
const matchTimeout = 5 * time.Second

// Regexp is a compiled expression. It is safe for concurrent use.
type Regexp struct {
	re     *regexp2.Regexp
	groups int
	names  map[string]int
}

// Compile reads an expression of Python's.
func Compile(pattern string, flags Flags, anchor Anchor) (*Regexp, error) {
	p := &parser{source: source{text: []rune(pattern)}, flags: flags, names: map[string]int{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	options := regexp2.RegexOptions(0)
	for _, o := range []struct {
		on  bool
		opt regexp2.RegexOptions
	}{{p.flags.IgnoreCase, regexp2.IgnoreCase}, {p.flags.Multiline, regexp2.Multiline}, {p.flags.DotAll, regexp2.Singleline}} {
		if o.on {
			options |= o.opt
		}
	}
	out := p.out.String()
	switch anchor {
	case AtStart:
		out = `\A(?:` + out + `)`
	case Whole:
		out = `\A(?:` + out + `)\z`
	}
	re, err := regexp2.Compile(out, options)
	if err != nil {
		return nil, reError("%s", err)
	}
	re.MatchTimeout = matchTimeout
	return &Regexp{re: re, groups: len(p.widths), names: p.names}, nil
}

// reError is a re.error.
func reError(format string, args ...any) error { return value.Errorf("error", format, args...) }

// Groups is how many groups the expression has.
func (r *Regexp) Groups() int { return r.groups }

// Group is the number of a named group.
func (r *Regexp) Group(name string) (int, bool) {
	n, ok := r.names[name]
	return n, ok
}

// Match is one match.
type Match struct{ m *regexp2.Match }

// Group is the text of group n, 0 for the whole; false if it took no part. The group must exist.
func (m Match) Group(n int) (string, bool) {
	g := m.m.GroupByNumber(n)
	if g == nil || len(g.Captures) == 0 {
		return "", false
	}
	return g.String(), true
}

// Search is the first match, if there is one.
func (r *Regexp) Search(text string) (Match, bool, error) {
	m, err := r.re.FindStringMatch(text)
	if err != nil {
		return Match{}, false, reError("%s", err)
	}
	return Match{m}, m != nil, nil
}

// Matches tells whether there is a match.
func (r *Regexp) Matches(text string) (bool, error) {
	_, ok, err := r.Search(text)
	return ok, err
}

// All calls each for every match in turn.
func (r *Regexp) All(text string, each func(Match)) error {
	m, err := r.re.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = r.re.FindNextMatch(m) {
		each(Match{m})
	}
	if err != nil {
		return reError("%s", err)
	}
	return nil
}

// Replace puts the template's expansion for the first count matches, or for all if count is 0.
func (r *Regexp) Replace(text, template string, count int) (string, error) {
	parts, err := r.template(template)
	if err != nil {
		return "", err
	}
	if count == 0 {
		count = -1
	}
	size := len(text)
	out, err := r.re.ReplaceFunc(text, func(m regexp2.Match) string {
		if size > value.MaxText { // the rest is not made, as the whole is refused
			return ""
		}
		s := expand(parts, Match{&m})
		size += len(s)
		return s
	}, -1, count)
	switch {
	case err != nil:
		return "", reError("%s", err)
	case size > value.MaxText:
		return "", value.TooLong()
	}
	return out, nil
}
