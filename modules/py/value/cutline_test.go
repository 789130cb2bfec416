package value

import (
	"slices"
	"testing"
)

func TestLinesAreParted(t *testing.T) {
	for text, want := range map[string][]string{
		"":                    nil,
		"a":                   {"a", ""},
		"a\nb":                {"a", "\n", "b", ""},
		"\n\n":                {"", "\n", "", "\n"},
		"a\r\nb\rc\n":         {"a", "\r\n", "b", "\r", "c", "\n"},
		"a\vb\fc\x1cd\x1ee":   {"a", "\v", "b", "\f", "c", "\x1c", "d", "\x1e", "e", ""},
		"é\u0085â\u2028€\xe2": {"é", "\u0085", "â", "\u2028", "€\xe2", ""},
	} {
		var got []string
		for rest := text; rest != ""; {
			var line, end string
			line, end, rest = CutLine(rest)
			got = append(got, line, end)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
