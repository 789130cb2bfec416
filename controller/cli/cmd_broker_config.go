package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/broker"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/runs/origin"
)

// openAuthority reads an authority that is there.
func openAuthority(data string) (*broker.Authority, error) {
	_, err := os.Stat(filepath.Join(data, "keys"))
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("the keys of the broker in %s are for root only: call this command with sudo", data)
	}
	if err != nil {
		return nil, fmt.Errorf(
			"there are no keys of a broker in %s: give --data DIR, or start with `hark broker run` or `hark broker config`",
			data)
	}
	return broker.OpenAuthority(data)
}

func newBrokerConfigCommand(a *app) *cobra.Command {
	var verbosity int
	var data string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "config", Short: "Print what a NATS cluster of your own needs", Args: argparse.NoArgs,
		Long: "Prints the accounts and permissions that NATS servers of your own need to serve as the broker, as " +
			"configuration to include, or with --json as data. The keys behind them are made in the directory if they are not " +
			"there.",
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
		Use: "admit", Short: "Give an operator access to the broker", Annotations: map[string]string{"args": "key"},
		Args: cobra.ArbitraryArgs,
		Long: "Prints what an operator needs to reach the broker, for `hark broker use` on his machine. It is run where " +
			"the broker's keys are. Agents obey him only when they are told to: `hark key trust`. He may not let agents in or " +
			"out unless --agents says so.",
		Example: "  hark broker admit UABC... > access.json",
	}
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	fs.data(&data)
	fs.Text(&g.url, "url", "", "", "URL", "how he reaches the broker (default: as it was last started)")
	fs.Text(&g.caFile, "ca", "", "", "FILE", "certificate authority of the servers, if it is not the broker's own")
	fs.Text(&g.name, "name", "", "", "NAME", "what the operator is called in `hark broker operators`")
	var manages, reads, listens bool
	fs.Toggle(&manages, "agents", "", false,
		"also lets agents in and out: bootstrap, tokens, approve, revoke, remove; and expels operators")
	fs.Toggle(&reads, "read-only", "", false,
		"only looks at who is there and at records of runs: nothing that this operator sends reaches an agent")
	fs.Toggle(&listens, "events", "", false, "somebody outside of hark, who only hears what is told on hark.events.>")
	fs.Span(&g.life, "expires", 0, "DURATION", "for how long the access is good (default: until `hark broker expel`)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return &argparse.UsageError{Text: "the following arguments are required: key"}
		case listens && (reads || manages):
			return &argparse.UsageError{Text: "argument --events: not allowed with arguments --read-only and --agents"}
		case reads && manages:
			return &argparse.UsageError{Text: "argument --read-only: not allowed with argument --agents"}
		}
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		if g.name != "" && wire.CheckName(g.name) != nil {
			return fmt.Errorf("%.300q cannot be the name of an operator: letters, digits and _ . @ + - can", g.name)
		}
		g.rights = rightsOf(manages, reads, listens)
		g.by, _ = origin.Person(a.cfg.Getenv)
		access, err := admit(data, args[0], g)
		if err != nil {
			return err
		}
		if self, err := knownCaller(a); err == nil && self.Key != args[0] {
			// Whoever takes the access takes this operator's word for agents too, and lets this operator read the runs.
			access.Operators = []string{self.Key}
			access.Readers = []trust.Reader{{Name: readerName(self.Name), Key: self.Reader}}
		}
		return a.term.PrintJSON(access)
	}
	return cmd
}

// rightsOf returns the rights that the flags of admit ask for.
func rightsOf(manages, reads, listens bool) enrol.Rights {
	switch {
	case listens:
		return enrol.MayListen
	case reads:
		return enrol.MayRead
	case manages:
		return enrol.MayManage
	}
	return enrol.MayPlay
}

// readerName returns what the reader is called who runs this command.
func readerName(name string) string {
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
	rights      enrol.Rights
	name, by    string // of the operator, and of who gives the access; "" if it is not known
	spare       bool   // the name is not needed: none is given if another operator has it
}

// admit returns a key access by the authority in the directory data.
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
	if g.spare {
		g.name = freeName(authority, g.name, key)
	}
	var until time.Time
	if g.life != 0 {
		until = time.Now().Add(g.life)
	}
	access.ReadOnly = g.rights == enrol.MayRead || g.rights == enrol.MayListen
	access.Token, err = authority.Admit(enrol.Operator{Key: key, Access: g.rights, Until: until, Name: g.name,
		By: g.by})
	return access, err
}

func newBrokerUseCommand(a *app) *cobra.Command {
	var verbosity int
	cmd := &cobra.Command{
		Use: "use", Short: "Save the access that another operator gave you", Annotations: map[string]string{"args": "file"},
		Args:    cobra.ArbitraryArgs,
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
