//go:build hostile

package hostile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	levels "hark/playbook/level"
)

// trusted are sources of text that Ansible takes for the playbook's own: what stands in front of a variable's reader.
func trusted() []source {
	all := func(texts []string) string { // a variable each: level 2.14 renders a list as a whole
		own := map[string]string{}
		for i, text := range texts {
			own[fmt.Sprintf("own%d", i)] = text
		}
		raw, _ := json.Marshal(own)
		return string(raw)
	}
	return []source{
		{name: "group_vars", at: "ownNUM", files: func(texts []string) project {
			return project{"group_vars/all.yml": all(texts)}
		}},
		{name: "vars_files", at: "ownNUM", tasks: "- {include_vars: own.yml}\n", files: func(texts []string) project {
			return project{"own.yml": all(texts)}
		}},
		{name: "-e @", at: "ownNUM", files: func(texts []string) project { return project{"extra.yml": all(texts)} },
			flags: func([]string) []string { return []string{"-e", "@extra.yml"} }},
		{name: "-e", at: "ownNUM", flags: func(texts []string) []string { return []string{"-e", all(texts)} }},
		{name: "inventory", at: "ownNUM", files: func(texts []string) project {
			return project{"own.yml": `{"all": {"hosts": {"here": ` + all(texts) + `}}}`}
		}, flags: func([]string) []string { return []string{"-i", "own.yml"} }},
		{name: "inventory script", at: "ownNUM", files: func(texts []string) project {
			list := `{"g": {"hosts": ["here"]}, "_meta": {"hostvars": {"here": ` + all(texts) + `}}}`
			return project{"own.json": list, "own.sh": "#!/bin/sh\n[ \"$1\" = --list ] && exec cat own.json\n"}
		}, flags: func([]string) []string { return []string{"-i", "own.sh"} }},
	}
}

// The same texts in the same places start their programs where a playbook, an inventory or the command line has them:
// the suite sees an execution, of either spelling.
func TestTrustedTextsAreRun(t *testing.T) {
	beside, _ := sinksOfTasks()
	all := cases(beside)
	dir := perches(t, len(all))
	eachLevel(t, func(t *testing.T, level string) {
		for i, from := range trusted() {
			// Every text that runs is a process: some sources are for one level each.
			if i < 3 && !chosen(i, level) || i >= 3 && !everything() && level != levels.Names()[2*(i-3)] {
				continue
			}
			t.Run(from.name, func(t *testing.T) {
				p := caged(from, all)
				p["site.yml"] = strings.TrimSuffix(p["site.yml"], innocents) // they render all variables of a host
				s := newCage(t, dir, level).loose(from, p)
				ran := map[string]int{}
				for _, n := range s.marks {
					ran[all[n].spelling]++
				}
				t.Logf("%v of %d", ran, len(all))
				if ran["braces"] < len(all)/4 || ran["bare"] == 0 {
					t.Errorf("of %d trusted texts %v were run: %s", len(all), ran, s.tail())
				}
				if strings.Contains(s.errs, "panic") {
					t.Error(s.tail())
				}
			})
		}
	})
}
