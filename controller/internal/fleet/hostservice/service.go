// Package hostservice installs programs of hark's as services of this machine, which systemd runs as users of their
// own, and removes them.
package hostservice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/kardianos/service"

	"hark/modules/nss"
)

// Service is a program that shall run.
type Service struct {
	// Name is that of the service and of its user; Description says what it is.
	Name, Description string
	// Program and Arguments are what systemd starts.
	Program   string
	Arguments []string
	// Credentials are files of root's that the service may read, each behind a flag.
	Credentials []Credential
	// Data is its directory, an absolute path; it is given to the service's user. Mark is a file in it by which it is
	// known as the service's own.
	Data, Mark string
	// Stale is a file in Data that tells of the service that was there before, "" for none.
	Stale string
	// Reads are files and directories elsewhere that the service's user reads, absolute paths.
	Reads []string
	// Listen is where it listens, "" for nowhere.
	Listen string
	// Plain is set for a program that may end by itself: it is started again only if it failed.
	Plain bool
}

// Credential is a file whose path the program takes behind a flag.
type Credential struct{ Flag, Path string }

// Install makes and starts the service, in place of the one that is there.
func (s Service) Install(ctx context.Context) error {
	m, err := s.manager(s.unit())
	if err != nil {
		return err
	}
	if installed(m, s.unitFile()) { // its flags may have changed
		if err := remove(m); err != nil {
			return fmt.Errorf("cannot replace the service: %w", err)
		}
	}
	if err := s.handOver(ctx); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if err := m.Install(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if err := m.Start(); err != nil {
		return fmt.Errorf("cannot start the service (see journalctl -u %s): %w", s.Name, err)
	}
	return nil
}

// unitFile returns where the unit lies.
func (s Service) unitFile() string { return filepath.Join("/etc/systemd/system", s.Name+".service") }

// installed reports whether there is a unit. To systemd a service that has failed is failed still when its unit is
// gone: only the file tells.
func installed(m service.Service, unitFile string) bool {
	_, err := m.Status()
	if err == nil || errors.Is(err, service.ErrNotInstalled) {
		return err == nil
	}
	_, err = os.Stat(unitFile)
	return err == nil
}

// Command returns a command that the service's user runs, with the service's directory as home. Root may start it.
func (s Service) Command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	u, err := nss.UserNamed(s.Name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME="+s.Data)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}}
	cmd.WaitDelay = time.Second
	return cmd, nil
}

// Remove stops the service and removes it; its directory stays. It says no if there was none.
func (s Service) Remove() (was bool, err error) {
	if err := Allowed(); err != nil {
		return false, fmt.Errorf("cannot remove the service: %w", err)
	}
	m, err := s.manager("")
	if err != nil {
		return false, err
	}
	if !installed(m, s.unitFile()) {
		return false, nil
	}
	if err := remove(m); err != nil {
		return false, fmt.Errorf("cannot remove the service: %w", err)
	}
	return true, nil
}

// Allowed explains why this process cannot change services.
func Allowed() error {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return errors.New("this machine has no systemd: run the command without install under its service manager")
	}
	if os.Geteuid() != 0 {
		return errors.New("that needs root")
	}
	return nil
}

// manager returns the service as the service manager knows it. unit gives its text.
func (s Service) manager(unit string) (service.Service, error) {
	m, err := service.New(serviceOnly{}, &service.Config{
		Name: s.Name, DisplayName: s.Name, Description: s.Description, Option: service.KeyValue{"SystemdScript": unit},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the service manager: %w", err)
	}
	return m, nil
}

// serviceOnly is a service that does nothing by itself: systemd runs the command run.
type serviceOnly struct{}

func (serviceOnly) Start(service.Service) error { return nil }
func (serviceOnly) Stop(service.Service) error  { return nil }

// remove stops a service and removes it, if it is there.
func remove(s service.Service) error {
	stopped := s.Stop() // in vain if it does not run
	if err := s.Uninstall(); err != nil && !errors.Is(err, service.ErrNotInstalled) {
		return errors.Join(err, stopped)
	}
	return nil
}
