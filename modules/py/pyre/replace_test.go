package pyre

import (
	"reflect"
	"testing"
)

// The expectations are what Python 3.11's re gives.
func TestReplaceCounts(t *testing.T) {
	for _, c := range []struct {
		pattern, repl, text, want string
		n                         int
		o                         Options
	}{
		{`x*`, `-`, "abxd", "-a-b--d-", 5, Options{}},
		{`(?P<a>\w+) (\w+)`, `\2 \g<a>`, "one two", "two one", 1, Options{}},
		{`(a)(?P<n>b)(c)`, `\3\2\1`, "abc", "cba", 1, Options{}},
		{`^a`, `b`, "a\na", "b\nb", 2, Options{Multiline: true}},
		{`a$`, `b`, "a\na\n", "a\nb\n", 1, Options{}},
		{`a\Z`, `b`, "a\na", "a\nb", 1, Options{}},
		{`a.b`, `x`, "a\nb", "x", 1, Options{DotAll: true}},
		{`(?i)A{,2}b`, `x`, "aab", "x", 1, Options{}},
		{`(?P<q>['"])x(?P=q)`, `\g<q>y\1`, `'x'`, `'y'`, 1, Options{}},
		{`[]a-]`, `_`, "]-b", "__b", 2, Options{}},
		{`[[a]`, `_`, "[ab", "__b", 2, Options{}},
		{`a`, `\n\t\\`, "a", "\n\t\\", 1, Options{}},
		{`(a)|(b)`, `<\1\2>`, "ab", "<a><b>", 2, Options{}},
		{`ü`, `u`, "für\xff", "fur\xff", 1, Options{}},
		{`\xff`, `u`, "f\xff", "fu", 1, Options{Bytes: true}},
	} {
		re, err := Compile(c.pattern, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		got, n, err := re.Replace(c.text, c.repl, Bounds{})
		if err != nil || got != c.want || n != c.n {
			t.Errorf("sub(%q, %q, %q) = %q, %d, %v; want %q, %d", c.pattern, c.repl, c.text, got, n, err, c.want, c.n)
		}
	}
}

func TestWrongTemplatesAreErrors(t *testing.T) {
	re, err := Compile(`(a)`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for repl, want := range map[string]string{
		`\2`: "invalid group reference 2 at position 1", `\q`: `bad escape \q at position 0`,
		`\g<x>`: "unknown group name 'x'", `\`: "bad escape (end of pattern) at position 0",
	} {
		if _, _, err := re.Replace("a", repl, Bounds{}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", repl, err, want)
		}
	}
}

func TestGroupsAreNumberedInOrder(t *testing.T) {
	re, err := Compile(`(?P<foo>\w+) ([0-9]+)(x)?`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := re.Search("data 123")
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	all, named := m.Groups()
	if !reflect.DeepEqual(all, []any{"data", "123", nil}) || !reflect.DeepEqual(named, map[string]any{"foo": "data"}) {
		t.Errorf("groups %v, by name %v", all, named)
	}
}
