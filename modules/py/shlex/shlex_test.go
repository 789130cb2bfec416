package shlex

import (
	"reflect"
	"testing"
)

// The expectations are what Python 3.11's shlex gives.
func TestSplitIsPythons(t *testing.T) {
	for text, want := range map[string][]string{
		`a "b c" 'd'e`: {"a", "b c", "de"}, `a\ b "x\"y\z" ''`: {"a b", `x"y\z`, ""}, "  ": nil, "a\nb\t#c": {"a", "b", "#c"},
		"'a\\'": {`a\`}, "\xff 'ü\xfe'": {"\xff", "ü\xfe"},
	} {
		got, err := Split(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Split(%q) = %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{`"a`: "No closing quotation", `a\`: "No escaped character",
		`"a\`: "No escaped character"} {
		if _, err := Split(text); err == nil || err.Error() != want {
			t.Errorf("Split(%q): %v", text, err)
		}
	}
}

func TestCommentsEndTheLine(t *testing.T) {
	for text, want := range map[string][]string{
		"a b # c": {"a", "b"}, "a#b": {"a"}, "'a#b' #": {"a#b"}, `a\#b`: {"a#b"}, "#": nil, "a b": {"a", "b"}, "''#": {""},
	} {
		got, err := SplitComments(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("SplitComments(%q) = %q, %v", text, got, err)
		}
	}
}

func TestQuotedWordsComeBack(t *testing.T) {
	for word, want := range map[string]string{"": "''", "a/b": "a/b", "a b": "'a b'", "it's": `'it'"'"'s'`} {
		if got := Quote(word); got != want {
			t.Errorf("Quote(%q) = %s", word, got)
		}
		if back, err := Split(Quote(word)); err != nil || len(back) != 1 || back[0] != word {
			t.Errorf("%q came back as %q, %v", word, back, err)
		}
	}
}
