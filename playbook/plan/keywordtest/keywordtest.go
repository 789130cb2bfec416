// Package keywordtest has what Ansible says of the keywords of its language, so that the tests of each room can hold
// the room to all of them: who takes a row out of the table of keywords, or forgets to look at it, breaks a test of
// each room that must know the keyword.
package keywordtest

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

//go:embed keywords.txt
var lines string

// Word is a keyword as ansible-core has it. keywords.py writes them down.
type Word struct {
	Name string
	// Is is the kind, Default as Python prints it.
	Is, Default string
	// Inherit is own, nearest, inner or outer.
	Inherit string
	// On are the places where it stands: play, role, block, task, handler, import, loop, meta, include; and reserved,
	// for a name that variables should not have.
	On []string
}

// Stands reports whether the keyword stands in a place.
func (w Word) Stands(place string) bool { return slices.Contains(w.On, place) }

// Words are all keywords, by name.
func Words(t *testing.T) []Word {
	t.Helper()
	var words []Word
	for line := range strings.Lines(lines) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		f := strings.Fields(rest)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if !ok || len(f) != 4 {
			t.Fatalf("not a keyword: %q", line)
		}
		words = append(words, Word{Name: name, Is: f[0], Default: f[1], Inherit: f[2], On: strings.Split(f[3], ",")})
	}
	return words
}
