// Package keywordtest has Ansible's data about the keywords of its language. Packages test that they handle all of
// them: if a row of the table is missing, or a package forgets one, a test of that package fails.
package keywordtest

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

//go:embed keywords.txt
var lines string

// Word is a keyword of ansible-core. keywords.py writes them.
type Word struct {
	Name string
	// Is is the type, Default as Python prints it.
	Is, Default string
	// Inherit is own, nearest, inner or outer.
	Inherit string
	// On are the places where it may be: play, role, block, task, handler, import, loop, meta, include; and reserved, for
	// a name that variables should not have.
	On []string
}

// Stands reports whether the keyword may be in a place.
func (w Word) Stands(place string) bool { return slices.Contains(w.On, place) }

// Words returns all keywords, by name.
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
