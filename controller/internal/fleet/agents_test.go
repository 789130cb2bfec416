package fleet

import "testing"

func TestPatternsOfAgents(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		name     string
		want     bool
	}{
		{nil, "web1", true},
		{[]string{"all"}, "web1", true},
		{[]string{"db?", "web*"}, "web1", true},
		{[]string{"db?", "web"}, "web1", false},
		{[]string{"[", "web1"}, "web1", true},
		{[]string{"["}, "web1", false},
	} {
		if got := matchesAny(tt.patterns, tt.name); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.patterns, tt.name, got)
		}
	}
}
