package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
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

// errSkipped is a work that was not asked for.
var errSkipped = errors.New("it was not asked for")

// lockstep is how many tasks the work in lockstep has.
const lockstep = 20

func works() []work {
	return []work{
		{"first ping", 1, ping},
		{"ping", 1, ping},
		{"20 tasks in lockstep", lockstep, tasks},
		{"idle, 20 s", 0, idle},
		{"broker restarted", 1, storm},
		{"a file for all", 1, file},
	}
}

// ping is a broadcast. Its sum must name every agent.
func ping(ctx context.Context, s *site) (cost, error) {
	c, out, err := s.measureRun(ctx, "run", "-i", s.path("inventory"), "all", "--summary", "-m", "ping")
	if want := fmt.Sprintf("%d hosts expected: %d ok = %d\n", s.agents, s.agents, s.agents); err == nil &&
		!strings.HasSuffix(out, want) {
		err = fmt.Errorf("the sum is not right: %s", out[max(0, len(out)-400):])
	}
	return c, err
}

// tasks is a play in which all hosts wait for each other at each task. Every result must be there, and every line of
// the recap.
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

// file copies one file to a place of each agent's own. Every copy must be the file.
func file(ctx context.Context, s *site) (cost, error) {
	if s.file == 0 {
		return cost{}, errSkipped
	}
	data := make([]byte, s.file<<20)
	_, _ = rand.Read(data) // never fails
	sum := sha256.Sum256(data)
	to := s.path("copies")
	if err := errors.Join(os.Mkdir(to, 0o700), os.WriteFile(s.path("file"), data, 0o600)); err != nil {
		return cost{}, err
	}
	c, out, err := s.measureRun(ctx, "run", "-i", s.path("inventory"), "all", "--summary", "-m", "copy", "-a",
		"src="+s.path("file")+" dest="+to+"/{{ inventory_hostname }}")
	if want := fmt.Sprintf("%d changed = %d\n", s.agents, s.agents); err == nil && !strings.HasSuffix(out, want) {
		err = fmt.Errorf("the sum is not right: %s", out[max(0, len(out)-400):])
	}
	for i := 1; i <= s.agents && err == nil; i++ {
		var copied []byte
		if copied, err = os.ReadFile(fmt.Sprintf("%s/s%d", to, i)); err == nil && sha256.Sum256(copied) != sum {
			err = fmt.Errorf("the file of s%d is another one", i)
		}
	}
	return c, errors.Join(err, os.RemoveAll(to))
}

// idle is what it costs that nothing is done.
func idle(ctx context.Context, s *site) (cost, error) {
	return s.around(func() error { return wait(ctx, 20*time.Second) })
}

// storm kills the broker, starts it again, and waits until all agents are back: a broadcast that is begun when all
// are connected counts them.
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

// back waits until as many connections as before are there, and each has been let in: the broker has no more to do
// than idle agents cost it.
func (s *site) back(ctx context.Context) error {
	before, idle := time.Duration(-1), time.Second/100+time.Duration(s.agents)*4*time.Microsecond
	return until(ctx, max(3*time.Minute, s.limit), moment, func() bool {
		now := spent(s.broker.Process.Pid)
		quiet := before >= 0 && now-before <= idle
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
	wrote := int64(0)
	c, err := s.around(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		for {
			wrote = max(wrote, written(cmd.Process.Pid))
			select {
			case err := <-done:
				return err
			case <-time.After(20 * time.Millisecond): // what it writes at its very end is not counted
			}
		}
	})
	c.controllerWrote = wrote
	if err != nil {
		return c, "", fmt.Errorf("%w: %s%s", err, out.String()[max(0, out.Len()-1000):],
			errs.String()[max(0, errs.Len()-1000):])
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
