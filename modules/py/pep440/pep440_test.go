package pep440

import (
	"strings"
	"testing"
)

// The order is that of packaging.version.
func TestVersionsAreOrdered(t *testing.T) {
	order := strings.Fields("0.9 1.dev0 1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456 1.0b2 " +
		"1.0b2.post345.dev456 1.0b2.post345 " +
		"1.0rc1.dev456 1.0rc1 1.0 1.0+abc.5 1.0+abc.7 1.0+5 1.0.post456.dev34 1.0.post456 1.0.15 1.1.dev1 1.9 1.10 " +
		"99999999999999999999999999 1!0.1")
	for i, a := range order {
		for j, b := range order {
			x, ok := Parse(a)
			y, ok2 := Parse(b)
			if !ok || !ok2 {
				t.Fatalf("%s or %s is none", a, b)
			}
			if got := strings.Compare(x.Key(), y.Key()); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s and %s are %d", a, b, got)
			}
		}
	}
}

func TestWritingsOfOneVersionAreEqual(t *testing.T) {
	for _, same := range []string{"1.0 1 v1.0.0 01.0", "1.0a1 1.0-ALPHA.1 1.0_a_1", "1.0rc1 1.0c1 1.0-preview1",
		"1.0.post1 1.0-1 1.0rev1", "1.0+a.b 1.0+A-b"} {
		list := strings.Fields(same)
		first, _ := Parse(list[0])
		for _, other := range list[1:] {
			if v, ok := Parse(other); !ok || v.Key() != first.Key() {
				t.Errorf("%s is not %s", other, list[0])
			}
		}
	}
	for _, none := range []string{"", "x", "1.0+", "1..0", "1.0 beta gamma", "1.0+a..b"} {
		if _, ok := Parse(none); ok {
			t.Errorf("%q is a version", none)
		}
	}
}

func TestBegins(t *testing.T) {
	v, _ := Parse("1.4.0.2")
	for prefix, want := range map[string]bool{"1": true, "1.4": true, "1.4.0": true, "1.04": true, "1.40": false,
		"1.4.0.2.0": true, "1.4.x": false, "": false} {
		if got := v.Begins(prefix); got != want {
			t.Errorf("%s: %v", prefix, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1!2.0a1.post2.dev3+l.1")
	f.Fuzz(func(_ *testing.T, text string) {
		v, _ := Parse(text)
		_ = v.Key()
	})
}
