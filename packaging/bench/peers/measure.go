package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// cost is what one play took.
type cost struct {
	Wall time.Duration
	// Controller is the processor time of the command and what it waited for, Machine that of the whole machine.
	Controller, Machine time.Duration
	// Bytes is what went over the network, Memory the most that a process of the command had, in KB.
	Bytes, Memory int64
	// Cut: it did not end in time, and was cut off.
	Cut bool
}

// seconds is the wall time as a figure.
func (c cost) seconds() string {
	if c.Cut {
		return fmt.Sprintf("> %.0f", c.Wall.Seconds())
	}
	return fmt.Sprintf("%.2f", c.Wall.Seconds())
}

// measure plays a work with a tool on that many hosts, and cuts it off when it takes longer than the limit.
func (s *site) measure(ctx context.Context, w work, t tool, hosts int, limit time.Duration) (cost, error) {
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
	if err := s.use(hosts, t); err != nil {
		return cost{}, err
	}
	if w.twice {
		if c, err := s.play(ctx, t, limit); err != nil || c.Cut {
			return c, err
		}
	}
	return s.play(ctx, t, limit)
}

// play plays the playbook once.
func (s *site) play(ctx context.Context, t tool, limit time.Duration) (cost, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append(t.command[1:len(t.command):len(t.command)], filepath.Join(s.dir, "play.yml"))
	cmd := exec.CommandContext(limited, t.command[0], args...)
	cmd.Env, cmd.Dir = s.environ(t.env...), s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its forks
	bytes, machine, began := received(), busy(), time.Now()
	out, err := cmd.CombinedOutput()
	c := cost{Wall: time.Since(began), Machine: busy() - machine, Bytes: received() - bytes}
	if cmd.ProcessState == nil {
		return c, err
	}
	c.Controller = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.Memory = u.Maxrss
	}
	if c.Cut = err != nil && limited.Err() != nil && ctx.Err() == nil; c.Cut {
		time.Sleep(2 * time.Second) // what it left on its hosts ends
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w: %s", t.name, err, tail(out))
	}
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
	// 0 if it is none
	_, _ = fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft)
	// USER_HZ is 100 on all that hark runs on
	const tick = 10 * time.Millisecond
	return time.Duration(user+nice+system+irq+soft) * tick
}
