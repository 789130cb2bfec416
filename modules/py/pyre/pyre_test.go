package pyre

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pythonCase is one line of testdata/re.jsonl; see regen.py beside it.
type pythonCase struct {
	Pattern, Flags, Text string
	Template             *string
	Answer               any
}

func TestAnswersArePythons(t *testing.T) {
	f, err := os.Open("testdata/re.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c pythonCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Answer, c.ours()); diff != "" {
			t.Errorf("%q on %q: %s", c.Pattern, c.Text, diff)
		}
	}
	if n == 0 {
		t.Fatal("no cases")
	}
}

func (c pythonCase) ours() any {
	has := func(letter string) bool { return strings.Contains(c.Flags, letter) }
	re, err := Compile(c.Pattern, Options{IgnoreCase: has("i"), Multiline: has("m"), DotAll: has("s"), Verbose: has("x"),
		ASCII: has("a")})
	if err != nil {
		return failure(err)
	}
	if c.Template != nil {
		out, _, err := re.Replace(c.Text, *c.Template, Bounds{})
		if err != nil {
			return failure(err)
		}
		return out
	}
	found := []any{}
	err = re.All(c.Text, func(m *Match) {
		groups := make([]any, re.Groups()+1)
		for i := range groups {
			if text, ok := m.Group(i); ok {
				groups[i] = text
			}
		}
		found = append(found, groups)
	})
	if err != nil {
		return failure(err)
	}
	return found
}

func failure(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Class + ": " + e.Msg
	}
	return err.Error()
}

func TestAnchors(t *testing.T) {
	for _, c := range []struct {
		pattern string
		anchor  Anchor
		want    bool
	}{{"b|a", AtStart, true}, {"b", AtStart, false}, {"a|ab", Whole, true}, {"a", Whole, false}, {"b", Anywhere, true}} {
		re, err := Compile(c.pattern, Options{Anchor: c.anchor})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := re.Matches("ab"); err != nil || got != c.want {
			t.Errorf("%s with anchor %d: %v, %v", c.pattern, c.anchor, got, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`(?P<n>a)|[^b-c]{2,3}?\d`, `(?i:x)(?(1)a|b)`, `\x41[\]`, "(?<=a)b(?#x)"} {
		f.Add(s, `\1\g<n>`)
	}
	f.Fuzz(func(_ *testing.T, pattern, template string) {
		re, err := Compile(pattern, Options{})
		if err != nil {
			return
		}
		_, _ = re.template(template)
	})
}
