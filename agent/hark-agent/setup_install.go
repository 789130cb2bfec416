package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"hark/agent"
	"hark/agent/atomicfile"
	"hark/agent/wire"
)

// before is what a setup found, and what it has touched since.
type before struct {
	looked    bool // it is known what was there
	state     bool // there was a state directory
	keys      bool // there were keys in it
	binary    bool // there was one; it is kept under another name
	placed    bool
	enrolment *agent.Enrolment
	enrolled  bool
	active    bool // the service ran
	started   bool
}

// kept returns the name of the binary that was there before.
func (s *setup) kept() string { return s.path + ".before" }

// install puts everything in its place and starts the service.
func (s *setup) install(grant wire.SetupGrant) error {
	if !s.current() {
		if err := s.placeBinary(); err != nil {
			return fmt.Errorf("cannot install the agent: %w", err)
		}
	}
	if err := s.enrol(grant); err != nil {
		return err
	}
	s.before.active = systemctl("is-active", "--quiet", unitName) == nil
	s.before.started = true
	// A child does it, since the unit names the binary that installs it.
	if err := run(s.path, "install"); err != nil {
		return err
	}
	s.did = append(s.did, "service")
	return nil
}

// placeBinary copies this binary to its place.
func (s *setup) placeBinary() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_ = os.Remove(s.kept())
	err = os.Link(s.path, s.kept())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.before.binary = err == nil
	if err := copyBinary(self, s.path); err != nil {
		return err
	}
	s.before.placed = true
	s.did = append(s.did, "binary")
	return nil
}

// copyBinary copies a program whole.
func copyBinary(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	staged, err := atomicfile.Stage(to, in, 0o755)
	if err != nil {
		return err
	}
	defer os.Remove(staged) // gone already when all went well
	return os.Rename(staged, to)
}

// enrol keeps the enrolment. Operators that the agent already obeyed stay.
func (s *setup) enrol(grant wire.SetupGrant) error {
	var err error
	if s.before.enrolment, err = agent.ReadEnrolment(s.state); err != nil {
		return err
	}
	operators := slices.Clone(s.request.Operators)
	if had := s.before.enrolment; had != nil {
		operators = append(operators, had.Operators...)
	}
	slices.Sort(operators)
	e := agent.Enrolment{
		Name: s.request.Name, Broker: s.request.Broker, CA: grant.CA, JWT: grant.JWT, Operators: slices.Compact(operators),
		Fleet: s.request.Fleet,
	}
	if err := e.Write(s.state); err != nil {
		return err
	}
	s.before.enrolled = true
	s.did = append(s.did, "enrolment")
	return nil
}

// rollBack makes the host what it was before.
func (s *setup) rollBack() error {
	b := s.before
	var errs []error
	if b.started && !b.active {
		errs = append(errs, run(s.path, "uninstall"))
	}
	if b.enrolled && b.enrolment != nil {
		errs = append(errs, b.enrolment.Write(s.state))
	} else if b.enrolled {
		errs = append(errs, agent.RemoveEnrolment(s.state))
	}
	if b.placed && b.binary {
		errs = append(errs, os.Rename(s.kept(), s.path))
	} else if b.placed {
		errs = append(errs, os.Remove(s.path))
	}
	if b.started && b.active {
		errs = append(errs, systemctl("restart", unitName))
	}
	return errors.Join(append(errs, s.dropState())...)
}

// dropState removes the state that this setup, or the agent that it started, has made.
func (s *setup) dropState() error {
	b := s.before
	switch {
	case !b.looked || b.keys:
		return nil
	case b.state:
		err := os.Remove(filepath.Join(s.state, agent.IdentityFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return os.RemoveAll(s.state)
}

// commit drops what was kept for a rollback.
func (s *setup) commit() { _ = os.Remove(s.kept()) }

// run runs a program; what it says is the error.
func run(path string, args ...string) error {
	out, err := exec.Command(path, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	if said := strings.TrimSpace(string(out)); said != "" {
		return errors.New(strings.TrimPrefix(said, "hark-agent: "))
	}
	return fmt.Errorf("%s %s: %w", path, strings.Join(args, " "), err)
}
