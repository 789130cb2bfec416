package templar

import (
	"testing"
	"unicode/utf8"

	"hark/modules/py/value"
)

// FuzzLiteral shows that what is read as a literal prints as a literal that reads the same.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"[1, 'a', {'b': (1,)}]", "True", "{'a': -1.5e3}", `"\x41\u00e9"`, "b'x'", "1_000", "0x1f", "[[]", "(1, 2", "'''a\n'''", "r'\\n' 'x'"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, jsonNames bool) {
		if !utf8.ValidString(s) { // Python has no such text
			return
		}
		v, ok, err := parseLiteral(s, jsonNames)
		if !ok || err != nil {
			return
		}
		printed, err := value.Repr(v)
		if err != nil {
			t.Fatal(err)
		}
		again, ok, err := parseLiteral(printed, false)
		if !ok || err != nil {
			if printed == "inf" || printed == "-inf" || printed == "nan" || len(printed) > 1000 {
				return
			}
			if _, whole := reread(v, false, 0); !whole {
				return
			}
			t.Fatalf("%q reads as %s, which does not read: %v", s, printed, err)
		}
		if same, err := value.Equal(v, again); !same || err != nil {
			t.Fatalf("%q reads as %s, which reads as something else", s, printed)
		}
	})
}
