package encodings

import (
	"testing"
)

func TestTextsAreEncodedAsPythonDoes(t *testing.T) {
	for _, c := range []struct{ name, text, raw string }{
		{"utf_8", "é€", "é€"}, {"latin-1", "é", "\xe9"}, {"cp1252", "€", "\x80"}, {"ascii", "e", "e"},
	} {
		raw, err := Encode(c.text, c.name)
		if err != nil || raw != c.raw {
			t.Errorf("%s: %q, %v", c.name, raw, err)
		}
		if text, err := Decode(raw, c.name); err != nil || text != c.text {
			t.Errorf("%s: back %q, %v", c.name, text, err)
		}
	}
	for name, text := range map[string]string{"latin-1": "€", "ascii": "é", "klingon": "x"} {
		if raw, err := Encode(text, name); err == nil {
			t.Errorf("%s takes %s as %q", name, text, raw)
		}
	}
}
