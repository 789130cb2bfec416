package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"
)

// unit is our own text: that of kardianos/service waits two minutes before a restart and kills every job with the
// agent. Packages install it as it is.
//
//go:embed hark-agent.service
var unit string

// unitName and where units of administrators and of packages are.
const (
	unitName     = "hark-agent.service"
	ownUnit      = "/etc/systemd/system/" + unitName
	packagedPath = "/usr/bin/hark-agent"
)

// packagedUnits are where packages put units, on merged and on older systems.
var packagedUnits = [...]string{"/usr/lib/systemd/system/" + unitName, "/lib/systemd/system/" + unitName}

// idle is a service that does nothing by itself: systemd runs the command run.
type idle struct{}

func (idle) Start(service.Service) error { return nil }
func (idle) Stop(service.Service) error  { return nil }

// agentService returns the agent as the service manager knows it. config is the file that it reads.
func agentService(config string) (service.Service, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this binary: %w", err)
	}
	s, err := service.New(idle{}, &service.Config{
		Name: "hark-agent", DisplayName: "hark agent", Description: "hark agent: runs plans of its operators on this host",
		Executable: self, Arguments: []string{"run", "--config", config},
		Option: service.KeyValue{"SystemdScript": unitFor(self, config)},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the service manager: %w", err)
	}
	return s, nil
}

// unitFor returns the unit with the paths of this host.
func unitFor(self, config string) string {
	standard := "ExecStart=" + packagedPath + " run --config " + defaultConfig
	return strings.Replace(unit, standard, "ExecStart="+unitWord(self)+" run --config "+unitWord(config), 1)
}

// unitWord quotes a word of a command for systemd, if it must be.
func unitWord(word string) string {
	word = strings.NewReplacer("%", "%%", "$", "$$").Replace(word)
	if !strings.ContainsAny(word, " \t\"'\\;") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// serviceCommands install, remove and show the service.
func serviceCommands() []*cobra.Command {
	var config string
	command := func(use, short string, do func(service.Service, *cobra.Command) error) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
		cmd.Flags().StringVar(&config, "config", defaultConfig, "configuration file of the service")
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			s, err := agentService(config)
			if err != nil {
				return err
			}
			return do(s, cmd)
		}
		return cmd
	}
	return []*cobra.Command{
		statusCommand(command, &config),
		command("install", "Install the agent as a service and start it, or restart it",
			func(s service.Service, _ *cobra.Command) error {
				return install(s, config)
			}),
		command("uninstall", "Stop the service and remove it; state and configuration stay",
			func(s service.Service, _ *cobra.Command) error {
				return uninstall(s)
			}),
	}
}

// statusCommand is hark-agent status.
func statusCommand(command func(use, short string, do func(service.Service, *cobra.Command) error) *cobra.Command,
	config *string) *cobra.Command {
	var asMetrics bool
	cmd := command("status", "Tell whether the service runs", func(s service.Service, cmd *cobra.Command) error {
		if asMetrics {
			var own settings
			if err := own.complete(*config); err != nil {
				return err
			}
			return askMetrics(own.StateDir, cmd.OutOrStdout())
		}
		word, err := status(s)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), word)
		return nil
	})
	cmd.Flags().BoolVar(&asMetrics, "metrics", false,
		"the numbers of the agent that runs, for Prometheus: refusals, its connection, memory")
	return cmd
}

// install enables the service and restarts it. It may be called again, after an upgrade or with another
// configuration.
func install(s service.Service, config string) error {
	if err := (&settings{}).complete(config); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this binary: %w", err)
	}
	if err := enable(s, self, config); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if err := s.Restart(); err != nil {
		return fmt.Errorf("cannot start the service: %w (journalctl -u hark-agent tells more)", err)
	}
	return nil
}

// enable brings the unit, unless a package has brought it or it is there already. Where there is a package, its unit
// counts: one that bootstrap has written before would hide it.
func enable(s service.Service, self, config string) error {
	own, err := os.ReadFile(ownUnit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	written := err == nil
	if self == packagedPath && config == defaultConfig && packaged() {
		if written {
			if err := errors.Join(os.Remove(ownUnit), systemctl("daemon-reload")); err != nil {
				return err
			}
		}
		return systemctl("enable", unitName)
	}
	if written && string(own) == unitFor(self, config) {
		return systemctl("enable", unitName)
	}
	if written {
		if err := os.Remove(ownUnit); err != nil {
			return err
		}
	}
	return s.Install()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// packaged reports whether a package has brought the unit.
func packaged() bool { return slices.ContainsFunc(packagedUnits[:], exists) }

// uninstall stops and disables the service. A unit that a package has brought stays for the package to remove.
func uninstall(s service.Service) error {
	own := exists(ownUnit)
	if !own && !packaged() {
		return nil
	}
	stopped := systemctl("stop", unitName)
	if !own {
		return errors.Join(systemctl("disable", unitName), stopped)
	}
	if err := s.Uninstall(); err != nil {
		return fmt.Errorf("cannot remove the service: %w", errors.Join(err, stopped))
	}
	return stopped
}

// status says what the service does; not to run is an error.
func status(s service.Service) (string, error) {
	if !exists(ownUnit) && !packaged() {
		return "", errors.New("the service is not installed: hark-agent install")
	}
	state, err := s.Status()
	if err != nil {
		return "", fmt.Errorf("the service does not run: %w", err)
	}
	if state == service.StatusStopped {
		return "", errors.New("the service is stopped: systemctl start hark-agent")
	}
	return "running", nil
}

func systemctl(args ...string) error {
	if out, err := exec.Command("systemctl", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("systemctl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
