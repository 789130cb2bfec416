//go:build fleet

package fleet

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// toldLost waits until the play has said that a host is unreachable.
func (p *process) toldLost(t *testing.T, m machine) {
	t.Helper()
	await(t, string(m)+" is told of as unreachable", func() bool {
		return strings.Contains(p.out.String(), "["+string(m)+"]: UNREACHABLE!")
	})
}

// TestTheEndOfALogIsLost: the agent is killed, and what it had not made durable is gone, as after a power cut or when
// a snapshot is put back. It knows less than the controller then; the play ends nevertheless, and nothing runs twice.
func TestTheEndOfALogIsLost(t *testing.T) {
	for _, strategy := range []string{"linear", "free"} {
		t.Run(strategy, func(t *testing.T) {
			tr := trace{hosts: fleetOf(t, 4), name: "lost-log-" + strategy, waits: []machine{"h2"}, extra: "  strategy: " + strategy + "\n"}
			p := tr.begin(t)
			tr.standing(t, "h2")
			machine("h2").sh(t, `pkill -KILL -x hark-agent; cd /var/lib/hark/sessions && for f in *.log; do head -n 3 "$f" >/root/log && cat /root/log >"$f"; done`)
			got := p.wait(t)
			if got.code != 4 || !strings.Contains(got.out, "the agent was restarted in the middle of the play") || !strings.Contains(got.out, "is not known") {
				t.Errorf("exit code %d, want 4 and the reason", got.code)
			}
			tr.told(t, got, []machine{"h1", "h3", "h4"}, []machine{"h2"})
			tr.once(t, got, "h2")
			present(t, "h2")
		})
	}
}

// TestHostThatWasGivenUpDoesNothingMore: whatever lay in buffers when a host was cut off, and whatever it could do by
// itself, nothing begins on it once it was told of as unreachable, in the run or after it.
func TestHostThatWasGivenUpDoesNothingMore(t *testing.T) {
	hosts := fleetOf(t, 3)
	for _, strategy := range []string{"linear", "free"} {
		for _, when := range []string{"before", "in the middle"} {
			t.Run(strategy+" "+when, func(t *testing.T) {
				tr := trace{hosts: hosts, name: strings.ReplaceAll(strategy+when, " ", ""), waits: []machine{"h1", "h2"}, extra: "  strategy: " + strategy + "\n"}
				answers(t, hosts...)
				m := machine("h2")
				t.Cleanup(func() { m.verb(t, "heal") })
				var p *process
				if when == "before" {
					m.verb(t, "cut")
					p = tr.begin(t)
				} else {
					p = tr.begin(t)
					tr.standing(t, "h2")
					m.verb(t, "cut")
					tr.release(t, "h2")
				}
				p.toldLost(t, m)
				before := tr.lines(t, m)
				m.verb(t, "heal")
				answers(t, m)
				if strategy == "free" && when != "before" && !strings.Contains(p.out.String(), "whether this task and those after it were done is not known") {
					t.Error("the play does not say what is not known")
				}
				tr.standing(t, "h1")
				tr.release(t, "h1", "h2")
				got := p.wait(t)
				if got.code != 4 {
					t.Errorf("exit code %d, want 4", got.code)
				}
				if when != "before" && !strings.Contains(strings.Join(strings.Fields(got.errors), " "), `h2: is back, and had done more than it could tell before it was given up: "stand"`) {
					t.Errorf("the play does not say what h2 did: %s", got.errors)
				}
				again := trace{hosts: hosts, name: tr.name + "-again", waits: []machine{}}
				again.whole(t, again.begin(t).wait(t))
				if after := tr.lines(t, m); !slices.Equal(before, after) {
					t.Errorf("%s had done %v when it was told of as unreachable, and then did %v", m, before, after)
				}
			})
		}
	}
}

// TestSessionsOfTheDeadAreNotWork: a controller is killed in a free play. Its hosts begin nothing more, the next run
// says that they are still at the old one, and when the lease is over a reload ends the agent though nobody came for
// what it has to tell.
func TestSessionsOfTheDeadAreNotWork(t *testing.T) {
	t.Setenv("HARK_LEASE", "5")
	tr := trace{hosts: fleetOf(t, 2), name: "dead", extra: "  strategy: free\n"}
	p := tr.begin(t)
	tr.standing(t, tr.hosts...)
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	again := trace{hosts: tr.hosts, name: "dead-again", waits: []machine{}}
	next := again.begin(t).wait(t)
	again.whole(t, next)
	if said := strings.Join(strings.Fields(next.errors), " "); !strings.Contains(said, "h1, h2: still at run ") {
		t.Errorf("the next run does not say where the hosts are: %s", next.errors)
	}
	pid := "systemctl show -p MainPID --value hark-agent"
	m := machine("h1")
	old, since := m.sh(t, pid), m.sh(t, "stat -c %Y "+tr.at())
	m.sh(t, "systemctl reload hark-agent")
	for _, m := range tr.hosts {
		await(t, "the lease is over", func() bool {
			said := m.sh(t, "journalctl -u hark-agent --no-pager --since @"+since)
			return strings.Contains(said, "the controller has gone away") && (m == "h2" || strings.Contains(said, "agent to end when it has nothing to do"))
		})
	}
	if now := m.sh(t, pid); now != old {
		t.Error("the agent ended in the middle of a task")
	}
	tr.release(t, tr.hosts...)
	await(t, "the agent is a new one", func() bool {
		now := m.sh(t, pid)
		return now != old && now != "0"
	})
	present(t, tr.hosts...)
	for _, m := range tr.hosts {
		if lines := tr.lines(t, m); strings.Join(lines, " ") != "one two stand" {
			t.Errorf("%s did %v without a controller", m, lines)
		}
	}
}

// TestAHostThatIsLostWhereThatIsIgnoredGoesOn: as in Ansible, which connects anew for the next task.
func TestAHostThatIsLostWhereThatIsIgnoredGoesOn(t *testing.T) {
	tr := trace{hosts: fleetOf(t, 3), name: "pardoned", waits: []machine{"h2"}}
	tr.stand = fmt.Sprintf("      shell: \"echo stand >>%s; touch %s; while [ ! -e %s ]; do sleep 0.1; done\"\n      ignore_unreachable: true\n", tr.file(), tr.at(), tr.leave())
	p := tr.begin(t)
	tr.standing(t, "h2")
	machine("h2").sh(t, "pkill -KILL -x hark-agent")
	got := p.wait(t)
	if got.code != 0 || recap(got.out)["h2"] != "ok=6 changed=5 unreachable=0 failed=0 skipped=0 rescued=0 ignored=1" {
		t.Errorf("exit code %d, recap of h2: %s", got.code, recap(got.out)["h2"])
	}
	tr.told(t, got, []machine{"h1", "h3"}, nil)
	tr.release(t, "h2")
	if lines := tr.lines(t, "h2"); !slices.Equal(lines, steps) {
		t.Errorf("h2 did %v", lines)
	}
}
