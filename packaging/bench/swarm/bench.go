package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench measures with some numbers of agents, one after the other.
type bench struct {
	sizes, bin, page, only, profile string
	// limit is how long a work may take; one that takes longer is given up, with what is left for its number of agents.
	limit time.Duration
	// file is how many MB the file has that all agents get; 0 is none.
	file int
	// record is what the page has, by row.key.
	record map[string]string
}

// row is what one work took with a number of agents.
type row struct {
	agents, results int
	work            string
	cost
}

func (b bench) run(ctx context.Context) (err error) {
	if b.bin, err = filepath.Abs(b.bin); err != nil {
		return err
	}
	b.record = readRecord(docs)
	var rows []row
	for text := range strings.SplitSeq(b.sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("--scale: %q is no number of agents", text)
		}
		more, err := b.measure(ctx, n)
		if err != nil {
			return fmt.Errorf("with %d agents: %w", n, err)
		}
		rows = append(rows, more...)
	}
	return b.write(rows)
}

// measure does all works with n agents of their own, behind a broker of their own.
func (b bench) measure(ctx context.Context, n int) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "hark-scale-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := &site{bench: b, dir: dir, agents: n}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	for _, w := range works() {
		if !b.wants(w) {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, b.limit)
		c, err := w.do(limited, s)
		late := limited.Err() != nil && ctx.Err() == nil
		cancel()
		r := row{agents: n, results: n * w.tasks, work: w.name, cost: c}
		switch {
		case errors.Is(err, errSkipped):
			continue
		case late: // the agents may still be at it
			r.work = fmt.Sprintf("%s: not done within %s", w.name, b.limit)
			return append(rows, r), nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s\n%s", r, b.record[r.key()])
		rows = append(rows, r)
	}
	return rows, nil
}

// wants reports whether a work is among those that were asked for.
func (b bench) wants(w work) bool {
	return slices.ContainsFunc(strings.Split(b.only, ","), func(part string) bool {
		return strings.Contains(w.name, part)
	})
}

// key tells rows of the same from others.
func (r row) key() string { return fmt.Sprintf("| %d | %s |", r.agents, r.work) }

// readRecord reads the rows of a page, by their keys.
func readRecord(path string) map[string]string {
	rows := map[string]string{}
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if cells := strings.SplitN(line, "|", 4); len(cells) == 4 {
			rows[strings.Join(cells[:3], "|")+"|"] = "on record " + line
		}
	}
	return rows
}

// site is a broker with its agents and an operator.
type site struct {
	bench
	dir           string
	agents        int
	url           string
	broker, swarm *exec.Cmd
}

// open starts broker and agents, and waits until all listen.
func (s *site) open(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(s.dir, "home"), 0o700); err != nil {
		return err
	}
	if err := s.startBroker(ctx, "127.0.0.1:0"); err != nil {
		return err
	}
	key, err := s.hark(ctx, "key", "show", "--public").Output()
	if err != nil {
		return fmt.Errorf("cannot make an operator: %w", err)
	}
	var names strings.Builder
	for i := range s.agents {
		fmt.Fprintf(&names, "s%d\n", i+1)
	}
	if err := os.WriteFile(s.path("inventory"), []byte(names.String()), 0o600); err != nil {
		return err
	}
	s.swarm = s.command("/proc/self/exe", "--agents", strconv.Itoa(s.agents), "--broker", s.url, "--operator",
		strings.TrimSpace(string(key)),
		"--data", s.path("broker"), "--known", s.path("home/known_agents"))
	out, err := s.swarm.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.swarm.Start(); err != nil {
		return err
	}
	var said [6]byte
	if _, err := out.Read(said[:]); err != nil {
		return fmt.Errorf("the agents did not come up: %w", err)
	}
	return s.await(ctx, max(2*time.Minute, s.limit))
}

// startBroker starts it and waits until it serves.
func (s *site) startBroker(ctx context.Context, listen string) error {
	_ = os.Remove(s.path("url"))
	s.broker = s.command(filepath.Join(s.bin, "hark"), "broker", "run", "--tls", "--data", s.path("broker"), "--listen",
		listen, "--url-file", s.path("url"))
	s.broker.Stderr = nil // it logs each agent
	if err := s.broker.Start(); err != nil {
		return err
	}
	err := until(ctx, time.Minute, moment, func() bool {
		text, err := os.ReadFile(s.path("url"))
		s.url = strings.TrimSpace(string(text))
		return err == nil && s.url != ""
	})
	if err != nil {
		return fmt.Errorf("the broker did not come up: %w", err)
	}
	return nil
}

// await waits until the roster has all agents as present.
func (s *site) await(ctx context.Context, limit time.Duration) error {
	err := until(ctx, limit, time.Duration(s.agents)*time.Second/5000, func() bool {
		out, err := s.hark(ctx, "agents", "list", "--present").Output()
		return err == nil && strings.Count(string(out), "\ns") >= s.agents
	})
	if err != nil {
		return fmt.Errorf("not all agents are there: %w", err)
	}
	return nil
}

// moment is how often it is looked whether something has come about that costs nothing to look for.
const moment = 100 * time.Millisecond

// until asks again after each pause.
func until(ctx context.Context, limit, pause time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// hark is a command of the operator.
func (s *site) hark(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "hark"), args...)
	cmd.Env, cmd.Dir = s.environ(), s.dir
	return cmd
}

// command is a program that ends with this one.
func (s *site) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stderr = s.environ(), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return cmd
}

func (s *site) environ() []string {
	env := append(os.Environ(), "HARK_HOME="+s.path("home"), "HARK_BROKER="+s.url, "ANSIBLE_CONFIG="+s.path("ansible.cfg"),
		"ANSIBLE_NOCOLOR=1", "HARK_PROFILE=")
	if s.profile != "" {
		env = append(env, "HARK_PROFILE="+s.profile)
	}
	return env
}

// close ends agents and broker.
func (s *site) close() error {
	var err error
	for _, cmd := range []*exec.Cmd{s.swarm, s.broker} {
		if cmd != nil && cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			err = errors.Join(err, cmd.Wait())
		}
	}
	return err
}
