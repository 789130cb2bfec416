package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent"
	"hark/agent/atomicfile"
	"hark/agent/internal/store"
	"hark/agent/version"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/modules/treesync"
)

// An upgrade: the new program is tried, takes the place of the old one, and a guard (the old program, as a process of
// its own) waits for the new agent to reach the broker. If it does not in time, the guard puts the old program back
// and starts it.
//
//	pulled -> tried -> in place -> [agent idle, ends] -> started -> at the broker: confirmed
//	  |         |                                          |
//	  +---------+--> as before                             +-- not in a minute: old program back, started
const (
	// confirmLimit is how long the new agent may take from the end of the old one until it is at the broker.
	confirmLimit = 60 * time.Second
	// trialLimit is how long the new program may take to try itself.
	trialLimit = 30 * time.Second
	// markFile, in the state directory, stands for an upgrade that is not confirmed.
	markFile = "upgrade.json"
)

// mark is what markFile holds.
type mark struct {
	Version int       `json:"version"`
	Program string    `json:"program"`
	Kept    string    `json:"kept"` // the old program
	From    string    `json:"from"`
	To      string    `json:"to"`
	Made    time.Time `json:"made"`
}

// upgrader replaces the program of a running agent.
type upgrader struct {
	settings settings
	config   string
	busy     func() bool
	retire   func() // makes the agent end when it is idle
	log      zerolog.Logger
}

// upgrade implements agent.Upgrade.
func (u *upgrader) upgrade(ctx context.Context, r io.Reader, want wire.Upgrade) (wire.Upgraded, error) {
	out := wire.Upgraded{From: version.String(), To: want.Version}
	program, err := os.Executable()
	if err != nil {
		return out, err
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return out, err
	}
	if program == packagedPath {
		return out, errors.New("the agent was installed by a package: upgrade that")
	}
	// What counts is the program that runs; the file may be newer, and wait for this process to end.
	there, err := treesync.Sum(program)
	waits := err == nil && there == want.Digest
	m, open := u.underWay()
	switch {
	case waits && running() == want.Digest:
		out.Same = true
		return out, nil
	case waits: // for this process to end
		if out.To = m.To; !open {
			if out.To, err = u.try(ctx, program, want); err != nil {
				return out, fmt.Errorf("the new agent does not work on this host: %w", err)
			}
		}
		out.Busy = u.busy()
		u.log.Info().Str("to", out.To).Msg("the new agent is there already, and begins when there is nothing to do")
		u.retire()
		return out, nil
	case open:
		return out, fmt.Errorf("another upgrade is under way, to version %s: it waits for the agent to have nothing to do",
			m.To)
	}
	next, err := atomicfile.Stage(program, r, 0o755)
	if err != nil {
		return out, fmt.Errorf("cannot store the new agent: %w", err)
	}
	defer os.Remove(next)
	if out.To, err = u.try(ctx, next, want); err != nil {
		return out, fmt.Errorf("the new agent does not work on this host: %w", err)
	}
	m = mark{Version: 1, Program: program, Kept: program + ".before", From: version.String(), To: out.To, Made: time.Now()}
	if err := u.swap(next, m); err != nil {
		return out, fmt.Errorf("cannot put the new agent in its place: %w", err)
	}
	out.Busy = u.busy()
	u.log.Info().Str("from", version.String()).Str("to", out.To).
		Msg("agent upgraded: the new one begins when there is nothing to do")
	u.retire()
	return out, nil
}

// underWay returns the upgrade that is not confirmed, if there is one.
func (u *upgrader) underWay() (m mark, open bool) {
	text, err := os.ReadFile(filepath.Join(u.settings.StateDir, markFile))
	if err == nil {
		_ = json.Unmarshal(text, &m) // it is under way, whatever it says
	}
	return m, err == nil
}

// running returns the digest of the program of this process, "" if that cannot be known.
func running() string {
	digest, err := treesync.Sum("/proc/self/exe")
	if err != nil {
		return ""
	}
	return digest
}

// try lets the new program try itself: that it runs here, is what it should be, can use the configuration and the
// state, and is let in by the broker. It gives its version.
func (u *upgrader) try(ctx context.Context, next string, want wire.Upgrade) (is string, err error) {
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	s := u.settings
	args := []string{"selftest", "--name", s.Name, "--broker", s.Broker, "--state-dir", s.StateDir}
	if s.Creds != "" {
		args = append(args, "--credentials", s.Creds)
	}
	if s.CA != "" {
		args = append(args, "--ca", s.CA)
	}
	for _, key := range s.Operators {
		args = append(args, "--operator", key)
	}
	if u.config != "" {
		args = append(args, "--config", u.config)
	}
	cmd := exec.CommandContext(ctx, next, args...)
	out, err := cmd.CombinedOutput()
	said := strings.TrimSpace(string(out))
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it does not end within %s", trialLimit)
	case err != nil && said != "":
		return "", errors.New(said)
	case err != nil:
		return "", err
	case want.Version != "" && said != want.Version:
		return "", fmt.Errorf("it is version %q and not %q", said, want.Version)
	}
	return said, nil
}

// swap puts the new program in the place of the old one, under guard.
func (u *upgrader) swap(next string, m mark) error {
	_ = os.Remove(m.Kept)
	if err := os.Link(m.Program, m.Kept); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := filepath.Join(u.settings.StateDir, markFile)
	if err := atomicfile.Write(path, append(text, '\n')); err != nil {
		return errors.Join(err, os.Remove(m.Kept))
	}
	undo := func(err error) error { return errors.Join(err, os.Remove(path), os.Remove(m.Kept)) }
	if err := os.Rename(next, m.Program); err != nil {
		return undo(err)
	}
	if err := u.guard(m); err != nil {
		return errors.Join(err, os.Rename(m.Kept, m.Program), os.Remove(path))
	}
	return nil
}

// guard starts the guard, which outlives this agent.
func (u *upgrader) guard(m mark) error {
	cmd := exec.Command(m.Kept, append([]string{"guard", u.settings.StateDir, fmt.Sprint(os.Getpid()), "--"},
		os.Args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// confirm ends an upgrade: the agent that calls it is at the broker.
func confirm(dir string, log zerolog.Logger) {
	path := filepath.Join(dir, markFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		drop(dir, log)
		return
	}
	var m mark
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	self, serr := os.Executable()
	if digestSame(self, m.Kept) { // the old program, whose end is not there yet
		return
	}
	if err = errors.Join(err, serr); err == nil {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			return // two connections, one confirmation
		}
	}
	if err != nil {
		log.Error().AnErr("cause", err).Msg("cannot confirm the upgrade")
		return
	}
	log.Info().Str("from", m.From).Str("to", version.String()).Msg("upgrade confirmed: this agent is at the broker")
	drop(dir, log)
}

// drop drops what a program before this one would need of the state directory to come back.
func drop(dir string, log zerolog.Logger) {
	if err := store.DropBefore(dir); err != nil {
		log.Warn().AnErr("cause", err).Msg("cannot drop the state of the agent before this one")
	}
}

// digestSame reports whether the running program is the one at path.
func digestSame(self, path string) bool {
	a, err1 := treesync.Sum("/proc/self/exe")
	if err1 != nil {
		a, err1 = treesync.Sum(self)
	}
	b, err2 := treesync.Sum(path)
	return err1 == nil && err2 == nil && a == b
}

// selftestCommand is what an upgrade runs of the new program.
func selftestCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{Use: "selftest", Hidden: true, Args: cobra.NoArgs,
		Short: "Try whether this program could serve this host"}
	file := s.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := s.complete(*file); err != nil {
			return err
		}
		identity, err := agent.ReadIdentity(s.StateDir)
		if err != nil {
			return err
		}
		if err := agent.CheckState(s.StateDir); err != nil {
			return err
		}
		secure, err := s.tls()
		if err != nil {
			return err
		}
		bus, err := nats.Dial(cmd.Context(), nats.Config{
			URL: s.Broker, ID: identity.ID(), Name: "hark-agent selftest " +
				s.Name, Identity: identity, Credentials: s.Creds, JWT: s.jwt(),
			TLS: secure, Timeout: 10 * time.Second, Logger: zerolog.Nop(),
		})
		if err != nil {
			return fmt.Errorf("the broker does not let it in: %w", err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), version.String())
		return bus.Close()
	}
	return cmd
}
