//go:build fleet && chaos

package fleet

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	stop   = syscall.SIGSTOP
	resume = syscall.SIGCONT
)

// disturbed is a play with faults. Each of its tasks leaves a line with its name and the time on the host.
type disturbed struct {
	n       int
	seed    uint64
	began   time.Time
	hosts   []machine
	free    bool
	tasks   int
	faults  []string
	process *process
	got     outcome
	hung    bool
	lost    map[machine]time.Time // when it was told that a host is unreachable

	mu     sync.Mutex
	killed time.Time // the controller, zero if it was not; guarded by mu
}

func (p *disturbed) file() string { return fmt.Sprintf("/root/chaos-%d-%d", p.seed, p.n) }

func (p *disturbed) playbook() string {
	var b strings.Builder
	b.WriteString("- hosts: all\n  gather_facts: false\n")
	if p.free {
		b.WriteString("  strategy: free\n")
	}
	b.WriteString("  tasks:\n")
	for i := range p.tasks {
		fmt.Fprintf(&b, "    - name: t%d\n      shell: echo t%d $(date +%%s.%%N) >>%s; sleep 0.05\n", i, i, p.file())
	}
	return b.String()
}

func (p *disturbed) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process.cmd.Process.Kill() == nil {
		p.killed = time.Now()
	}
}

// watch notes which hosts are told of as unreachable by now.
func (p *disturbed) watch() {
	text := p.process.out.String()
	for _, m := range p.hosts {
		if p.lost[m].IsZero() && strings.Contains(text, "["+string(m)+"]: UNREACHABLE!") {
			p.lost[m] = time.Now()
		}
	}
}

var (
	taskLine   = regexp.MustCompile(`^TASK \[(t\d+)\]`)
	resultLine = regexp.MustCompile(`^(changed|ok|fatal|failed): \[(h\d+)\]`)
)

// told are the tasks that were reported of each host: those that are changed, and the one at which it was lost or
// failed.
func (p *disturbed) told() (changed map[machine]map[string]bool, end map[machine]string) {
	changed, end = map[machine]map[string]bool{}, map[machine]string{}
	task := ""
	for _, line := range strings.Split(p.got.out, "\n") {
		if m := taskLine.FindStringSubmatch(line); m != nil {
			task = m[1]
		}
		m := resultLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		host := machine(m[2])
		if m[1] == "changed" {
			if changed[host] == nil {
				changed[host] = map[string]bool{}
			}
			changed[host][task] = true
		} else {
			end[host] = line
		}
	}
	return changed, end
}

// ran is a line on a host.
type ran struct {
	task string
	at   time.Time
}

func (p *disturbed) ran(m machine) ([]ran, error) {
	text, err := m.try(nil, "cat "+p.file()+" 2>/dev/null || true")
	var all []ran
	for _, line := range strings.Split(text, "\n") {
		task, at, ok := strings.Cut(line, " ")
		seconds, err := strconv.ParseFloat(at, 64)
		if ok && err == nil {
			all = append(all, ran{task, time.UnixMicro(int64(seconds * 1e6))})
		}
	}
	return all, err
}

// graces: how long after the word that a host is lost a line of it may still be on its way to the screen, and for how
// long a host goes on whose controller was killed (its last answer is good for 3 s).
const (
	graceLost   = time.Second
	graceKilled = 5 * time.Second
)

// judge holds what the hosts have done against what was told of them.
func (c *chaos) judge(p *disturbed) {
	found := tally{plays: 1}
	if p.hung {
		found.hangs = 1
		c.t.Errorf("play %d hangs (%v)", p.n, p.faults)
	}
	changed, end := p.told()
	counts := recap(p.got.out)
	for _, m := range p.hosts {
		lines, err := p.ran(m)
		if err != nil {
			c.t.Error(err)
		}
		if !p.lost[m].IsZero() {
			found.hosts++
		}
		p.judgeHost(c, &found, m, lines, changed[m], end[m], counts[string(m)])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	names := slices.Compact(slices.Sorted(slices.Values(p.faults)))
	if len(names) == 0 {
		names = []string{"(none)"}
	}
	for _, name := range append(names, "all") {
		if c.tally[name] == nil {
			c.tally[name] = &tally{}
		}
		c.tally[name].add(found)
	}
}

func (p *disturbed) judgeHost(c *chaos, found *tally, m machine, lines []ran, changed map[string]bool, end, counts string) {
	var wrong []string
	bad := func(n *int, what string) {
		*n++
		wrong = append(wrong, what)
	}
	defer func() {
		if len(wrong) > 0 {
			c.t.Errorf("play %d (free: %v, %v), %s: %s\ntold: %d changed, then %q, recap %q\ndid: %s\n%s", p.n, p.free, p.faults, m, strings.Join(wrong, "; "), len(changed), end, counts,
				p.story(lines), p.got.errors)
		}
	}()
	times := map[string]int{}
	unknown := 0
	for _, l := range lines {
		times[l.task]++
		if !changed[l.task] {
			unknown++
		}
		if at := p.lost[m]; !at.IsZero() && l.at.After(at.Add(graceLost)) {
			bad(&found.late, l.task+" began after the host was told of as unreachable")
		}
		if !p.killed.IsZero() && l.at.After(p.killed.Add(graceKilled)) {
			bad(&found.late, l.task+" began long after the controller was killed")
		}
	}
	for task, n := range times {
		if n > 1 {
			bad(&found.doubles, fmt.Sprintf("%s ran %d times", task, n))
		}
	}
	for task := range changed {
		if times[task] == 0 {
			bad(&found.lost, task+" was told as changed")
		}
	}
	if !p.killed.IsZero() || p.hung {
		return // nobody was there to tell of the end
	}
	switch whole := strings.HasPrefix(counts, fmt.Sprintf("ok=%[1]d changed=%[1]d unreachable=0 failed=0 ", p.tasks)); {
	case whole && len(times) != p.tasks:
		bad(&found.lies, "it did not do all")
	case !whole && end == "":
		bad(&found.lies, "nobody says why it did not do all")
	case !whole && p.got.code == 0:
		bad(&found.lies, "the exit code is 0")
	case unknown > 0 && !strings.Contains(end, "not known"):
		bad(&found.silent, "nobody says that more may have been done")
	case unknown > 1 && !strings.Contains(end, "those after it"):
		bad(&found.silent, "it did more than is said to be not known")
	case unknown > 0 && strings.Contains(end, "was not begun"):
		bad(&found.lies, "what is said to be not begun was")
	}
}

// story is what a host did, with the seconds since the play began.
func (p *disturbed) story(lines []ran) string {
	var words []string
	for _, l := range lines {
		words = append(words, fmt.Sprintf("%s at %.1f", l.task, l.at.Sub(p.began).Seconds()))
	}
	return strings.Join(words, ", ")
}

func (t *tally) add(o tally) {
	t.plays, t.hosts, t.doubles, t.lost = t.plays+o.plays, t.hosts+o.hosts, t.doubles+o.doubles, t.lost+o.lost
	t.silent, t.late, t.lies, t.hangs = t.silent+o.silent, t.late+o.late, t.lies+o.lies, t.hangs+o.hangs
}

func sortedKeys(t tallies) []string { return slices.Sorted(maps.Keys(t)) }
