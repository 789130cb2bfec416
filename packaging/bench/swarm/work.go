package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// work is something that costs. tasks is how many results it has of each agent.
type work struct {
	name  string
	tasks int
	do    func(context.Context, *site) (cost, error)
}

// lockstep is how many tasks the work in lockstep has.
const lockstep = 20

func works() []work {
	return []work{
		{"first ping", 1, ping},
		{"ping", 1, ping},
		{"20 tasks in lockstep", lockstep, tasks},
		{"idle, 20 s", 0, idle},
		{"broker restarted", 1, storm},
	}
}

// ping is a broadcast. Its sum must name every agent.
func ping(ctx context.Context, s *site) (cost, error) {
	c, out, err := s.measureRun(ctx, "run", "-i", s.path("inventory"), "all", "--summary", "-m", "ping")
	if want := fmt.Sprintf("%d hosts expected: %d ok = %d\n", s.agents, s.agents, s.agents); err == nil && !strings.HasSuffix(out, want) {
		err = fmt.Errorf("the sum is not right: %s", out[max(0, len(out)-400):])
	}
	return c, err
}

// tasks is a play in which all hosts wait for each other at each task. Every result must be there, and every line of the recap.
func tasks(ctx context.Context, s *site) (cost, error) {
	var play strings.Builder
	play.WriteString("- hosts: all\n  gather_facts: false\n  tasks:\n")
	for range lockstep {
		play.WriteString("    - stat: {path: /, get_mime: false}\n")
	}
	if err := os.WriteFile(s.path("play.yml"), []byte(play.String()), 0o600); err != nil {
		return cost{}, err
	}
	c, out, err := s.measureRun(ctx, "play", "-i", s.path("inventory"), s.path("play.yml"))
	results, recaps := strings.Count(out, "\nok: ["), strings.Count(out, fmt.Sprintf(": ok=%d ", lockstep))
	if err == nil && (results != lockstep*s.agents || recaps != s.agents) {
		err = fmt.Errorf("%d results of %d, %d hosts of %d in the recap", results, lockstep*s.agents, recaps, s.agents)
	}
	return c, err
}

// idle is what it costs that nothing is done.
func idle(ctx context.Context, s *site) (cost, error) {
	return s.around(func() error { return wait(ctx, 20*time.Second) })
}

// storm kills the broker, starts it again, and waits until all agents are back: a broadcast that is begun when all are connected counts them.
func storm(ctx context.Context, s *site) (cost, error) {
	_, addr, _ := strings.Cut(s.url, "://")
	if err := s.broker.Process.Kill(); err != nil {
		return cost{}, err
	}
	_ = s.broker.Wait()
	began := time.Now()
	if err := s.startBroker(ctx, addr); err != nil {
		return cost{}, err
	}
	c, err := s.around(func() error { return s.back(ctx) })
	c.wall = time.Since(began)
	if err != nil {
		return c, fmt.Errorf("not all are back: %w", err)
	}
	_, err = ping(ctx, s)
	return c, err
}

// back waits until as many connections as before are there, and each has been let in: the broker has nothing to do any more.
func (s *site) back(ctx context.Context) error {
	before := time.Duration(-1)
	return until(ctx, 3*time.Minute, func() bool {
		now := spent(s.broker.Process.Pid)
		quiet := before >= 0 && now-before <= time.Second/100
		before = now
		return quiet && connections(s.broker.Process.Pid) >= s.agents
	})
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// measureRun measures a command of the operator and gives what it printed.
func (s *site) measureRun(ctx context.Context, args ...string) (cost, string, error) {
	var out, errs bytes.Buffer
	cmd := s.hark(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	c, err := s.around(cmd.Run)
	if err != nil {
		return c, "", fmt.Errorf("%w: %s%s", err, out.String()[max(0, out.Len()-1000):], errs.String()[max(0, errs.Len()-1000):])
	}
	c.controller = times(cmd)
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.controllerKB = u.Maxrss
	}
	return c, out.String(), nil
}

func times(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
