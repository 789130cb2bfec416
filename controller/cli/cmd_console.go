package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"hark/agent/version"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/console/auth"
	"hark/controller/internal/console/service"
	"hark/controller/internal/fleet/health"
	"hark/controller/internal/fleet/trust"
)

// consoleJob is one call of hark console.
type consoleJob struct {
	*app
	verbosity int
	c         service.Config
	open      bool
	service   bool
	// browsed is closed when the page for the browser is removed, nil where none was opened.
	browsed <-chan struct{}
}

// newConsoleCommand is hark console.
func newConsoleCommand(a *app) *cobra.Command {
	j := &consoleJob{app: a}
	cmd := &cobra.Command{
		Use: "console", Short: "Show runs and the fleet in a browser", Args: argparse.NoArgs,
		Long: "Serves pages that show the runs on record, live, and the fleet, and change nothing. On this machine only a " +
			"key in the address lets you in; to be reached from elsewhere it needs a certificate, and readers sign in with " +
			"their operator's key (hark console login) or are named by a proxy. It has a key of its own, which agents do not " +
			"obey, and reads no other.",
		Example: "  hark console\n  hark console --listen 0.0.0.0:8470 --tls-cert cert.pem --tls-key key.pem --operator " +
			"UABC...=anna",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	j.siteFlags(fs, filepath.Join(a.cfg.Text("HARK_HOME"), "console"))
	fs.Toggle(&j.open, "open", "", false, "open the browser")
	fs.Toggle(&j.service, "service", "", false, "as a service")
	cmd.Flags().Lookup("service").Hidden = true
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		j.c.Prelude, j.c.Version, j.c.Log = prelude, version.String(), serverLog(a, j.verbosity)
		debug.SetGCPercent(30) // records are read through it: what is not needed shall not double what is
		return j.serve(cmd.Context())
	}
	cmd.AddCommand(newConsoleLoginCommand(a), newConsoleKeyCommand(a), newConsoleUseCommand(a),
		newConsoleBelieveCommand(a), newConsoleInstallCommand(a), newConsoleUninstallCommand(a))
	return cmd
}

// serve runs the console, and leaves no page for the browser behind.
func (j *consoleJob) serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		if j.browsed != nil {
			<-j.browsed
		}
	}()
	return service.Run(ctx, j.c, func(address string) { j.ready(ctx, address) })
}

// siteFlags are those of the console and of its installation.
func (j *consoleJob) siteFlags(fs flags, dir string) {
	fs.Text(&j.c.Listen, "listen", "", service.DefaultListen, "HOST:PORT",
		"where to listen; port 0 takes a free one (default: "+service.DefaultListen+")")
	fs.Text(&j.c.Certificate, "tls-cert", "", "", "FILE", "certificate, with those that it depends on (PEM)")
	fs.Text(&j.c.Key, "tls-key", "", "", "FILE", "the certificate's key (PEM)")
	fs.List(&j.c.Names, "name", "", "NAME", "one more name that browsers may use for it")
	fs.List(&j.c.Operators, "operator", "", "KEY[=NAME]", "an operator who may sign in with `hark console login`")
	fs.Text(&j.c.Header, "trust-header", "", "", "HEADER", "the header in which a proxy says who reads")
	fs.List(&j.c.Proxies, "trust-proxy", "", "ADDRESS", "address or network of the proxy")
	fs.Text(&j.c.Records, "records", "", filepath.Join(j.cfg.Text("HARK_HOME"), "runs"), "DIR",
		"the records of this machine")
	fs.Text(&j.c.Dir, "data", "", dir, "DIR", "the directory of the console's own keys")
}

// ready says where the console is.
func (j *consoleJob) ready(ctx context.Context, address string) {
	fmt.Fprintf(j.term.Out, "console ready at %s\n", address)
	if j.service {
		health.Ready(j.c.Log)
	}
	if j.open {
		j.browsed = browse(ctx, j.app, address)
	}
}

// newConsoleLoginCommand signs in at a console elsewhere.
func newConsoleLoginCommand(a *app) *cobra.Command {
	var verbosity int
	var open bool
	cmd := &cobra.Command{
		Use: "login", Short: "Sign in at a console with the operator's key", Annotations: map[string]string{"args": "url"},
		Args: cobra.MatchAll(argparse.Needs("url"),
			cobra.MaximumNArgs(1)), Example: "  hark console login https://console.example.org:8470",
		Long: "Asks the console for a challenge, signs it for its certificate, and prints a link that lets a browser in, " +
			"once, within two minutes. The key stays here.",
	}
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	fs.Toggle(&open, "open", "", false, "open the browser")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		operator, err := trust.Load(a.cfg.Text("HARK_OPERATOR_KEY"))
		if err != nil {
			return err
		}
		link, err := auth.Link(cmd.Context(), args[0], auth.Signer{Key: operator.Key, Sign: operator.Sign})
		if err != nil {
			return err
		}
		fmt.Fprintln(a.term.Out, link)
		if open {
			<-browse(cmd.Context(), a, link)
		}
		return nil
	}
	return cmd
}

// consoleDir returns the directory of the console that commands are about: for root that of the service, if there is
// one, otherwise that of this user.
func consoleDir(a *app) string {
	if home, given := a.cfg.Getenv("HARK_HOME"); os.Geteuid() == 0 && (!given || home == "") {
		if _, err := os.Stat(filepath.Join(consoleData, service.ReaderFile)); err == nil {
			return consoleData
		}
	}
	return filepath.Join(a.cfg.Text("HARK_HOME"), "console")
}

// newConsoleKeyCommand shows the console's key.
func newConsoleKeyCommand(a *app) *cobra.Command {
	var dir string
	var curve bool
	cmd := &cobra.Command{
		Use: "key", Short: "Show the public key of this console, for those who let it read", Args: argparse.NoArgs,
		Example: "  hark broker admit --read-only \"$(hark console key)\" > access.json",
	}
	fs := a.flags(cmd)
	fs.Text(&dir, "data", "", consoleDir(a), "DIR",
		"the directory of the console's own keys")
	fs.Toggle(&curve, "seal", "", false, "the key for which operators seal records: hark runs readers add NAME KEY")
	cmd.RunE = func(*cobra.Command, []string) error {
		id, err := service.Reader(dir)
		if err != nil {
			return err
		}
		if curve {
			fmt.Fprintln(a.term.Out, id.XKey)
		} else {
			fmt.Fprintln(a.term.Out, id.Key)
		}
		return nil
	}
	return cmd
}

// newConsoleUseCommand takes access to a broker.
func newConsoleUseCommand(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "use", Short: "Let this console read at a broker", Annotations: map[string]string{"args": "file"},
		Args: cobra.MatchAll(argparse.Needs("file"), cobra.MaximumNArgs(1)),
		Long: "Takes what `hark broker admit --read-only` printed for the console's key. A console that runs takes it " +
			"when it is started again.",
		Example: "  hark console use access.json",
	}
	a.flags(cmd).Text(&dir, "data", "", consoleDir(a), "DIR",
		"the directory of the console's own keys")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return fmt.Errorf("cannot read the access: %w", err)
		}
		var access trust.Access
		if err := json.Unmarshal(text, &access); err != nil || access.URL == "" {
			return fmt.Errorf("%s is not what `hark broker admit --read-only` prints", args[0])
		}
		if _, err := service.Reader(dir); err != nil {
			return err
		}
		return service.Use(dir, access)
	}
	return cmd
}

// newConsoleBelieveCommand takes another operator's word.
func newConsoleBelieveCommand(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "believe", Short: "Show runs and duties of one more operator, such as a keeper",
		Annotations: map[string]string{"args": "key"},
		Args:        cobra.MatchAll(needsKey, cobra.MaximumNArgs(1)), Example: "  hark console believe UKEEPER...",
		Long: "Takes an operator's public key. He has to seal for this console too: `hark runs readers add console KEY`, " +
			"with the key that `hark console key --seal` prints. A console that runs takes it when it is started again.",
	}
	a.flags(cmd).Text(&dir, "data", "", consoleDir(a), "DIR",
		"the directory of the console's own keys")
	cmd.RunE = func(_ *cobra.Command, args []string) error { return service.Believe(dir, args[0]) }
	return cmd
}
