package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
)

// tokenJob makes a join token.
type tokenJob struct {
	*app
	token   enrol.Token
	url     string
	expires time.Duration
	trust   []string
	asJSON  bool
}

func newAgentsTokenCommand(a *app) *cobra.Command {
	j := &tokenJob{app: a}
	cmd := &cobra.Command{
		Use: "token", Short: "Make a token with which hosts enrol themselves", Args: argparse.NoArgs,
		Long: "Prints a token for `hark-agent join`. Hosts that come with it wait for `hark agents approve`, unless " +
			"--approve lets them in at once. Their agents will obey this operator, and those of --trust.",
		Example: "  hark agents token --uses 10 --expires 30m\n  hark agents token --name web1 --approve",
	}
	fs := onBroker(a, cmd, j.run)
	fs.Number(&j.token.Uses, "uses", "", 1, "N", "how many agents may come with it")
	fs.Span(&j.expires, "expires", time.Hour, "DURATION", "for how long it is good")
	fs.Toggle(&j.token.Approve, "approve", "", false, "let the agents in at once")
	fs.Text(&j.token.Name, "name", "", "", "NAME", "the only name that may be enrolled with it")
	fs.Text(&j.url, "url", "", "", "URL", "how the hosts reach the broker (default: as this machine does)")
	fs.List(&j.trust, "trust", "", "KEY", "public key of another operator that the agents obey")
	fs.json(&j.asJSON)
	return cmd
}

func (j *tokenJob) run(ctx context.Context, b *fleet.Connection, _ []string) error {
	if j.url != "" && !nats.ValidURL(j.url) {
		return &argparse.UsageError{Text: fmt.Sprintf(
			"argument --url: %q is not the URL of a broker, such as tls://broker.example.org:4222", j.url)}
	}
	for _, key := range j.trust {
		if !wire.ValidKey(key) {
			return fmt.Errorf("%q is not an operator's public key: `hark key show --public` prints it", key)
		}
	}
	j.token.Expires = time.Now().Add(j.expires)
	made, err := b.Registrar().MakeToken(ctx, j.token)
	if err != nil {
		return fmt.Errorf("cannot make a token: %w", err)
	}
	made.URL, made.Operators = b.URL, append([]string{b.Operator.Key}, j.trust...)
	if j.url != "" {
		made.URL = j.url
	}
	if loopbackBroker(made.URL) {
		j.display.Warn("the token names the broker at " + made.URL +
			", where hosts other than this machine cannot reach it: say with --url how they do")
	}
	text, err := made.Text()
	if err != nil {
		return err
	}
	if j.asJSON {
		id, err := made.Identity()
		if err != nil {
			return err
		}
		return j.term.PrintJSON(map[string]any{"token": text, "id": id.ID(), "expires": j.token.Expires,
			"uses": j.token.Uses, "approve": j.token.Approve})
	}
	fmt.Fprintln(j.term.Out, text)
	return nil
}

// newAgentsTokensCommand lists the tokens that are still good.
func newAgentsTokensCommand(a *app) *cobra.Command {
	var asJSON bool
	var drop string
	cmd := &cobra.Command{Use: "tokens", Short: "List the tokens that are still good, or withdraw one",
		Args: argparse.NoArgs, Example: "  hark agents tokens --drop ID"}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		_, tokens, err := b.Registrar().List(ctx)
		switch {
		case err != nil:
			return err
		case drop != "":
			i := slices.IndexFunc(tokens, func(t enrol.Token) bool { return t.Key == drop || wire.IDOf(t.Key) == drop })
			if i < 0 {
				return fmt.Errorf("there is no token %s", drop)
			}
			return b.Registrar().DropToken(ctx, tokens[i].Key)
		case asJSON:
			return a.term.PrintJSON(tokens)
		}
		return tokenTable(a, tokens)
	})
	fs.Text(&drop, "drop", "", "", "ID", "withdraw this token")
	fs.json(&asJSON)
	return cmd
}

func tokenTable(a *app, tokens []enrol.Token) error {
	w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUSES LEFT\tEXPIRES\tAPPROVES\tNAME")
	for _, t := range tokens {
		fmt.Fprintf(w, "%s\t%d\t%s\t%t\t%s\n", wire.IDOf(t.Key), t.Uses, t.Expires.Local().Format(time.DateTime), t.Approve,
			t.Name)
	}
	return w.Flush()
}

// newAgentsApproveCommand lets agents in.
func newAgentsApproveCommand(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "approve", Short: "Let agents in that are waiting or were revoked",
		Example:     "  hark agents approve web1 web2\n  hark agents approve --all",
		Annotations: map[string]string{"args": "name ..."},
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return nil
			}
			return argparse.Needs("name")(cmd, args)
		},
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, names []string) error {
		if all && len(names) == 0 {
			var err error
			if names, err = b.Pending(ctx); err != nil {
				return err
			}
		}
		return eachAgent(a, ctx, names, "approved", b.Registrar().Approve)
	})
	a.completeArgs(cmd, 0, func(c *completion) []string { return c.agents() })
	fs.Toggle(&all, "all", "", false, "all that wait")
	return cmd
}

func newAgentsRevokeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke", Short: "Withdraw the credentials of agents and cut them off", Example: "  hark agents revoke web1",
		Annotations: map[string]string{"args": "name ..."}, Args: argparse.Needs("name"),
	}
	onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, names []string) error {
		return eachAgent(a, ctx, names, "revoked", b.Registrar().Revoke)
	})
	a.completeArgs(cmd, 0, func(c *completion) []string { return c.agents() })
	return cmd
}

func newAgentsRemoveCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove", Short: "Forget agents, so that new hosts can have their names", Example: "  hark agents remove web1",
		Annotations: map[string]string{"args": "name ..."}, Args: argparse.Needs("name"),
	}
	onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, names []string) error {
		return eachAgent(a, ctx, names, "removed", b.Forget)
	})
	a.completeArgs(cmd, 0, func(c *completion) []string { return c.agents() })
	return cmd
}

// eachAgent does something with agents, named by their names, keys or ids, and prints each when it is done.
func eachAgent(a *app, ctx context.Context, names []string, done string,
	do func(ctx context.Context, name string) ([]enrol.Agent, error)) error {
	var errs []error
	for _, name := range names {
		agents, err := do(ctx, name)
		errs = append(errs, err)
		for _, x := range agents {
			fmt.Fprintf(a.term.Out, "%s: %s\n", x.Name, done)
		}
	}
	return errors.Join(errs...)
}
