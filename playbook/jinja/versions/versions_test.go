package versions

import "testing"

// What versions answer is held by playbook/jinja/testdata/answers/tests.jsonl, against Ansible; these are whole orders.

func TestVersionsAreOrdered(t *testing.T) {
	for name, c := range map[string]struct {
		rule  Rule
		order []string
	}{
		"pep440": {PEP440, []string{"1.dev0", "1.0.dev456", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12",
			"1.0b1.dev456", "1.0b2",
			"1.0b2.post345.dev456", "1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0", "1.0+abc.5", "1.0+abc.7", "1.0+5",
			"1.0.post456.dev34",
			"1.0.post456", "1.0.15", "1.1.dev1", "1!0.1"}},
		"semantic": {Semantic, []string{"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
			"1.0.0-beta.11",
			"1.0.0-rc.1", "1.0.0", "2.0.0", "2.1.0", "2.1.1", "10.0.0"}},
		"strict": {Strict, []string{"0.4", "0.4.1", "0.5a1", "0.5b3", "0.5", "0.9.6", "1.0", "1.0.4a3", "1.0.4b1", "1.0.4"}},
		"loose":  {Loose, []string{"1.5.1", "1.5.2b2", "8.02", "161", "1996.07.12"}},
	} {
		for i, a := range c.order {
			for j, b := range c.order {
				want := 0
				if i < j {
					want = -1
				} else if i > j {
					want = 1
				}
				if got, err := Compare(c.rule, a, b); err != nil || got != want {
					t.Errorf("%s: %s and %s are %d (%v), want %d", name, a, b, got, err, want)
				}
			}
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("1.2.3-rc.1+b", "1!2.0a1.post2.dev3+l.1")
	f.Fuzz(func(_ *testing.T, a, b string) {
		for _, rule := range []Rule{Loose, Strict, Semantic, PEP440} {
			_, _ = Compare(rule, a, b)
		}
	})
}
