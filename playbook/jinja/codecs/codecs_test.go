package codecs

import "testing"

func TestEncodeAndDecode(t *testing.T) {
	for _, c := range []struct{ text, name, bytes string }{
		{"aé", "utf-8", "a\xc3\xa9"},
		{"aé", "latin-1", "a\xe9"},
		{"a€", "cp1252", "a\x80"},
		{"ab", "UTF_16", "\xff\xfea\x00b\x00"},
		{"ab", "utf-16-be", "\x00a\x00b"},
		{"é", "iso8859-15", "\xe9"},
		{"a", "ascii", "a"},
		{"é", "cp437", "\x82"},
		{"a", "utf-32-le", "a\x00\x00\x00"},
	} {
		got, err := Encode(c.text, c.name)
		if err != nil || string(got) != c.bytes {
			t.Errorf("%s in %s: %q, %v", c.text, c.name, got, err)
		}
		if back, err := Decode(got, c.name); err != nil || back != c.text {
			t.Errorf("%q in %s: %q, %v", got, c.name, back, err)
		}
	}
}

func TestErrorsArePythons(t *testing.T) {
	for _, c := range []struct{ text, name, err string }{
		{"aé", "ascii", `'ascii' codec can't encode character '\xe9' in position 1: ordinal not in range(128)`},
		{"aéé", "ascii", `'ascii' codec can't encode characters in position 1-2: ordinal not in range(128)`},
		{"☃", "latin-1", `'latin-1' codec can't encode character '\u2603' in position 0: ordinal not in range(256)`},
		{"☃", "cp1252", `'charmap' codec can't encode character '\u2603' in position 0: character maps to <undefined>`},
		{"a", "nope", "unknown encoding: nope"},
	} {
		if _, err := Encode(c.text, c.name); err == nil || err.Error() != c.err {
			t.Errorf("%s in %s: %v", c.text, c.name, err)
		}
	}
}
