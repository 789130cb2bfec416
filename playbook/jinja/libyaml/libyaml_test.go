package libyaml

import (
	"strings"
	"testing"
)

// What libyaml takes and refuses is compared in package pyyaml, with the values that PyYAML makes of it.

func TestNestingIsLimited(t *testing.T) {
	for _, open := range []string{"[", "{a: ", "- ", "? "} {
		if _, err := Single(strings.Repeat(open, 100_000)); err == nil {
			t.Errorf("%q was read a hundred thousand deep", open)
		}
	}
}

func TestPlacesAreInTheText(t *testing.T) {
	n, err := Single("é: &x [a,\n  'b']\nc: *x\n")
	if err != nil {
		t.Fatal(err)
	}
	list, alias := n.Content[1], n.Content[3]
	if want := (Mark{1, 4}); list.Mark != want {
		t.Errorf("the list stands at %v, want %v", list.Mark, want)
	}
	if want := (Mark{2, 3}); list.Content[1].Mark != want {
		t.Errorf("b stands at %v, want %v", list.Content[1].Mark, want)
	}
	if alias.Target != list {
		t.Error("the alias is not of the list")
	}
}

func FuzzAll(f *testing.F) {
	for _, text := range []string{"a: [b, {c: d}]", "- |\n x\n- &a !!str 'q'\n- *a",
		"%YAML 1.1\n%TAG ! !x-\n--- !y\n? a\n: \"\\x41\\\n b\"\n...\n---\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := All(text)
		lines := 2 + strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") +
			strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
		if e, _ := err.(*Error); e != nil && (e.Mark.Line < 1 || e.Mark.Line > lines || e.Mark.Column < 1) {
			t.Errorf("%v is no place of the text", e.Mark)
		}
	})
}
