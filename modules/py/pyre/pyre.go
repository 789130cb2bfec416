// Package pyre is Python's regular expressions: their grammar and the words of their errors, carried out by regexp2
// with a limit on the time of a match. One thing differs: where an empty match was found, no longer one is looked for
// at the same place.
package pyre

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// Options are how an expression is read and where it must match.
type Options struct {
	// Python's flags.
	IgnoreCase, Multiline, DotAll, Verbose, ASCII bool
	// Bytes is for expressions of bytes: every byte is a character.
	Bytes  bool
	Anchor Anchor
	// Limit bounds the time of one match; 0 is DefaultLimit.
	Limit time.Duration
}

// Anchor is where a match must begin and end.
type Anchor int

// The anchors are those of Python's search, match and fullmatch.
const (
	Anywhere Anchor = iota
	AtStart
	Whole
)

// DefaultLimit bounds one match where nobody says otherwise.
const DefaultLimit = 5 * time.Second

// Error is what Python would raise.
type Error struct {
	Class string // the class: error (of the module re), IndexError, OverflowError
	Msg   string
}

func (e *Error) Error() string { return e.Msg }

func reError(format string, args ...any) error {
	return &Error{Class: "error", Msg: fmt.Sprintf(format, args...)}
}

// Regexp is a compiled expression. It is safe for concurrent use.
type Regexp struct {
	re     *regexp2.Regexp
	groups int
	names  map[string]int
	bytes  bool
}

// Compile reads an expression of Python's.
func Compile(pattern string, o Options) (*Regexp, error) {
	o.ASCII = o.ASCII || o.Bytes
	p := &parser{source: source{text: runesOf(pattern, o.Bytes)}, flags: o, names: map[string]int{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	options := regexp2.RegexOptions(0)
	for _, f := range []struct {
		on     bool
		option regexp2.RegexOptions
	}{{p.flags.IgnoreCase, regexp2.IgnoreCase}, {p.flags.Multiline, regexp2.Multiline},
		{p.flags.DotAll, regexp2.Singleline}} {
		if f.on {
			options |= f.option
		}
	}
	out := p.out.String()
	switch o.Anchor {
	case AtStart:
		out = `\A(?:` + out + `)`
	case Whole:
		out = `\A(?:` + out + `)\z`
	}
	re, err := regexp2.Compile(out, options)
	if err != nil {
		return nil, reError("%s", err)
	}
	re.MatchTimeout = DefaultLimit
	if o.Limit > 0 {
		re.MatchTimeout = o.Limit
	}
	return &Regexp{re: re, groups: len(p.widths), names: p.names, bytes: o.Bytes}, nil
}

// Groups returns how many groups the expression has.
func (r *Regexp) Groups() int { return r.groups }

// Group returns the number of a named group.
func (r *Regexp) Group(name string) (int, bool) {
	n, ok := r.names[name]
	return n, ok
}

// Search returns the first match, nil if there is none.
func (r *Regexp) Search(text string) (*Match, error) {
	runes := r.runes(text)
	m, err := r.re.FindRunesMatch(runes)
	if err != nil {
		return nil, reError("%s", err)
	}
	if m == nil {
		return nil, nil
	}
	return &Match{r: r, text: runes, m: m}, nil
}

// Matches reports whether there is a match.
func (r *Regexp) Matches(text string) (bool, error) {
	ok, err := r.re.MatchRunes(r.runes(text))
	if err != nil {
		return false, reError("%s", err)
	}
	return ok, nil
}

// All calls each for every match in turn.
func (r *Regexp) All(text string, each func(*Match)) error {
	return r.walk(r.runes(text), func(m *Match) bool {
		each(m)
		return true
	})
}

// walk calls each for every match in turn until it says that it has enough.
func (r *Regexp) walk(text []rune, each func(*Match) (more bool)) error {
	m, err := r.re.FindRunesMatch(text)
	for ; m != nil && err == nil; m, err = r.re.FindNextMatch(m) {
		if !each(&Match{r: r, text: text, m: m}) {
			return nil
		}
	}
	if err != nil {
		return reError("%s", err)
	}
	return nil
}

// Bounds are those of a replacement; 0 is none.
type Bounds struct {
	Count int // how many matches are replaced
	Size  int // how many bytes the replacements may have together
}

// ErrTooLong says that the replacements would be longer than they may.
var ErrTooLong = errors.New("the replacements are too long")

// Replace puts the template's expansion for matches, and counts them.
func (r *Regexp) Replace(text, template string, b Bounds) (out string, count int, err error) {
	parts, err := r.template(template)
	if err != nil {
		return "", 0, err
	}
	runes := r.runes(text)
	var all strings.Builder
	at := 0
	err = r.walk(runes, func(m *Match) bool {
		all.WriteString(r.text(runes[at:m.m.Index]))
		expand(&all, parts, m)
		at = m.m.Index + m.m.Length
		count++
		return count != b.Count && (b.Size == 0 || all.Len() <= b.Size)
	})
	if err != nil {
		return "", 0, err
	}
	if b.Size > 0 && all.Len() > b.Size {
		return "", 0, ErrTooLong
	}
	all.WriteString(r.text(runes[at:]))
	return all.String(), count, nil
}
