package cli

import (
	"errors"
	"fmt"
	"hark/controller/internal/argparse"
	"os"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"
)

func (a *app) brokerUninstall() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Stop the broker's service and remove it; keys and data stay", Args: argparse.NoArgs,
		Long: "Stops the service that `hark broker install` has made and removes it. The directory with its keys, certificates and the book of agents " +
			"stays: installed again, the broker is the one that agents and operators know. It needs root.",
	}
	a.baseFlags(argparse.NewFlags(cmd.Flags()), &o)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, &o); err != nil {
			return err
		}
		return a.uninstallBroker()
	}
	return cmd
}

func (a *app) uninstallBroker() error {
	if err := canInstall(); err != nil {
		return fmt.Errorf("cannot remove the service: %w", err)
	}
	s, err := brokerService("")
	if err != nil {
		return err
	}
	if _, err := s.Status(); errors.Is(err, service.ErrNotInstalled) {
		fmt.Fprintln(a.term.Out, "the broker is not installed as a service")
		return nil
	}
	if err := removeService(s); err != nil {
		return fmt.Errorf("cannot remove the service: %w", err)
	}
	fmt.Fprintln(a.term.Out, "the broker's service is removed; its directory stays")
	return nil
}

// removeService stops a service and removes it, if it is there.
func removeService(s service.Service) error {
	stopped := s.Stop() // in vain if it does not run
	if err := s.Uninstall(); err != nil && !errors.Is(err, service.ErrNotInstalled) {
		return errors.Join(err, stopped)
	}
	return nil
}

// canInstall tells why this process cannot change services.
func canInstall() error {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return errors.New("this machine has no systemd: run `hark broker run` under its service manager")
	}
	if os.Geteuid() != 0 {
		return errors.New("that needs root")
	}
	return nil
}
