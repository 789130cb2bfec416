//go:build fleet

package fleet

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestATeamsMonth: three operators, a CI job and two keepers of a git project live through a month. After each step
// screens, runs, duties, console, metrics, notifications and hosts say the same.
func TestATeamsMonth(t *testing.T) {
	began := time.Now()
	m := newTeam(t)
	t.Logf("%5.1f s  the team is there", time.Since(began).Seconds())
	weeks, err := strconv.Atoi(cmp.Or(os.Getenv("FLEET_WEEKS"), "1"))
	if err != nil {
		t.Fatal("FLEET_WEEKS is a number")
	}
	for _, step := range m.month(weeks) {
		from := time.Now()
		ok := t.Run(strings.ReplaceAll(step.name, " ", "_"), func(t *testing.T) {
			step.do(t)
			m.agree(t)
		})
		t.Logf("%5.1f s  %s", time.Since(from).Seconds(), step.name)
		if !ok {
			m.tell(t)
			return
		}
	}
	t.Logf("%5.1f s in all", time.Since(began).Seconds())
}

type monthStep struct {
	name string
	do   func(t *testing.T)
}

// month is what happens. What happens each week does so as often as there are weeks.
func (m *team) month(weeks int) []monthStep {
	all := []monthStep{{"the first day", m.firstDay}}
	for range weeks {
		all = append(all, []monthStep{
			{"a release", m.aRelease},
			{"a bad commit and its fix", m.badCommit},
			{"a host is away and comes back", m.hostAway},
			{"drift by hand", m.driftByHand},
		}...)
	}
	return append(all, []monthStep{
		{"a host joins", m.hostJoins},
		{"a host gets another name", m.hostRenamed},
		{"a colleague joins", m.colleagueJoins},
		{"a colleague leaves", m.colleagueLeaves},
		{"a lost key", m.lostKey},
		{"a full disk at the broker", m.fullDisk},
		{"the machine of the keeper dies", m.keeperDies},
		{"everything restarts", m.everythingRestarts},
		{"the audit", m.audit},
	}...)
}

// play is a play of somebody: it ends with this exit code, and all that is on record of it is as it was on the screen.
func (m *team) play(t *testing.T, p *person, code int, args ...string) {
	t.Helper()
	m.compare(t, p, m.playOnly(t, p, code, args...))
}

// playOnly is play without a look at what is on record.
func (m *team) playOnly(t *testing.T, p *person, code int, args ...string) outcome {
	t.Helper()
	got := p.hark(t, append([]string{"play"}, args...)...)
	m.noteReleases(args, got.out)
	if got.code != code {
		t.Fatalf("%s: hark play %s: exit code %d, not %d\n%s%s", p.name, strings.Join(args, " "), got.code, code, got.out,
			got.errors)
	}
	return got
}

// summed is what `hark runs show --summary --json` prints.
type summed struct{ Entry runOnRecord }

// compare holds what is on record of somebody's last run against its screen.
func (m *team) compare(t *testing.T, p *person, screen outcome) {
	t.Helper()
	shown := p.hark(t, "runs", "show", "last")
	if shown.out != screen.out || shown.errors != screen.errors {
		t.Errorf("%s: hark runs show last is not the screen\n%s%s\nbut\n%s%s", p.name, shown.out, shown.errors, screen.out,
			screen.errors)
	}
	sum, err := reading[summed](t, p, "runs", "show", "last", "--summary")
	if err != nil {
		t.Fatal(err)
	}
	e := sum.Entry
	if e.Foot == nil || e.Foot.Exit != screen.code {
		t.Errorf("the record of %s has not the exit code %d: %+v", e.Head.Run, screen.code, e.Foot)
	}
	counts := map[string]int{}
	for _, line := range recap(screen.out) {
		counts[standing(line)]++
	}
	for state, n := range counts {
		if e.Counts[state] != n {
			t.Errorf("the recap has %d %s, the record of %s %v\n%s", n, state, e.Head.Run, e.Counts, screen.out)
		}
	}
	other := m.anna
	if p == m.anna {
		other = m.bela
	}
	var theirs outcome
	await(t, other.name+" reads "+e.Head.Run, func() bool {
		theirs = other.hark(t, "runs", "show", e.Head.Run)
		return theirs.code == 0
	})
	if theirs.out != screen.out || theirs.errors != screen.errors {
		t.Errorf("%s reads of the run of %s\n%s%s\nand the screen was\n%s%s", other.name, p.name, theirs.out, theirs.errors,
			screen.out, screen.errors)
	}
	var text string
	await(t, "the console shows "+e.Head.Run, func() bool {
		text, err = m.console.get("/runs/"+e.Head.Run+"/output.txt", "text/plain")
		return err == nil
	})
	if screen.errors == "" && text != screen.out {
		t.Errorf("the console shows of the run of %s\n%s\nand the screen was\n%s", p.name, text, screen.out)
	}
}

// standing is how a host stands by its line of the recap.
func standing(line string) string {
	for _, state := range []string{"unreachable", "failed", "changed"} {
		if !strings.Contains(line, state+"=0") {
			return state
		}
	}
	return "ok"
}

// ask has the keeper do a duty now.
func (m *team) ask(t *testing.T, p *person, duty string) {
	t.Helper()
	await(t, "the keeper does "+duty, func() bool { return p.hark(t, "duties", "run", duty).code == 0 })
}

// stands waits until all hosts of a duty stand so with a commit, "" being any.
func (m *team) stands(t *testing.T, duty, commit string, states ...string) {
	t.Helper()
	await(t, fmt.Sprintf("%s is %v", duty, states), func() bool {
		all, err := reading[[]hostOnRecord](t, m.anna, "duties", "show", duty)
		return err == nil && len(all) > 0 && !slices.ContainsFunc(all, func(h hostOnRecord) bool {
			return !slices.Contains(states, h.State) || !h.Begun.IsZero() || commit != "" && h.Commit != commit
		})
	})
}

// inForce waits until the keeper has a commit.
func (m *team) inForce(t *testing.T, commit string) {
	t.Helper()
	await(t, "the keeper has "+commit, func() bool {
		all, err := reading[[]dutyOnRecord](t, m.bela, "duties", "list")
		return err == nil && len(all) > 0 &&
			!slices.ContainsFunc(all, func(d dutyOnRecord) bool { return d.Commit != commit })
	})
}

// tell is what helps to find out why something was not as it should be.
func (m *team) tell(t *testing.T) {
	for _, x := range []machine{m.desk, m.spare, m.hub} {
		out, _ := x.try(nil, "journalctl -n 60 --no-pager -o cat -u 'hark-*'")
		t.Logf("%s\n%s", x, out)
	}
	for _, args := range [][]string{{"list"}, {"show", "base"}, {"show", "look"}} {
		t.Log(m.anna.hark(t, append([]string{"duties"}, args...)...).out)
	}
	for _, n := range m.hook.all() {
		t.Logf("%s %s", n.Type, n.Data.Text)
	}
}

// The steps.

func (m *team) firstDay(t *testing.T) {
	m.stands(t, "base", "", "kept", "mended")
	m.play(t, m.anna, 0, "site.yml")
	m.play(t, m.bela, 0, "release.yml", "-e", "release=1 who=bela")
	m.play(t, m.carl, 0, "release.yml", "-e", "release=1 who=carl", "--diff", "-l", "web")
	m.ask(t, m.anna, "look")
	m.stands(t, "look", "", "kept")
}

// job is a run of the CI job: each has a home of its own that goes with it.
func (m *team) job(t *testing.T, code int, args ...string) {
	t.Helper()
	m.checkoutForCI(t)
	kept := m.ci.home
	job := filepath.Join(t.TempDir(), "home")
	if out, err := exec.Command("cp", "-a", kept, job).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, name := range []string{"pass", "site"} {
		if err := os.Symlink(filepath.Join(filepath.Dir(kept), name), filepath.Join(filepath.Dir(job), name)); err != nil {
			t.Fatal(err)
		}
	}
	m.ci.home = job
	defer func() { m.ci.home = kept }()
	m.play(t, m.ci, code, args...)
}

func (m *team) aRelease(t *testing.T) {
	commit := m.release(t, m.bela, "")
	m.job(t, 0, "release.yml", "-l", "web", "-e", "release=2 who=ci")
	m.inForce(t, commit)
	m.ask(t, m.carl, "base")
	m.stands(t, "base", commit, "mended")
	m.play(t, m.anna, 0, "site.yml", "-l", "db")
	m.ask(t, m.bela, "look")
	m.stands(t, "look", commit, "kept")
}

func (m *team) badCommit(t *testing.T) {
	bad := m.release(t, m.bela, `sed -i 's/^check_command: .*/check_command: "false"/' group_vars/all/vars.yml`)
	m.inForce(t, bad)
	m.ask(t, m.anna, "base")
	m.hook.await(t, "hark.duty.paused", "base")
	m.stands(t, "base", bad, "failed")
	m.hook.await(t, "hark.duty.failed", "base: ")
	m.agree(t)
	m.play(t, m.bela, 2, "site.yml", "-l", "web1")
	m.hook.await(t, "hark.run.failed", "site.yml -l web1")
	m.agree(t)
	fix := m.release(t, m.bela, `sed -i 's/^check_command: .*/check_command: "true"/' group_vars/all/vars.yml`)
	m.inForce(t, fix)
	m.play(t, m.bela, 0, "site.yml", "-l", "web1")
	m.hook.await(t, "hark.run.fixed", "site.yml -l web1")
	m.ask(t, m.anna, "base")
	m.stands(t, "base", fix, "kept", "mended")
	m.hook.await(t, "hark.duty.resumed", "base")
	m.play(t, m.anna, 0, "site.yml", "-l", "db")
	m.ask(t, m.bela, "look")
}

func (m *team) hostAway(t *testing.T) {
	away := m.hosts["web2"]
	away.sh(t, "systemctl poweroff")
	await(t, "web2 is off", func() bool {
		_, err := away.try(nil, "true")
		return err != nil
	})
	await(t, "web2 is absent", func() bool {
		all, err := reading[[]agentOnRecord](t, m.anna, "agents", "list")
		return err == nil && slices.ContainsFunc(all, func(a agentOnRecord) bool { return a.Name == "web2" && !a.Present })
	})
	m.play(t, m.carl, 4, "release.yml", "-l", "web", "-e", "release=3 who=carl")
	commit := m.release(t, m.anna, "")
	m.inForce(t, commit)
	m.ask(t, m.anna, "base")
	m.hook.await(t, "hark.duty.absent", "web2")
	m.agree(t)
	away.verb(t, "boot")
	m.stands(t, "base", commit, "kept", "mended")
	m.hook.await(t, "hark.duty.fixed", "web2")
	m.play(t, m.carl, 0, "release.yml", "-l", "web", "-e", "release=3 who=carl")
	m.play(t, m.anna, 0, "site.yml", "-l", "db")
	m.ask(t, m.bela, "look")
	m.stands(t, "look", commit, "kept")
}

func (m *team) driftByHand(t *testing.T) {
	m.hosts["db1"].sh(t, "echo by hand >>/srv/site/conf; sleep 2")
	m.ask(t, m.carl, "look")
	m.stands(t, "look", "", "drifted")
	m.hook.await(t, "hark.duty.drifted", "db1")
	if got := m.anna.hark(t, "duties", "drift"); got.code != 3 || !strings.Contains(got.out, "its settings") {
		t.Errorf("hark duties drift: %d %s", got.code, got.out)
	}
	m.agree(t)
	m.hosts["web1"].sh(t, "echo by hand >>/srv/site/conf")
	m.ask(t, m.carl, "base")
	m.stands(t, "base", "", "kept", "mended")
	m.play(t, m.anna, 0, "site.yml")
	m.ask(t, m.carl, "look")
	m.stands(t, "look", "", "kept")
	m.hook.await(t, "hark.duty.fixed", "db1")
}
