package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// cost is what one play took.
type cost struct {
	Wall time.Duration
	// Controller is the processor time of the command and what it waited for, Machine that of the whole machine.
	Controller, Machine time.Duration
	// Bytes is what went over the network.
	Bytes int64
}

// measure plays a work with a tool on that many hosts.
func (s *site) measure(ctx context.Context, w work, t tool, hosts int) (cost, error) {
	data := filepath.Join(s.dir, "data")
	if err := os.RemoveAll(data); err != nil {
		return cost{}, err
	}
	for n := range hosts {
		if err := os.MkdirAll(filepath.Join(data, host(n)), 0o755); err != nil {
			return cost{}, err
		}
	}
	if err := s.write("play.yml", w.playbook(data), 0o644); err != nil {
		return cost{}, err
	}
	if err := s.use(hosts, t.sshd); err != nil {
		return cost{}, err
	}
	if w.twice {
		if _, err := s.play(ctx, t); err != nil {
			return cost{}, err
		}
	}
	return s.play(ctx, t)
}

// play plays the playbook once.
func (s *site) play(ctx context.Context, t tool) (cost, error) {
	args := append(t.command[1:len(t.command):len(t.command)], filepath.Join(s.dir, "play.yml"))
	cmd := exec.CommandContext(ctx, t.command[0], args...)
	cmd.Env, cmd.Dir = s.environ(t.env...), s.dir
	bytes, machine, began := received(), busy(), time.Now()
	out, err := cmd.CombinedOutput()
	c := cost{Wall: time.Since(began), Machine: busy() - machine, Bytes: received() - bytes}
	if err != nil {
		return c, fmt.Errorf("%s: %w: %s", t.name, err, tail(out))
	}
	c.Controller = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return c, nil
}

func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// received is how many bytes have gone over the loopback of this namespace.
func received() int64 {
	text, _ := os.ReadFile("/proc/self/net/dev")
	for line := range strings.Lines(string(text)) {
		if name, rest, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "lo" {
			var n int64
			_, _ = fmt.Sscan(rest, &n) // 0 if it is none
			return n
		}
	}
	return 0
}

// busy is the processor time that the machine has spent on anything.
func busy() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	var user, nice, system, idle, wait, irq, soft int64
	_, _ = fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft) // 0 if it is none
	const tick = 10 * time.Millisecond                                                                            // USER_HZ is 100 on all that hark runs on
	return time.Duration(user+nice+system+irq+soft) * tick
}
