//go:build fleet

package fleet

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// away is for how long the broker is away: longer than agents may be silent, and as long as a lease.
const away = 60 * time.Second

// TestBrokerIsAwayForAMinute in the middle of a play: killed, or stopped so that its connections look alive. No host
// is lost whose agent is there.
func TestBrokerIsAwayForAMinute(t *testing.T) {
	signal := func(t *testing.T, s syscall.Signal) {
		t.Helper()
		if err := site.control.broker.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	for name, trouble := range map[string]struct{ gone, back func(t *testing.T) }{
		"killed": {func(t *testing.T) { signal(t, syscall.SIGKILL) }, func(t *testing.T) {
			site.control.stopBroker()
			if err := site.control.startBroker(); err != nil {
				t.Fatal(err)
			}
		}},
		"stopped": {func(t *testing.T) { signal(t, syscall.SIGSTOP) }, func(t *testing.T) { signal(t, syscall.SIGCONT) }},
	} {
		t.Run(name, func(t *testing.T) {
			tr := trace{hosts: fleetOf(t, size), name: "minute-" + name}
			p := tr.begin(t)
			tr.standing(t, tr.hosts...)
			trouble.gone(t)
			tr.release(t, tr.hosts[:size/2]...)
			time.Sleep(away) // it is what is tried
			tr.release(t, tr.hosts...)
			trouble.back(t)
			tr.whole(t, p.wait(t))
			present(t, tr.hosts...)
		})
	}
}

// TestPlaySoonAfterARestart: of the broker, and of an agent. The agents are on their way, and are waited for.
func TestPlaySoonAfterARestart(t *testing.T) {
	hosts := fleetOf(t, size)
	for name, restart := range map[string]func(t *testing.T){
		"broker": func(t *testing.T) {
			site.control.stopBroker()
			time.Sleep(20 * time.Second) // so that all agents are in their pauses
			if err := site.control.startBroker(); err != nil {
				t.Fatal(err)
			}
		},
		"agent": func(t *testing.T) {
			machine("h2").sh(t, "systemctl reload hark-agent")
		},
	} {
		t.Run(name, func(t *testing.T) {
			restart(t)
			tr := trace{hosts: hosts, name: "soon-" + name, waits: []machine{}}
			tr.whole(t, tr.begin(t).wait(t))
		})
	}
}

// TestPlayBeginsBeforeTheBrokerIsBack: it is on record, and being started again.
func TestPlayBeginsBeforeTheBrokerIsBack(t *testing.T) {
	tr := trace{hosts: fleetOf(t, 4), name: "before", waits: []machine{}}
	tr.begin(t).wait(t) // clears the hosts
	each(t, tr.hosts, func(m machine) error {
		_, err := m.try(nil, "rm -f "+tr.file())
		return err
	})
	dir := project(t, tr.hosts, map[string]string{"trace.yml": tr.playbook()})
	site.control.stopBroker()
	p := site.control.start(t, dir, "play", "-i", "inventory", "trace.yml")
	time.Sleep(time.Second) // of the service manager, before it starts it again
	if err := site.control.startBroker(); err != nil {
		t.Fatal(err)
	}
	tr.whole(t, p.wait(t))
}

// TestSilentHostIsMissedSoon: its line is cut without a word in the middle of a play; the others go on when it is
// given up.
func TestSilentHostIsMissedSoon(t *testing.T) {
	tr := trace{hosts: fleetOf(t, 4), name: "silent", waits: []machine{"h2"}}
	p := tr.begin(t)
	tr.standing(t, "h2")
	m := machine("h2")
	m.verb(t, "cut")
	began := time.Now()
	t.Cleanup(func() { m.verb(t, "heal") })
	await(t, "h2 is given up", func() bool { return strings.Contains(p.out.String(), "UNREACHABLE!") })
	t.Logf("noticed after %s", time.Since(began).Round(100*time.Millisecond))
	tr.told(t, p.wait(t), []machine{"h1", "h3", "h4"}, []machine{"h2"})
	m.verb(t, "heal")
	answers(t, m)
}
