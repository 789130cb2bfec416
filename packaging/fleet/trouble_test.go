//go:build fleet

package fleet

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTenHostsInLockstep is the course of things without trouble.
func TestTenHostsInLockstep(t *testing.T) {
	tr := trace{hosts: fleetOf(t, size), name: "calm", waits: []machine{"h3"}}
	p := tr.begin(t)
	tr.standing(t, "h3")
	if lines := tr.lines(t, "h1"); len(lines) > 3 {
		t.Errorf("h1 did %v while h3 was at the third", lines)
	}
	tr.release(t, "h3")
	tr.whole(t, p.wait(t))
}

// TestBrokerRestartsDuringThePlay: the same agents and controller go on when it is back.
func TestBrokerRestartsDuringThePlay(t *testing.T) {
	tr := trace{hosts: fleetOf(t, size), name: "broker"}
	p := tr.begin(t)
	tr.standing(t, tr.hosts...)
	site.control.stopBroker()
	tr.release(t, tr.hosts...)
	if err := site.control.startBroker(); err != nil {
		t.Fatal(err)
	}
	tr.whole(t, p.wait(t))
	present(t, tr.hosts...)
}

// TestHostIsCutOffAndHealed: what happened meanwhile is told when the host is back.
func TestHostIsCutOffAndHealed(t *testing.T) {
	for _, link := range []string{"", "--link"} {
		t.Run("cut"+link, func(t *testing.T) {
			tr := trace{hosts: fleetOf(t, 4), name: "cut" + link, waits: []machine{"h2"}}
			answers(t, tr.hosts...)
			p := tr.begin(t)
			tr.standing(t, "h2")
			m := machine("h2")
			m.verb(t, "cut", strings.Fields(link)...)
			t.Cleanup(func() { m.verb(t, "heal") })
			tr.release(t, "h2")
			await(t, "the task on h2 is done", func() bool {
				_, err := m.try(nil, "test -e "+tr.left())
				return err == nil
			})
			m.verb(t, "heal")
			tr.whole(t, p.wait(t))
		})
	}
}

// TestHostThatStaysAwayIsLost: the others go through; the host is told of as unreachable, once, and is there again
// later.
func TestHostThatStaysAwayIsLost(t *testing.T) {
	tr := trace{hosts: fleetOf(t, 4), name: "away", waits: []machine{"h2"}}
	p := tr.begin(t)
	tr.standing(t, "h2")
	m := machine("h2")
	m.verb(t, "cut")
	t.Cleanup(func() { m.verb(t, "heal") })
	tr.release(t, "h2")
	got := p.wait(t)
	if got.code != 4 {
		t.Errorf("exit code %d, want 4", got.code)
	}
	tr.told(t, got, []machine{"h1", "h3", "h4"}, []machine{"h2"})
	m.verb(t, "heal")
	answers(t, m)
	tr.once(t, got, "h2")
	again := trace{hosts: tr.hosts, name: "away-again", waits: []machine{}}
	again.whole(t, again.begin(t).wait(t))
}

// TestPowerCut: a host that loses power leaves the play; what it had begun is not run again when it is back.
func TestPowerCut(t *testing.T) {
	tr := trace{hosts: fleetOf(t, 4), name: "power", waits: []machine{"h2"}}
	p := tr.begin(t)
	tr.standing(t, "h2")
	m := machine("h2")
	m.verb(t, "kill")
	m.verb(t, "boot")
	got := p.wait(t)
	if got.code != 4 || !strings.Contains(got.out, "whether this task was done is not known") {
		t.Errorf("exit code %d, want 4 and the reason", got.code)
	}
	tr.told(t, got, []machine{"h1", "h3", "h4"}, []machine{"h2"})
	tr.once(t, got, "h2")
	present(t, m)
}

// TestRestartsDuringAPlayCostNothing: the agent is restarted in the middle of a task, twice, by a task of the play, and
// once more with another program; each time the play goes on, and nothing runs twice.
func TestRestartsDuringAPlayCostNothing(t *testing.T) {
	hosts := fleetOf(t, 4)
	m := hosts[1]
	for name, restart := range map[string]string{
		"restart":  "systemctl restart hark-agent",
		"again":    "systemctl restart hark-agent; sleep 1; systemctl restart hark-agent",
		"upgrade":  "cp /usr/bin/hark-agent /usr/bin/hark-agent.new && mv /usr/bin/hark-agent.new /usr/bin/hark-agent && systemctl restart hark-agent",
		"stopping": "systemctl stop hark-agent; sleep 3; systemctl start hark-agent",
	} {
		t.Run(name, func(t *testing.T) {
			tr := trace{hosts: hosts, name: "restart-" + name, waits: []machine{m}}
			p := tr.begin(t)
			tr.standing(t, m)
			m.sh(t, restart)
			present(t, m)
			tr.release(t, m)
			tr.whole(t, p.wait(t))
		})
	}
	t.Run("by a task", func(t *testing.T) {
		tr := trace{hosts: hosts, name: "restart-task", waits: []machine{}}
		tr.stand = "      shell: echo stand >>" + tr.file() + "; systemctl restart hark-agent; sleep 1\n"
		tr.whole(t, tr.begin(t).wait(t))
	})
	await(t, "the processes of before are gone", func() bool { return m.sh(t, "pgrep -c -x hark-agent") == "2" })
}

// TestAgentEndsDuringThePlay: killed: the host leaves the play, with the reason, and nothing runs twice.
func TestAgentEndsDuringThePlay(t *testing.T) {
	hosts := fleetOf(t, 4)
	for name, end := range map[string]func(t *testing.T, m machine){
		"killed": func(t *testing.T, m machine) { m.sh(t, "pkill -KILL -x hark-agent") },
		"killed-by-main": func(t *testing.T, m machine) {
			m.sh(t, "kill -KILL $(systemctl show hark-agent -p MainPID --value)")
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := trace{hosts: hosts, name: name, waits: []machine{"h2"}}
			p := tr.begin(t)
			tr.standing(t, "h2")
			end(t, "h2")
			got := p.wait(t)
			if got.code != 4 {
				t.Errorf("exit code %d, want 4", got.code)
			}
			tr.told(t, got, []machine{"h1", "h3", "h4"}, []machine{"h2"})
			tr.once(t, got, "h2")
			present(t, "h2")
			again := trace{hosts: hosts, name: name + "-again", waits: []machine{}}
			again.whole(t, again.begin(t).wait(t))
		})
	}
}

// TestControllerIsKilledAndRunAgain: the agents end the step in hand and stop; the next run is as if nothing had been.
func TestControllerIsKilledAndRunAgain(t *testing.T) {
	tr := trace{hosts: fleetOf(t, 4), name: "controller"}
	p := tr.begin(t)
	tr.standing(t, tr.hosts...)
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	tr.release(t, tr.hosts...)
	again := trace{hosts: tr.hosts, name: "controller-again", waits: []machine{}}
	again.whole(t, again.begin(t).wait(t))
	for _, m := range tr.hosts {
		if lines := tr.lines(t, m); strings.Join(lines, " ") != "one two stand" {
			t.Errorf("%s did %v without a controller", m, lines)
		}
	}
}

// TestFarHosts: a round trip of 50 ms makes the play slower and changes nothing else.
func TestFarHosts(t *testing.T) {
	hosts := fleetOf(t, 4)
	for _, m := range hosts {
		m.verb(t, "delay", "50ms")
	}
	t.Cleanup(func() {
		for _, m := range hosts {
			m.verb(t, "delay", "0")
		}
	})
	tr := trace{hosts: hosts, name: "far", waits: []machine{}}
	began := time.Now()
	tr.whole(t, tr.begin(t).wait(t))
	t.Logf("%d tasks on %d hosts in %s", len(steps), len(hosts), time.Since(began).Round(time.Millisecond))
}

// TestStateDirectoryIsFull: nothing is begun that could not be noted; the host says why, and is well when there is
// room.
func TestStateDirectoryIsFull(t *testing.T) {
	hosts := fleetOf(t, 3)
	m := machine("h2")
	m.sh(t, `systemctl stop hark-agent && cp -a /var/lib/hark /root/state && mount -t tmpfs -o size=1m,mode=700 tmpfs /var/lib/hark &&
		cp -a /root/state/. /var/lib/hark/ && systemctl start hark-agent && { cat /dev/zero >/var/lib/hark/ballast 2>/dev/null || true; }`)
	t.Cleanup(func() {
		m.sh(t, "systemctl stop hark-agent; umount /var/lib/hark; rm -rf /root/state; systemctl start hark-agent")
		present(t, m)
	})
	present(t, hosts...)
	tr := trace{hosts: hosts, name: "full", waits: []machine{}}
	got := tr.begin(t).wait(t)
	if !strings.Contains(got.out, "no space left on device") {
		t.Error("the play does not say that the disk is full")
	}
	tr.told(t, got, []machine{"h1", "h3"}, nil)
	if lines := tr.lines(t, m); len(lines) != 0 {
		t.Errorf("%s did %v and could not note it", m, lines)
	}
	m.sh(t, "rm /var/lib/hark/ballast")
	again := trace{hosts: hosts, name: "room-again", waits: []machine{}}
	again.whole(t, again.begin(t).wait(t))
}
