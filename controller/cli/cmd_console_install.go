package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/console/service"
	"hark/controller/internal/fleet/hostservice"
)

// consoleService returns the console as a service of this machine.
func consoleService() hostservice.Service {
	return hostservice.Service{Name: "hark-console", Description: "hark console: shows runs and the fleet in a browser",
		Mark: service.ReaderFile}
}

// consoleData is the directory of the service.
const consoleData = "/var/lib/hark-console"

func newConsoleInstallCommand(a *app) *cobra.Command {
	j := &consoleJob{app: a}
	cmd := &cobra.Command{
		Use: "install", Short: "Install the console as a service of this machine and start it", Args: argparse.NoArgs,
		Long: "Installs a systemd service that runs the console with the given flags, as a user of its own (" +
			consoleService().Name + ") with a reader's key of its own, and starts it. Unless --operator or --trust-header " +
			"says who may read, the operator who installs it may. Run again with other flags it changes the service. It needs " +
			"root.",
		Example: "  hark console install --listen 0.0.0.0:8470 --tls-cert /etc/ssl/console.pem --tls-key " +
			"/etc/ssl/private/console.pem",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	j.siteFlags(fs, consoleData)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		return j.install(cmd.Context(), cmd.Flags().Changed("records"))
	}
	return cmd
}

// install makes the service. Its records are those of its own directory, unless others are named.
func (j *consoleJob) install(ctx context.Context, records bool) error {
	if err := hostservice.Allowed(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	if len(j.c.Operators) == 0 && j.c.Header == "" {
		operator, err := knownCaller(j.app)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil {
			j.c.Operators = []string{operator.Key + "=" + operator.Name}
		}
	}
	var err error
	for _, path := range []*string{&j.c.Dir, &j.c.Records, &j.c.Certificate, &j.c.Key} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if !records {
		j.c.Records = filepath.Join(j.c.Dir, "runs")
	}
	if err := j.c.Check(); err != nil {
		return err
	}
	s := consoleService()
	s.Data = j.c.Dir
	if err := s.Claim(); err != nil {
		return fmt.Errorf("cannot install the service: %w", err)
	}
	reader, err := service.Reader(j.c.Dir)
	if err != nil {
		return err
	}
	if s.Program, err = os.Executable(); err != nil {
		return fmt.Errorf("cannot find this program: %v", err)
	}
	s.Listen, s.Arguments = j.c.Listen, j.arguments()
	if j.c.Certificate != "" {
		s.Credentials = []hostservice.Credential{{Flag: "--tls-cert", Path: j.c.Certificate},
			{Flag: "--tls-key", Path: j.c.Key}}
	}
	if err := s.Install(ctx); err != nil {
		return err
	}
	j.next(reader, s.Name)
	return nil
}

// next says how to sign in at the console, and what shows it the fleet.
func (j *consoleJob) next(reader *wire.Identity, unit string) {
	scheme, how := "http", "journalctl -u "+unit+" shows the address with the key that lets a browser in"
	if j.c.Certificate != "" {
		scheme = "https"
	}
	if len(j.c.Operators) > 0 {
		host, port, _ := net.SplitHostPort(j.c.Listen)
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host, _ = os.Hostname()
		}
		how = fmt.Sprintf("to sign in: hark console login %s://%s", scheme, net.JoinHostPort(host, port))
	} else if j.c.Header != "" {
		how = "people sign in at the proxy"
	}
	fmt.Fprintf(j.term.Out, "console installed at %s\n%s\nto show the fleet it needs access: hark broker admit "+
		"--read-only %s > access.json; hark console use --data %s access.json; systemctl restart %s\n"+
		"to show your runs: hark runs readers add console %s\n", j.c.Listen, how, reader.Key, j.c.Dir, unit, reader.XKey)
}

// arguments returns those of the service.
func (j *consoleJob) arguments() []string {
	args := []string{"console", "--service", "--data", j.c.Dir, "--records", j.c.Records, "--listen", j.c.Listen}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"--name", j.c.Names}, {"--operator", j.c.Operators}, {"--trust-proxy", j.c.Proxies}} {
		for _, v := range list.values {
			args = append(args, list.flag, v)
		}
	}
	if j.c.Header != "" {
		args = append(args, "--trust-header", j.c.Header)
	}
	return args
}

func newConsoleUninstallCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "uninstall", Short: "Stop the console's service and remove it; its directory stays", Args: argparse.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			was, err := consoleService().Remove()
			switch {
			case err != nil:
				return err
			case !was:
				fmt.Fprintln(a.term.Out, "the console is not installed as a service")
			default:
				fmt.Fprintln(a.term.Out, "the console's service is removed; its directory stays")
			}
			return nil
		},
	}
}
