// Package pyre gives modules the regular expressions of Python, which Ansible's arguments are written in. It
// translates them for regexp2 and works on text or, as some modules do, on bytes.
package pyre

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// matchTimeout ends expressions that would go on for ever.
const matchTimeout = 20 * time.Second

// Options are Python's flags.
type Options struct {
	// Bytes treats every byte as a character, as for Python's bytes.
	Bytes                         bool
	Multiline, DotAll, IgnoreCase bool
}

// Regexp is a compiled expression; it is safe for concurrent use.
type Regexp struct {
	re    *regexp2.Regexp
	names map[string]int
	o     Options
}

// Compile translates and compiles an expression.
func Compile(pattern string, o Options) (*Regexp, error) {
	text, names := translate(pattern)
	var flags regexp2.RegexOptions
	if o.Multiline {
		flags |= regexp2.Multiline
	}
	if o.DotAll {
		flags |= regexp2.Singleline
	}
	if o.IgnoreCase {
		flags |= regexp2.IgnoreCase
	}
	if o.Bytes {
		text = string(runesOf(text, true))
	}
	re, err := regexp2.Compile(text, flags)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression %q: %v", pattern, err)
	}
	re.MatchTimeout = matchTimeout
	return &Regexp{re: re, names: names, o: o}, nil
}

// runesOf are the characters of a text. Bytes that are no UTF-8 become surrogates, as in Python, so that textOf finds
// them again.
func runesOf(s string, bytes bool) []rune {
	out := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if !bytes {
			if r, size = utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
				r = 0xDC00 + rune(s[i])
			}
		}
		out = append(out, r)
		i += size
	}
	return out
}

func textOf(runes []rune, bytes bool) string {
	var b strings.Builder
	for _, r := range runes {
		switch {
		case bytes:
			b.WriteByte(byte(r))
		case r >= 0xDC80 && r <= 0xDCFF:
			b.WriteByte(byte(r - 0xDC00))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Match is where an expression matched.
type Match struct {
	r    *Regexp
	text []rune
	m    *regexp2.Match
}

// Search finds the first match anywhere; nil if there is none.
func (r *Regexp) Search(s string) (*Match, error) {
	text := runesOf(s, r.o.Bytes)
	m, err := r.re.FindRunesMatch(text)
	if err != nil || m == nil {
		return nil, err
	}
	return &Match{r: r, text: text, m: m}, nil
}

// Matches tells whether there is a match anywhere.
func (r *Regexp) Matches(s string) (bool, error) {
	return r.re.MatchRunes(runesOf(s, r.o.Bytes))
}

// MatchesStart tells whether the expression matches at the start, as Python's match.
func (r *Regexp) MatchesStart(s string) (bool, error) {
	// The leftmost match is found: if any begins at the start, it does.
	m, err := r.re.FindRunesMatch(runesOf(s, r.o.Bytes))
	return m != nil && m.Index == 0, err
}

// group is a group by number; Start is -1 if it took no part.
func (m *Match) group(n int) (start, end int) {
	g := m.m.GroupByNumber(n)
	if g == nil || len(g.Captures) == 0 {
		return -1, -1
	}
	return g.Index, g.Index + g.Length
}

// Group is the text of a group, "" if it took no part; 0 is the match.
func (m *Match) Group(n int) string {
	start, end := m.group(n)
	if start < 0 {
		return ""
	}
	return textOf(m.text[start:end], m.r.o.Bytes)
}

// Groups are the texts of all groups but the match itself, nil for what took no part, as Python's groups and groupdict give them.
func (m *Match) Groups() (all []any, named map[string]any) {
	all, named = []any{}, map[string]any{}
	for n := 1; n <= m.r.count(); n++ {
		if start, _ := m.group(n); start < 0 {
			all = append(all, nil)
		} else {
			all = append(all, m.Group(n))
		}
	}
	for name, n := range m.r.names {
		named[name] = all[n-1]
	}
	return all, named
}

// Index is the number of a named group, -1 if there is none.
func (r *Regexp) Index(name string) int {
	if n, ok := r.names[name]; ok {
		return n
	}
	return -1
}

// Around is the text before and after a group.
func (m *Match) Around(n int) (before, after string) {
	start, end := m.group(n)
	if start < 0 {
		return "", ""
	}
	return textOf(m.text[:start], m.r.o.Bytes), textOf(m.text[end:], m.r.o.Bytes)
}

// Expand fills a template with the groups, as Python's Match.expand.
func (m *Match) Expand(template string) (string, error) {
	t, err := m.r.template(template)
	if err != nil {
		return "", err
	}
	return t.fill(m), nil
}

// Subn replaces all matches by a template and counts them.
func (r *Regexp) Subn(template, s string) (string, int, error) {
	t, err := r.template(template)
	if err != nil {
		return "", 0, err
	}
	text := runesOf(s, r.o.Bytes)
	m, err := r.re.FindRunesMatch(text)
	var b strings.Builder
	at, count := 0, 0
	for ; err == nil && m != nil; m, err = r.re.FindNextMatch(m) {
		b.WriteString(textOf(text[at:m.Index], r.o.Bytes))
		b.WriteString(t.fill(&Match{r: r, text: text, m: m}))
		at = m.Index + m.Length
		count++
	}
	b.WriteString(textOf(text[at:], r.o.Bytes))
	return b.String(), count, err
}
