package value

import (
	"strings"
	"testing"
)

func TestNumbersOfAnySizeAreRead(t *testing.T) {
	for s, want := range map[string]bool{
		"0": true, "-12": true, "+1": true, "": false, "1x": false, "99999999999999999999": true,
		strings.Repeat("9", MostDigits): true, strings.Repeat("9", MostDigits+1): false,
	} {
		if n, ok := ParseInt(s, 10); ok != want || ok && n.String() != strings.TrimPrefix(s, "+") {
			t.Errorf("%.30q is %v, %t", s, n, ok)
		}
	}
}
