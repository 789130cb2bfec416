package templar

import (
	"strings"
	"testing"
)

func TestEmptyLinesStandAroundLiteralsOnly(t *testing.T) {
	many := strings.Repeat("\r\n", 1<<19) // as many as take for ever where each is compared with the rest
	for text, want := range map[string]bool{
		"\n\n1": true, "1\n \t\n": true, "\n[1,\n\n2]\n": true, "1\n2": false, "\n": false, many + "1" + many: true, many + "1" + many + "x": false,
	} {
		if _, ok := Literal(text); ok != want {
			t.Errorf("whether %.20q is a literal is %v", text, ok)
		}
	}
}
