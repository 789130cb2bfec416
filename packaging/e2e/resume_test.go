//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestARunGoesOnWhereItFailed plays a project twice on agents: whole, and with a host that fails in the middle, is
// mended outside and resumed. In the end both have done the same, each task once.
func TestARunGoesOnWhereItFailed(t *testing.T) {
	t.Parallel()
	tm := &team{fleet: startFleet(t, "h1", "h2"), t: t, work: t.TempDir()}
	const tell = " >> {{ at }}/{{ inventory_hostname }}\n"
	writeTree(t, tm.work, map[string]string{
		"site/site.yml": "- hosts: all\n  gather_facts: false\n  handlers:\n  - name: restart\n" +
			"    shell: echo restart {{ made }}" + tell +
			"  tasks:\n  - name: before\n    shell: echo before; echo before" + tell +
			"    register: first\n    no_log: true\n    notify: restart\n" +
			"  - set_fact: {made: 'of {{ first.stdout }} on {{ inventory_hostname }}'}\n" +
			"  - include_tasks: part.yml\n  - name: after\n    shell: echo after {{ made }} {{ middle.stdout }}" + tell +
			"- hosts: all\n  gather_facts: false\n  tasks:\n  - shell: echo next {{ hostvars['h1'].made }} {{ made }}" + tell,
		"site/part.yml": "- name: in the part\n  shell: echo part; echo part" + tell + "  register: middle\n" +
			"- name: breaks\n  command: test -e {{ at }}/ready-{{ inventory_hostname }}\n",
		"whole/ready-h1": "", "whole/ready-h2": "", "parts/ready-h1": "",
	})
	play := func(at string) []string {
		return []string{"play", "-i", "hark:", "site/site.yml", "-e", "at=" + filepath.Join(tm.work, at)}
	}
	tm.as(tm.home, play("whole")...)
	if out, code, errs := tm.try(tm.home, play("parts")...); code != 2 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	again := []string{"runs", "retry", "last", "--resume", "--", "-e", "at=" + filepath.Join(tm.work, "parts")}
	if out, code, _ := tm.try(tm.home, again...); code != 2 || !strings.Contains(out, "TASK [breaks]") {
		t.Fatalf("the cause is still there: exit code %d\n%s", code, out)
	}
	writeTree(t, tm.work, map[string]string{"parts/ready-h2": ""})
	out := tm.as(tm.home, again...)
	if strings.Contains(out, "h1") || strings.Contains(out, "[before]") || strings.Contains(out, "[in the part]") {
		t.Errorf("it did more than what was left:\n%s", out)
	}
	for _, host := range []string{"h1", "h2"} {
		want, err := os.ReadFile(filepath.Join(tm.work, "whole", host))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(filepath.Join(tm.work, "parts", host)); string(got) != string(want) {
			t.Errorf("%s has done\n%s\nand in one run\n%s", host, got, want)
		}
	}
	if _, code, errs := tm.try(tm.home, again...); code != 1 || !strings.Contains(errs, "cannot be resumed") {
		t.Errorf("a run is resumed twice: %d %s", code, errs)
	}
}
