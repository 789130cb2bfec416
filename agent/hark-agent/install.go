package main

import (
	"errors"
	"fmt"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"
)

// unit is the systemd unit, as a template of kardianos/service. Its own would wait two minutes before a restart and
// kill every job with the agent.
const unit = `[Unit]
Description={{.Description}}
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart={{.Path|cmdEscape}}{{range .Arguments}} {{.|cmd}}{{end}}
Restart=always
RestartSec=2
KillMode=process
Delegate=yes
LimitNOFILE=65536
WatchdogSec=90
StateDirectory=hark

[Install]
WantedBy=multi-user.target
`

// idle is a service that does nothing by itself: systemd runs the command run.
type idle struct{}

func (idle) Start(service.Service) error { return nil }
func (idle) Stop(service.Service) error  { return nil }

// agentService is the agent as the service manager knows it. config is the file that it reads.
func agentService(config string) (service.Service, error) {
	s, err := service.New(idle{}, &service.Config{
		Name: "hark-agent", DisplayName: "hark agent", Description: "hark agent: runs plans of its operators on this host",
		Arguments: []string{"run", "--config", config},
		Option:    service.KeyValue{"SystemdScript": unit},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the service manager: %w", err)
	}
	return s, nil
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
		command("install", "Install the agent as a service and start it", func(s service.Service, _ *cobra.Command) error {
			if err := (&settings{}).complete(config); err != nil {
				return err
			}
			if err := s.Install(); err != nil {
				return fmt.Errorf("cannot install the service: %w", err)
			}
			if err := s.Start(); err != nil {
				return fmt.Errorf("cannot start the service: %w", err)
			}
			return nil
		}),
		command("uninstall", "Stop the service and remove it; state and configuration stay", func(s service.Service, _ *cobra.Command) error {
			stopped := s.Stop()
			if err := s.Uninstall(); err != nil {
				return fmt.Errorf("cannot remove the service: %w", errors.Join(err, stopped))
			}
			return nil
		}),
		command("status", "Tell whether the service runs", func(s service.Service, cmd *cobra.Command) error {
			state, err := s.Status()
			if err != nil {
				return fmt.Errorf("cannot see the service: %w", err)
			}
			word := map[service.Status]string{service.StatusRunning: "running", service.StatusStopped: "stopped"}[state]
			if word == "" {
				word = "unknown"
			}
			fmt.Fprintln(cmd.OutOrStdout(), word)
			return nil
		}),
	}
}
