package answer

import (
	"testing"

	"hark/agent/wire"
)

// Of a directory one file may be named: the one that the controller knows, or else the first whose path ends as it
// must.
func TestAPlaceIsForOneFile(t *testing.T) {
	a := New(Config{})
	for name, c := range map[string]struct {
		place wire.Place
		named []string
		want  []bool
	}{
		"known":         {wire.Place{Only: "etc/x"}, []string{"etc/y", "etc/x", "x", "etc/x"}, []bool{false, true, false, true}},
		"of a home":     {wire.Place{Tail: "/.ssh/id"}, []string{"root/.ssh/x", "root/.ssh/id", "home/a/.ssh/id"}, []bool{false, true, false}},
		"of a variable": {wire.Place{Tail: "/"}, []string{"a/b", "a/c", "a/b"}, []bool{true, false, true}},
	} {
		p := &place{Place: c.place}
		for i, rel := range c.named {
			if got := a.uploads.isFile(p, rel); got != c.want[i] {
				t.Errorf("%s: %s is the file: %t", name, rel, got)
			}
		}
	}
}
