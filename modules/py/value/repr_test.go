package value

import (
	"math"
	"testing"
)

// The expectations are what Python 3.11 prints.
func TestTextsAreQuotedAsPythonDoes(t *testing.T) {
	for text, want := range map[string]string{
		"": `''`, "a": `'a'`, "it's": `"it's"`, `"it's"`: `'"it\'s"'`, "a\n\r\t\\": `'a\n\r\t\\'`, "\x00\x7f\u0085": `'\x00\x7f\x85'`,
		"f\u00fcr": "'f\u00fcr'", "\u200b": `'\u200b'`, "\U000e0001": `'\U000e0001'`, "\U0001f600": "'\U0001f600'", "\xff": `'\udcff'`,
	} {
		if got := ReprText(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"a'b": `b"a'b"`, "\xff\n\\": `b'\xff\n\\'`} {
		if got := ReprBytes(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestFloatsAreTheShortestThatReadBack(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 1e15: "1000000000000000.0", 1e16: "1e+16", 1e-4: "0.0001", 1e-5: "1e-05", 0.1: "0.1", math.Inf(-1): "-inf",
	} {
		if got := FloatText(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if got := FloatText(math.NaN()); got != "nan" {
		t.Error(got)
	}
}
