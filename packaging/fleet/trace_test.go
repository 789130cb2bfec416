//go:build fleet

package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// trace is a play whose tasks leave a line on the host each time that they run, so that a test can see what ran and how
// often. At the step "stand" the hosts in Waits wait until the test lets them go.
type trace struct {
	hosts []machine
	name  string
	waits []machine // the hosts that wait at "stand"; all if nil
	extra string    // keywords of the play
	stand string    // the task at which trouble comes, if it is not the waiting one
}

// steps of the trace, in order; each is one changed task.
var steps = []string{"one", "two", "stand", "four", "five", "six"}

func (tr trace) file() string  { return "/root/trace-" + tr.name }
func (tr trace) at() string    { return "/run/at-" + tr.name }
func (tr trace) leave() string { return "/run/go-" + tr.name }
func (tr trace) left() string  { return "/run/left-" + tr.name }

// playbook is the play. A host's session that is begun anew in the same run would show as a line that is there twice.
func (tr trace) playbook() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- hosts: all\n  gather_facts: false\n%s  tasks:\n", tr.extra)
	for _, step := range steps {
		fmt.Fprintf(&b, "    - name: %s\n", step)
		switch {
		case step == "stand" && tr.stand != "":
			b.WriteString(tr.stand)
		case step == "stand":
			fmt.Fprintf(&b, "      shell: \"echo %s >>%s; touch %s; while [ ! -e %s ]; do sleep 0.1; done; touch %s\"\n", step, tr.file(), tr.at(), tr.leave(), tr.left())
		default:
			fmt.Fprintf(&b, "      shell: echo %s >>%s\n", step, tr.file())
		}
	}
	return b.String()
}

// begin clears the hosts, lets those go that do not wait, and starts the play.
func (tr trace) begin(t *testing.T, args ...string) *process {
	t.Helper()
	each(t, tr.hosts, func(m machine) error {
		script := "rm -f " + strings.Join([]string{tr.file(), tr.at(), tr.leave(), tr.left()}, " ")
		if tr.waits != nil && !slices.Contains(tr.waits, m) {
			script += "; touch " + tr.leave()
		}
		_, err := m.try(nil, script)
		return err
	})
	dir := project(t, tr.hosts, map[string]string{"trace.yml": tr.playbook()})
	return site.control.start(t, dir, append([]string{"play", "-i", "inventory", "trace.yml"}, args...)...)
}

// standing waits until the hosts that wait have come to "stand".
func (tr trace) standing(t *testing.T, hosts ...machine) {
	t.Helper()
	for _, m := range hosts {
		await(t, string(m)+" stands", func() bool {
			_, err := m.try(nil, "test -e "+tr.at())
			return err == nil
		})
	}
}

// release lets hosts go on.
func (tr trace) release(t *testing.T, hosts ...machine) {
	t.Helper()
	each(t, hosts, func(m machine) error {
		_, err := m.try(nil, "touch "+tr.leave())
		return err
	})
}

// lines are what the play left on a host.
func (tr trace) lines(t *testing.T, m machine) []string {
	t.Helper()
	return strings.Fields(m.sh(t, "cat "+tr.file()+" 2>/dev/null || true"))
}

// whole checks that every step ran once on every host, in order, and that the play told so.
func (tr trace) whole(t *testing.T, got outcome) {
	t.Helper()
	if got.code != 0 {
		t.Errorf("exit code %d", got.code)
	}
	tr.told(t, got, tr.hosts, nil)
	for _, m := range tr.hosts {
		if lines := tr.lines(t, m); !slices.Equal(lines, steps) {
			t.Errorf("%s did %v, want %v", m, lines, steps)
		}
	}
}

// told checks the recap: every host once, those that went through and those that were lost.
func (tr trace) told(t *testing.T, got outcome, through, lost []machine) {
	t.Helper()
	counts := recap(got.out)
	if len(counts) != len(tr.hosts) {
		t.Errorf("the recap counts %d hosts of %d: %v", len(counts), len(tr.hosts), counts)
	}
	for _, m := range through {
		want := fmt.Sprintf("ok=%[1]d changed=%[1]d unreachable=0 failed=0 skipped=0 rescued=0 ignored=0", len(steps))
		if counts[string(m)] != want {
			t.Errorf("recap of %s: %s, want %s", m, counts[string(m)], want)
		}
	}
	for _, m := range lost {
		if !strings.Contains(counts[string(m)], "unreachable=1 failed=0") {
			t.Errorf("recap of %s: %s, want it unreachable", m, counts[string(m)])
		}
	}
}

// once checks that a lost host did a beginning of the steps, each once, and that the play told of no more than it did.
func (tr trace) once(t *testing.T, got outcome, m machine) {
	t.Helper()
	lines := tr.lines(t, m)
	if len(lines) > len(steps) || !slices.Equal(lines, steps[:len(lines)]) {
		t.Errorf("%s did %v: not a beginning of %v", m, lines, steps)
	}
	told := strings.Count(got.out, "changed: ["+string(m)+"]")
	if told > len(lines) || told < len(lines)-1 {
		t.Errorf("%s did %v, and the play told of %d", m, lines, told)
	}
}
