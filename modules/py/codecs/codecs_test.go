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

func TestStrictReadingRefusesWhatIsNotInTheEncoding(t *testing.T) {
	for _, c := range []struct {
		bytes, name string
		ok          bool
	}{
		{"a\xe9", "latin-1", true}, {"a\xe9", "ascii", false}, {"a", "ascii", true}, {"a\xe9", "utf-8", false},
		{"a\xc3\xa9", "utf8", true}, {"a", "nope", false},
	} {
		if text, err := DecodeStrict([]byte(c.bytes), c.name); (err == nil) != c.ok {
			t.Errorf("%q in %s: %q, %v", c.bytes, c.name, text, err)
		}
	}
}

func TestErrorsTellTheirClass(t *testing.T) {
	_, unknown := Encode("a", "nope")
	_, refused := Encode("é", "ascii")
	if got := InFull(unknown); got != "LookupError: unknown encoding: nope" {
		t.Error(got)
	}
	if e, ok := refused.(*Error); !ok || e.Class != "UnicodeEncodeError" {
		t.Errorf("%#v", refused)
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

// TestReadingTellsWherePythonDoes: the messages are those of Python 3.13.
func TestReadingTellsWherePythonDoes(t *testing.T) {
	for _, c := range []struct{ bytes, name, err string }{
		{"x\xe9y", "utf-8", "'utf-8' codec can't decode byte 0xe9 in position 1: invalid continuation byte"},
		{"x\x80y", "utf-8", "'utf-8' codec can't decode byte 0x80 in position 1: invalid start byte"},
		{"é\xc0\xafy", "utf-8", "'utf-8' codec can't decode byte 0xc0 in position 2: invalid start byte"},
		{"x\xc3", "utf-8", "'utf-8' codec can't decode byte 0xc3 in position 1: unexpected end of data"},
		{"x\xe2\x82", "utf-8", "'utf-8' codec can't decode bytes in position 1-2: unexpected end of data"},
		{"x\xe2\x82y", "utf-8", "'utf-8' codec can't decode bytes in position 1-2: invalid continuation byte"},
		{"x\xed\xa0\x80", "utf-8", "'utf-8' codec can't decode byte 0xed in position 1: invalid continuation byte"},
		{"x\xf0\x9f\x98y", "utf-8", "'utf-8' codec can't decode bytes in position 1-3: invalid continuation byte"},
		{"é", "ascii", "'ascii' codec can't decode byte 0xc3 in position 0: ordinal not in range(128)"},
		{"a\x81", "cp1252", "'charmap' codec can't decode byte 0x81 in position 1: character maps to <undefined>"},
	} {
		if _, err := DecodeStrict([]byte(c.bytes), c.name); err == nil || err.Error() != c.err {
			t.Errorf("%q in %s: %v", c.bytes, c.name, err)
		}
	}
}
