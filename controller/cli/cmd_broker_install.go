package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/broker"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/hostservice"
)

// installLimit is how long the installed broker may take until it is ready.
const installLimit = 60 * time.Second

// brokerService returns the broker as a service of this machine.
func brokerService() hostservice.Service {
	return hostservice.Service{
		Name: "hark-broker", Description: "hark broker: connects operators and agents", Mark: filepath.Join("keys",
			"account.nk"), Stale: broker.URLFile,
	}
}

func newBrokerInstallCommand(a *app) *cobra.Command {
	j := &brokerJob{app: a}
	cmd := &cobra.Command{
		Use: "install", Short: "Install the broker as a service of this machine and start it", Args: argparse.NoArgs,
		Long: "Installs a systemd service that runs the broker with the given flags, as a user of its own (" +
			brokerService().Name + ") that owns its directory, " +
			"starts it and waits until it can be reached. Run again with other flags it changes the service. It needs root.",
		Example: "  hark broker install --advertise broker.example.org",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	j.serverFlags(fs, installedBroker, "0.0.0.0:4222")
	j.lifeFlag(fs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		return j.install(cmd.Context())
	}
	return cmd
}

// arguments returns those of the service.
func (j *brokerJob) arguments() []string {
	args := []string{"broker", "run", "--service", "--data", j.c.Data, "--listen", j.c.Listen}
	if j.life != 0 {
		args = append(args, "--agent-credentials", j.life.String())
	}
	if j.operatorLife != 0 {
		args = append(args, "--operator-credentials", j.operatorLife.String())
	}
	if j.c.Advertise != "" {
		args = append(args, "--advertise", j.c.Advertise)
	}
	for _, n := range j.names {
		args = append(args, "--name", n)
	}
	if j.health != "" {
		args = append(args, "--health", j.health)
	}
	if j.tls {
		args = append(args, "--tls")
	}
	return args
}

func (j *brokerJob) install(ctx context.Context) error {
	if err := hostservice.Allowed(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if err := j.checkServer(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %v", err)
	}
	if j.c.Data, err = filepath.Abs(j.c.Data); err != nil {
		return err
	}
	s := brokerService()
	s.Program, s.Data, s.Listen, s.Arguments = self, j.c.Data, j.c.Listen, j.arguments()
	if err := s.Install(ctx); err != nil {
		return err
	}
	return j.awaitBroker(ctx)
}

// awaitBroker waits until the service can be reached, with the access to it that this operator gets.
func (j *brokerJob) awaitBroker(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	for {
		err := j.takeAccess()
		if err == nil {
			var state fleet.State
			if state, err = j.caller.state(ctx); err == nil {
				fmt.Fprintf(j.term.Out, "broker installed and ready at %s\n", state.URL)
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

// takeAccess records the access of the operator who installs the broker, once the service has made its keys and noted
// where it is reached.
func (j *brokerJob) takeAccess() error {
	if j.caller == nil {
		var err error
		if j.caller, err = callerOf(j.app); err != nil {
			return err
		}
	}
	access, err := admit(j.c.Data, j.caller.Key, admission{rights: enrol.MayManage, name: j.caller.Name,
		by: j.caller.Name, spare: true})
	if err != nil {
		return err
	}
	return j.caller.use(access)
}
