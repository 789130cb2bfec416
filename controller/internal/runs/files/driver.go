package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"hark/agent/atomicfile"
	"hark/controller/internal/runs/record"
)

// Driver is the process that drives a run on this machine.
type Driver struct {
	PID int `json:"pid"`
	// Boot identifies the boot of the machine: after another boot the pid means nothing.
	Boot string `json:"boot,omitempty"`
}

// boot identifies this boot of the machine, "" where the kernel does not.
func boot() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// ErrNotHere says that no process of this machine drives the run.
var ErrNotHere = errors.New("no process of this machine drives it")

// Stop interrupts the process that drives a run, as Ctrl-C at its terminal does.
func (s *Store) Stop(run string) error {
	month, err := s.month(run)
	if err != nil {
		return err
	}
	f, err := os.Open(s.path(month, run, recordExt))
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := os.ReadFile(s.path(month, run, driverExt))
	if errors.Is(err, fs.ErrNotExist) || !written(f) {
		return fmt.Errorf("cannot stop run %s: %w", run, ErrNotHere)
	}
	var d Driver
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || d.PID <= 0 || d.Boot != boot() {
		return fmt.Errorf("cannot stop run %s: %w", run, ErrNotHere)
	}
	process, err := os.FindProcess(d.PID)
	if err != nil {
		return fmt.Errorf("cannot stop run %s: %w", run, ErrNotHere)
	}
	defer func() { _ = process.Release() }()
	if !written(f) { // it ended meanwhile, and its pid may be another process's
		return fmt.Errorf("cannot stop run %s: %w", run, ErrNotHere)
	}
	return process.Signal(os.Interrupt)
}

// Pin keeps a run for ever, or no longer.
func (s *Store) Pin(run string, keep bool) error {
	month, err := s.month(run)
	if err != nil {
		return err
	}
	path := s.path(month, run, keepExt)
	if keep {
		return os.WriteFile(path, nil, 0o600)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Limit writes hosts to a file beside the record of a run, for --limit @FILE, and returns its path.
func (s *Store) Limit(run string, hosts []string) (string, error) {
	month, err := s.month(run)
	if err != nil {
		return "", err
	}
	path := s.path(month, run, limitExt)
	return path, atomicfile.WriteLoose(path, []byte(strings.Join(hosts, "\n")+"\n"))
}

// stateOf returns the state of a run whose record has no foot.
func stateOf(f *os.File) record.State {
	if written(f) {
		return record.Running
	}
	return record.Lost
}
