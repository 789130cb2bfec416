package fnmatch

import "testing"

// The expectations are what Python's fnmatch gives.
func TestMatchIsPythons(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "a/b", true}, {"*.txt", ".txt", true}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"[ab]x", "bx", true},
		{"[!ab]x", "bx", false},
		{"[a-c]", "b", true}, {"[", "[", true}, {"a*b*c", "aXbYc", true}, {"a*b*c", "aXbY", false}, {"", "", true},
		{"", "a", false},
		{"*", "a/b\nc", true}, {"[!ab]x", "cx", true}, {"[^a]", "^", true}, {"[^a]", "b", false}, {"[]", "[]", true},
		{"[]]", "]", true},
		{"[!]]", "x", true}, {"[!]]", "]", false}, {"[c-a]", "b", false}, {"a.c", "abc", false},
		{"r : sec*", "r : second", true}, {"(x", "(x", true},
		{`[\]`, `\`, true}, {"[[]", "[", true},
	} {
		if got := Match(c.pattern, c.name); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("[!a-z]*", "x")
	f.Fuzz(func(_ *testing.T, pattern, name string) { Match(pattern, name) })
}
