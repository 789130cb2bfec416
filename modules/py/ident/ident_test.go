package ident

import "testing"

func TestNames(t *testing.T) {
	for name, want := range map[string]struct{ python, jinja bool }{
		"a": {true, true}, "_a1": {true, true}, "": {}, "1a": {}, "a-b": {}, "a b": {}, "ä": {}, "a.b": {},
		"if": {false, true}, "class": {false, true}, "none": {true, false}, "true": {true, false}, "None": {}, "True": {},
		"not": {}, "nonlocal": {false, true},
	} {
		if Python(name) != want.python || Jinja(name) != want.jinja {
			t.Errorf("%q: Python %v, Jinja %v", name, Python(name), Jinja(name))
		}
	}
}
