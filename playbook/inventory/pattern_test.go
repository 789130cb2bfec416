package inventory

import (
	"strings"
	"testing"
)

// matching is a matcher over a tree, and the warnings that it gives.
func matching(t *testing.T, tr *tree) (*matcher, *[]string) {
	t.Helper()
	warned := new([]string)
	m := &matcher{notices: &notices{warning: func(text string) { *warned = append(*warned, text) }}}
	m.over(tr)
	return m, warned
}

func TestPatternsAreJoinedInAnsiblesOrder(t *testing.T) {
	m, _ := matching(t, grow(t, "g : a1", "g : a2", "g : b1", "h : b1", "h : c1"))
	for patterns, want := range map[string]string{
		"all": "a1 a2 b1 c1", "!h,g": "a1 a2", "&h,g": "b1", "g:h": "a1 a2 b1 c1", "a?": "a1 a2", "~.1$": "a1 b1 c1",
		"g[0]": "a1", "g[-1]": "b1", "g[1:]": "a2 b1", "g[0:1]": "a1 a2", "h:!b1": "c1", "!h": "a1 a2",
	} {
		hosts, err := m.evaluate(splitPatterns([]string{patterns}))
		if got := strings.Join(hostNames(hosts), " "); got != want || err != nil {
			t.Errorf("%s matches %q (%v), want %q", patterns, got, err, want)
		}
	}
}

func TestALimitCountsForEveryPattern(t *testing.T) {
	m, _ := matching(t, grow(t, "g : a", "g : b", "h : c"))
	m.limit = []string{"b", "c"}
	for pattern, want := range map[string]string{"all": "b c", "g": "b", "a": ""} {
		hosts, err := m.within([]string{pattern})
		if got := strings.Join(hostNames(hosts), " "); got != want || err != nil {
			t.Errorf("%s matches %q (%v), want %q", pattern, got, err, want)
		}
	}
}

// A look ahead is silent, and whoever matches in earnest afterwards is told nonetheless.
func TestALookAheadSwallowsNoWarning(t *testing.T) {
	m, warned := matching(t, grow(t, "g : a"))
	if _, err := m.quiet().within([]string{"later"}); err != nil || len(*warned) != 0 {
		t.Fatalf("the look ahead warned of %q (%v)", *warned, err)
	}
	if _, err := m.within([]string{"later"}); err != nil || len(*warned) != 1 {
		t.Errorf("warned of %q (%v)", *warned, err)
	}
}
