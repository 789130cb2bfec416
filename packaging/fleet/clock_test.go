//go:build fleet

package fleet

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/wire/nats"
	"hark/modules"
	"hark/modules/all"
)

// TestClockIsOffByAnHour: the play goes through on hosts whose clock differs as on the others. All hosts of this
// fleet share one kernel and so one clock: the agents with another one live in this process.
func TestClockIsOffByAnHour(t *testing.T) {
	for name, off := range map[string]time.Duration{"slow": -time.Hour, "fast": time.Hour} {
		t.Run(name, func(t *testing.T) {
			hosts := append(fleetOf(t, 2), machine(name))
			shifted(t, name, off)
			dir := project(t, hosts, map[string]string{"play.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n    - command: 'true'\n"})
			got := site.control.hark(t, dir, "play", "-i", "inventory", "play.yml")
			counts := recap(got.out)
			if len(counts) != len(hosts) || got.code != 0 {
				t.Errorf("exit code %d, recap %v", got.code, counts)
			}
			for _, m := range hosts {
				if counts[string(m)] != "ok=1 changed=1 unreachable=0 failed=0 skipped=0 rescued=0 ignored=0" {
					t.Errorf("recap of %s: %s", m, counts[string(m)])
				}
			}
		})
	}
}

// shifted enrols an agent of this process whose clock is off, and runs it until the test ends.
func shifted(t *testing.T, name string, off time.Duration) {
	t.Helper()
	dir := t.TempDir()
	join := exec.Command(filepath.Join(site.control.bin, "hark-agent"), "join", "--state-dir", dir, "--name", name, "-")
	join.Stdin = bytes.NewReader(site.control.token)
	if out, err := join.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	enrolment, err := agent.ReadEnrolment(dir)
	if err != nil {
		t.Fatal(err)
	}
	secure, err := nats.TLS(enrolment.CA)
	if err != nil {
		t.Fatal(err)
	}
	state, err := agent.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := state.Identity()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bg)
	bus, err := nats.Dial(ctx, nats.Config{URL: enrolment.Broker, ID: identity.ID(), Name: name, Identity: identity, JWT: enrolment.JWT, TLS: secure, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	a := agent.New(agent.Config{
		Transport: bus, Identity: identity, Name: name, Fleet: enrolment.Fleet, Trusted: func(string) bool { return true },
		Modules: modules.NewRegistry(all.Modules()...), State: state, Logger: zerolog.Nop(),
		Now: func() time.Time { return time.Now().Add(off) },
	})
	over := make(chan error, 1)
	go func() { over <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
		bus.Close()
		state.Close()
		site.control.forget(machine(name))
	})
	present(t, machine(name))
}
