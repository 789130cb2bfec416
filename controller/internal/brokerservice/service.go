// Package brokerservice installs the broker as a service of this machine, which systemd runs as a user of its own, and removes it.
package brokerservice

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/kardianos/service"
)

// Service is the broker that shall run.
type Service struct {
	// Program and Arguments are what systemd starts.
	Program   string
	Arguments []string
	// Data is the broker's directory, an absolute path; it is given to the service's user.
	Data string
	// Listen is where the broker listens.
	Listen string
}

// Install makes and starts the service, in place of the one that is there.
func (s Service) Install(ctx context.Context) error {
	m, err := manager(s.unit())
	if err != nil {
		return err
	}
	if _, err := m.Status(); !errors.Is(err, service.ErrNotInstalled) { // its flags may have changed
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
		return fmt.Errorf("cannot start the service (see journalctl -u hark-broker): %w", err)
	}
	return nil
}

// Remove stops the service and removes it; its directory stays. It says no if there was none.
func Remove() (was bool, err error) {
	if err := Allowed(); err != nil {
		return false, fmt.Errorf("cannot remove the service: %w", err)
	}
	m, err := manager("")
	if err != nil {
		return false, err
	}
	if _, err := m.Status(); errors.Is(err, service.ErrNotInstalled) {
		return false, nil
	}
	if err := remove(m); err != nil {
		return false, fmt.Errorf("cannot remove the service: %w", err)
	}
	return true, nil
}

// Allowed tells why this process cannot change services.
func Allowed() error {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return errors.New("this machine has no systemd: run `hark broker run` under its service manager")
	}
	if os.Geteuid() != 0 {
		return errors.New("that needs root")
	}
	return nil
}

// manager is the broker as the service manager knows it. unit gives its text.
func manager(unit string) (service.Service, error) {
	s, err := service.New(serviceOnly{}, &service.Config{
		Name: "hark-broker", DisplayName: "hark broker", Description: "hark broker: connects operators and agents",
		Option: service.KeyValue{"SystemdScript": unit},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the service manager: %w", err)
	}
	return s, nil
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
