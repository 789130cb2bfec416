package compile

import "testing"

// The answers are those of Python's fnmatch.fnmatchcase.
func TestShellPatternMatchesAsFnmatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "a/b\nc", true}, {"a*c", "a/c", true}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"[ab]x", "bx", true},
		{"[!ab]x", "bx", false}, {"[!ab]x", "cx", true}, {"[^a]", "^", true}, {"[^a]", "b", false}, {"[a-c]", "b", true},
		{"[", "[", true}, {"[]", "[]", true}, {"[]]", "]", true}, {"[!]]", "x", true}, {"[!]]", "]", false}, {"[c-a]", "b", false},
		{"a.c", "abc", false}, {"r : sec*", "r : second", true}, {"(x", "(x", true}, {`[\]`, `\`, true}, {"[[]", "[", true},
	} {
		if got := shellPattern(c.pattern).MatchString(c.name); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

func FuzzShellPattern(f *testing.F) {
	f.Add("[!a-z]*", "x")
	f.Fuzz(func(t *testing.T, pattern, name string) { shellPattern(pattern).MatchString(name) })
}
