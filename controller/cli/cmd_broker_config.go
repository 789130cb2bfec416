package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/broker"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet/trust"
)

// openAuthority reads an authority that is there.
func openAuthority(data string) (*broker.Authority, error) {
	if _, err := os.Stat(filepath.Join(data, "keys")); err != nil {
		return nil, fmt.Errorf("there are no keys of a broker in %s: give --data DIR, or start with `hark broker run` or `hark broker config`", data)
	}
	return broker.OpenAuthority(data)
}

func newBrokerConfigCommand(a *app) *cobra.Command {
	var verbosity int
	var data string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "config", Short: "Print what a NATS cluster of your own needs", Args: argparse.NoArgs,
		Long: "Prints the accounts and permissions that NATS servers of your own need to serve as the broker, as configuration to include, or with " +
			"--json as data. The keys behind them are made in the directory if they are not there.",
		Example: "  hark broker config --data /etc/hark/authority > hark.conf",
	}
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	fs.data(&data)
	fs.json(&asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		authority, err := broker.OpenAuthority(data)
		if err != nil {
			return err
		}
		needs, err := authority.Needs()
		if err != nil {
			return err
		}
		if asJSON {
			return a.term.PrintJSON(needs)
		}
		fmt.Fprint(a.term.Out, needs.ServerConfig())
		return nil
	}
	return cmd
}

func newBrokerAdmitCommand(a *app) *cobra.Command {
	var verbosity int
	var data string
	var g admission
	cmd := &cobra.Command{
		Use: "admit", Short: "Give an operator access to the broker", Annotations: map[string]string{"args": "key"}, Args: cobra.ArbitraryArgs,
		Long: "Prints what an operator needs to reach the broker, for `hark broker use` on his machine. It is run where the broker's keys are. " +
			"Agents obey him only when they are told to: `hark key trust`. He may not let agents in or out unless --agents says so.",
		Example: "  hark broker admit UABC... > access.json",
	}
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	fs.data(&data)
	fs.Text(&g.url, "url", "", "", "URL", "how he reaches the broker (default: as it was last started)")
	fs.Text(&g.caFile, "ca", "", "", "FILE", "certificate authority of the servers, if it is not the broker's own")
	fs.Toggle(&g.manages, "agents", "", false, "he may let agents in and out too: bootstrap, tokens, approve, revoke, remove")
	fs.Toggle(&g.reads, "read-only", "", false, "he may only look at who is there and at records of runs: nothing that he sends reaches an agent")
	fs.Toggle(&g.listens, "events", "", false, "somebody outside of hark: he may only hear what is told on hark.events.>")
	fs.Span(&g.life, "expires", 0, "DURATION", "for how long the access is good (default: for ever)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return &argparse.UsageError{Text: "the following arguments are required: key"}
		case g.listens && (g.reads || g.manages):
			return &argparse.UsageError{Text: "argument --events: not allowed with arguments --read-only and --agents"}
		case g.reads && g.manages:
			return &argparse.UsageError{Text: "argument --read-only: not allowed with argument --agents"}
		}
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		access, err := admit(data, args[0], g)
		if err != nil {
			return err
		}
		if self, err := trust.Load(a.cfg.Text("HARK_OPERATOR_KEY")); err == nil && self.Key != args[0] {
			access.Operators = []string{self.Key}                                             // whoever takes the access takes this operator's word for agents too
			access.Readers = []trust.Reader{{Name: readerName(a.cfg.Getenv), Key: self.XKey}} // and lets him read his runs
		}
		return a.term.PrintJSON(access)
	}
	return cmd
}

// readerName is what the reader is called who runs this command.
func readerName(getenv func(string) (string, bool)) string {
	name, _ := getenv("USER")
	if wire.CheckName(name) != nil {
		return "operator"
	}
	return name
}

// admission is how and for how long an operator gets access; the zero value is as the broker was last started, for
// ever.
type admission struct {
	url, caFile string
	life        time.Duration
	manages     bool // may let agents in and out
	reads       bool // may look and command nobody
	listens     bool // may hear events, and nothing else
}

// admit gives a key access by the authority in the directory data.
func admit(data, key string, g admission) (trust.Access, error) {
	authority, err := openAuthority(data)
	if err != nil {
		return trust.Access{}, err
	}
	access := trust.Access{URL: g.url}
	if g.life < 0 {
		return access, errors.New("the access would have expired already: --expires must be a time to come")
	}
	if !wire.ValidKey(key) {
		return access, fmt.Errorf("%q is not an operator's public key: `hark key show --public` prints it", key)
	}
	if access.URL == "" {
		text, err := os.ReadFile(filepath.Join(data, broker.URLFile))
		if err != nil {
			return access, errors.New("it is not known how the broker is reached: give --url URL")
		}
		access.URL = strings.TrimSpace(string(text))
	}
	caFile := g.caFile
	if caFile == "" && strings.HasPrefix(access.URL, "tls://") {
		caFile = filepath.Join(data, "tls", "ca.pem")
	}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return access, fmt.Errorf("cannot read the certificate authority: %v", err)
		}
		access.CA = string(text)
	}
	var until time.Time
	if g.life != 0 {
		until = time.Now().Add(g.life)
	}
	switch {
	case g.listens:
		access.ReadOnly = true
		access.Token, err = authority.Listener(key, until)
	case g.reads:
		access.ReadOnly = true
		access.Token, err = authority.Reader(key, until)
	default:
		access.Token, err = authority.ControllerUntil(key, until, g.manages)
	}
	return access, err
}

func newBrokerUseCommand(a *app) *cobra.Command {
	var verbosity int
	cmd := &cobra.Command{
		Use: "use", Short: "Keep the access that another operator has given", Annotations: map[string]string{"args": "file"}, Args: cobra.ArbitraryArgs,
		Example: "  hark broker use access.json",
	}
	a.flags(cmd).verbosity(&verbosity)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &argparse.UsageError{Text: "the following arguments are required: file"}
		}
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		text, err := readInput(a, args[0])
		if err != nil {
			return err
		}
		var access trust.Access
		if err := json.Unmarshal(text, &access); err != nil || access.URL == "" {
			return fmt.Errorf("cannot use %s: it is not what `hark broker admit` prints", args[0])
		}
		known, err := trust.OpenBrokers(a.fleet.Home)
		if err != nil {
			return err
		}
		if err := known.Put(access); err != nil {
			return err
		}
		fmt.Fprintf(a.term.Out, "the broker is %s\n", access.URL)
		return nil
	}
	return cmd
}

// readInput reads a file, or stdin for "-".
func readInput(a *app, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.term.In)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return text, nil
}
