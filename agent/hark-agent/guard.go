package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/internal/store"
)

// guardCommand is the old program, which waits until the new agent is at the broker: guard STATE PID -- COMMAND...
func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use: "guard", Hidden: true, Args: cobra.MinimumNArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			pid, err := strconv.Atoi(args[1])
			if err != nil {
				return err
			}
			g := guard{mark: filepath.Join(args[0], markFile), old: pid, command: args[2:]}
			return g.watch()
		},
	}
}

type guard struct {
	mark    string
	old     int      // the process of the old agent
	command []string // that started it
	started *exec.Cmd
}

// tick is how often the guard looks.
const tick = 200 * time.Millisecond

// watch waits for the end of the old agent, then for the confirmation of the new one.
func (g *guard) watch() error {
	for syscall.Kill(g.old, 0) == nil {
		if !g.open() {
			return nil
		}
		time.Sleep(tick)
	}
	if !underSystemd() {
		if err := g.start(); err != nil {
			return g.back()
		}
	}
	for until := time.Now().Add(confirmLimit); time.Now().Before(until); time.Sleep(tick) {
		if !g.open() {
			return g.forget()
		}
	}
	return g.back()
}

// open reports whether the upgrade is not confirmed.
func (g *guard) open() bool {
	_, err := os.Stat(g.mark)
	return !errors.Is(err, fs.ErrNotExist)
}

func (g *guard) read() (m mark, err error) {
	text, err := os.ReadFile(g.mark)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// underSystemd reports whether systemd, to which this agent reports its state, starts it again.
func underSystemd() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// start starts the agent, which nobody else does.
func (g *guard) start() error {
	cmd := exec.Command(g.command[0], g.command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	g.started = cmd
	return cmd.Start()
}

// back puts the old program back and has it started.
func (g *guard) back() error {
	m, err := g.read()
	if err != nil {
		return fmt.Errorf("cannot go back to the old agent: %w", err)
	}
	if err := os.Rename(m.Kept, m.Program); err != nil {
		return fmt.Errorf("cannot go back to the old agent: %w", err)
	}
	if err := os.Remove(g.mark); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "hark-agent: version %s was not at the broker within %s: back to %s\n", m.To, confirmLimit,
		m.From)
	if underSystemd() {
		stopped := systemctl("stop", unitName)
		return errors.Join(stopped, g.state(), systemctl("reset-failed", unitName), systemctl("start", unitName))
	}
	if g.started != nil && g.started.Process != nil {
		_ = g.started.Process.Kill()
		_ = g.started.Wait()
	}
	return errors.Join(g.state(), g.start())
}

// state brings the state directory back to what the old program can use.
func (g *guard) state() error { return store.GoBack(filepath.Dir(g.mark)) }

// forget drops the old program.
func (g *guard) forget() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if filepath.Ext(self) == ".before" {
		return os.Remove(self)
	}
	return nil
}
