package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"

	"hark/controller/internal/trust"
)

// brokerUnit is the systemd unit of the broker, with the words of its environment and its command to be filled in.
const brokerUnit = `[Unit]
Description=hark broker: connects operators and agents
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
NotifyAccess=main
Environment=%s
ExecStart=%s
Restart=always
RestartSec=2
LimitNOFILE=1048576
UMask=0077

[Install]
WantedBy=multi-user.target
`

// serviceOnly is a service that does nothing by itself: systemd runs the command run.
type serviceOnly struct{}

func (serviceOnly) Start(service.Service) error { return nil }
func (serviceOnly) Stop(service.Service) error  { return nil }

// installLimit is how long the installed broker may take until it is ready.
const installLimit = 60 * time.Second

func (a *app) brokerInstall() *cobra.Command {
	j := &brokerJob{app: a}
	cmd := &cobra.Command{
		Use: "install", Short: "Install the broker as a service of this machine and start it", Args: noArgs,
		Long: "Installs a systemd service that runs the broker with the given flags, starts it and waits until it can be reached. Run again " +
			"with other flags it changes the service. It needs root.",
		Example: "  hark broker install --advertise broker.example.org",
	}
	fs := a.flagSet(cmd.Flags())
	a.baseFlags(fs, &j.o)
	j.serverFlags(fs, "/var/lib/hark-broker", "0.0.0.0:4222")
	j.lifeFlag(fs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, &j.o); err != nil {
			return err
		}
		return j.install(cmd.Context())
	}
	return cmd
}

// arguments are those of the service.
func (j *brokerJob) arguments() []string {
	args := []string{"broker", "run", "--data", j.c.Data, "--listen", j.c.Listen}
	if j.life != 0 {
		args = append(args, "--agent-credentials", j.life.String())
	}
	if j.c.Advertise != "" {
		args = append(args, "--advertise", j.c.Advertise)
	}
	for _, n := range j.names {
		args = append(args, "--name", n)
	}
	if j.tls {
		args = append(args, "--tls")
	}
	return args
}

// unitWords are words of a unit's line, quoted as systemd reads them.
func unitWords(words ...string) string {
	for i, w := range words {
		w = strings.NewReplacer("%", "%%", "$", "$$").Replace(w)
		if w == "" || strings.ContainsAny(w, " \t\"'\\;") {
			w = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}

// brokerService is the broker as the service manager knows it, with the words of its command and its environment.
func brokerService(command []string, environment ...string) (service.Service, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program: %v", err)
	}
	s, err := service.New(serviceOnly{}, &service.Config{
		Name: "hark-broker", DisplayName: "hark broker", Description: "hark broker: connects operators and agents", Executable: self, Arguments: command,
		Option: service.KeyValue{"SystemdScript": fmt.Sprintf(brokerUnit, unitWords(environment...), unitWords(append([]string{self}, command...)...))},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the service manager: %w", err)
	}
	return s, nil
}

func (j *brokerJob) install(ctx context.Context) error {
	if err := canInstall(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if err := j.checkServer(); err != nil {
		return err
	}
	home, err := filepath.Abs(j.harkHome())
	if err != nil {
		return err
	}
	s, err := brokerService(j.arguments(), "HARK_HOME="+home)
	if err != nil {
		return err
	}
	if _, err := s.Status(); !errors.Is(err, service.ErrNotInstalled) { // its flags may have changed
		if err := removeService(s); err != nil {
			return fmt.Errorf("cannot replace the service: %w", err)
		}
	}
	if err := s.Install(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if err := s.Start(); err != nil {
		return fmt.Errorf("cannot start the service (see journalctl -u hark-broker): %w", err)
	}
	return j.awaitBroker(ctx)
}

// awaitBroker waits until the service can be reached, which recorded this operator's access to it.
func (j *brokerJob) awaitBroker(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	for {
		brokers, err := trust.OpenBrokers(j.harkHome())
		if err == nil && brokers.Default == "" {
			err = errors.New("the service has not come up")
		}
		if err == nil {
			var state brokerState
			if state, err = j.askBroker(ctx, ""); err == nil {
				fmt.Fprintf(j.Out, "broker installed and ready at %s\n", state.URL)
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the broker does not come up (see journalctl -u hark-broker): %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
