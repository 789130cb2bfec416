package foreign

import (
	"testing"

	"hark/modules/py/value"
	"hark/modules/result"
)

func TestSecretsThatAModuleNamesAreHidden(t *testing.T) {
	cases := []struct {
		text    string
		secrets []string
		want    string
	}{
		{"the word is sesame-open, twice sesame-open", []string{"sesame-open"}, "the word is $REDACTED$, twice $REDACTED$"},
		{"xsesame-openx", []string{"sesame-open"}, "x$REDACTED$x"},
		{"abcd abcde xabcd (abcd)", []string{"abcd"}, "$REDACTED$ abcde xabcd ($REDACTED$)"},
		{"passprivate", []string{"pass", "private"}, "$REDACTED$"},
		{"ababab", []string{"abab"}, "$REDACTED$"},
		{"abcdefg", []string{"abcdef", "abcd"}, "abcdefg"},
		{"über geheimnis", []string{"geheimnis", "über"}, "$REDACTED$ $REDACTED$"},
	}
	for _, c := range cases {
		if got := mask(c.text, c.secrets); got != c.want {
			t.Errorf("%q without %q: %q, want %q", c.text, c.secrets, got, c.want)
		}
	}
	data := value.DictOf("echo", "it is sesame-open", "n", int64(12345678), "ok", true, "deep", value.NewList(value.DictOf("sesame-open", "x")),
		result.NewSecrets, value.NewList(value.Str(" sesame-open\n"), value.Str("12345678"), value.Str("abc")), "short", "abc")
	want := `{"echo": "it is $REDACTED$", "n": "$REDACTED$", "ok": true, "deep": [{"$REDACTED$": "x"}], "short": "abc"}`
	if got := value.JSONText(withoutSecrets(data), value.JSONOptions{}); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
