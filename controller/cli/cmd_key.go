package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play/link"
)

// newKeyCommand is hark key.
func newKeyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "The key that signs what is sent to agents", RunE: argparse.NeedCommand,
		Args: cobra.ArbitraryArgs}
	cmd.AddCommand(newKeyCreateCommand(a), newKeyShowCommand(a), newKeyBelieveCommand(a), newKeyDisbelieveCommand(a),
		newKeyTrustCommand(a), newKeyDistrustCommand(a), newKeyRotateCommand(a))
	return cmd
}

func newKeyCreateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "create", Short: "Make an operator key", Args: argparse.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path := a.cfg.Text("HARK_OPERATOR_KEY")
			id, err := trust.Create(path)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("there is an operator key already: %s", path)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.term.Out, "%s\npublic key: %s\n", path, id.Key)
			return nil
		},
	}
}

func newKeyShowCommand(a *app) *cobra.Command {
	var public, asJSON bool
	cmd := &cobra.Command{Use: "show", Short: "Show the operator key, and make it if there is none", Args: argparse.NoArgs}
	fs := a.flags(cmd)
	fs.Toggle(&public, "public", "", false, "only the public key, as agents are told it")
	fs.json(&asJSON)
	cmd.RunE = func(*cobra.Command, []string) error {
		path := a.cfg.Text("HARK_OPERATOR_KEY")
		id, _, err := trust.LoadOrCreate(path, a.fleet.Home)
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.term.PrintJSON(map[string]string{"public": id.Key, "id": id.ID(), "path": path, "reader": id.XKey})
		case public:
			fmt.Fprintln(a.term.Out, id.Key)
		default:
			fmt.Fprintf(a.term.Out, "path\t%s\npublic\t%s\nid\t%s\n", path, id.Key, id.ID())
		}
		return nil
	}
	return cmd
}

// newKeyBelieveCommand takes another operator's word for agents that are not on record yet.
func newKeyBelieveCommand(a *app) *cobra.Command {
	var verbosity int
	var url string
	cmd := &cobra.Command{
		Use: "believe", Short: "Trust another operator's word on which key an agent has",
		Annotations: map[string]string{"args": "key"},
		Args:        cobra.MatchAll(needsKey, cobra.MaximumNArgs(1)), Example: "  hark key believe UABC...",
		Long: "Takes that operator's word for the names of agents that this operator has not met yet. It is about this " +
			"machine alone: whom agents obey is the matter of `hark key trust`.",
	}
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	fs.broker(&url)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		brokers, err := trust.OpenBrokers(a.fleet.Home)
		if err != nil {
			return err
		}
		if _, ok := brokers.Brokers[url]; !ok {
			url = ""
		}
		return brokers.Believe(url, args[0])
	}
	return cmd
}

// newKeyDisbelieveCommand takes another operator's word no more.
func newKeyDisbelieveCommand(a *app) *cobra.Command {
	var verbosity int
	cmd := &cobra.Command{
		Use: "disbelieve", Short: "No longer trust that operator's word", Annotations: map[string]string{"args": "key"},
		Args: cobra.MatchAll(needsKey, cobra.MaximumNArgs(1)), Example: "  hark key disbelieve UABC...",
		Long: "Takes back `hark key believe`, and what `hark broker use` brought with an access: that operator's word for " +
			"agents, runs and duties.",
	}
	a.flags(cmd).verbosity(&verbosity)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		brokers, err := trust.OpenBrokers(a.fleet.Home)
		if err != nil {
			return err
		}
		had, err := brokers.Disbelieve(args[0], "")
		if err == nil && !had {
			err = fmt.Errorf("the word of %s was not taken here", args[0])
		}
		return err
	}
	return cmd
}

// newKeyTrustCommand makes agents obey another operator.
func newKeyTrustCommand(a *app) *cobra.Command {
	var looks bool
	var span string
	cmd := newTrustCommand(a, "trust", "Make agents obey another operator too",
		"  hark key trust UABC...\n  hark key trust UABC... 'web*'\n  hark key trust UABC... --check --until 90d",
		func(key string) (wire.Trust, error) { return trustFor(key, looks, span) })
	fs := argparse.NewFlags(cmd.Flags())
	fs.Toggle(&looks, "check", "", false, "only to look and not to change: check mode and facts")
	fs.Text(&span, "until", "", "", "TIME", "for so long from now, such as 90d; then it is obeyed no more")
	return cmd
}

// trustFor returns the change that adds an operator, within limits if there are any.
func trustFor(key string, looks bool, span string) (wire.Trust, error) {
	if !looks && span == "" {
		return wire.Trust{Add: []string{key}}, nil
	}
	l := wire.Limited{Key: key, Check: looks}
	if span != "" {
		d, ok := duty.Span(span)
		if !ok {
			return wire.Trust{}, argparse.OptionsError(fmt.Sprintf("--until wants a time from now such as 12h or 90d, not %q",
				span))
		}
		l.Until = time.Now().Add(d).UTC()
	}
	return wire.Trust{Limited: []wire.Limited{l}}, nil
}

// newKeyDistrustCommand makes agents obey an operator no more.
func newKeyDistrustCommand(a *app) *cobra.Command {
	return newTrustCommand(a, "distrust", "Make agents no longer obey an operator", "  hark key distrust UABC...",
		func(key string) (wire.Trust, error) { return wire.Trust{Remove: []string{key}}, nil })
}

func newTrustCommand(a *app, use, short, example string, change func(key string) (wire.Trust, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Annotations: map[string]string{"args": "key [agent ...]"}, Args: needsKey,
		Long: short + ": all that are present, or those whose names match. Keys in an agent's configuration file stay.",
	}
	onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		c, err := change(args[0])
		if err != nil {
			return err
		}
		failed, err := changeTrust(a, ctx, b, args[1:], c)
		if err == nil && failed > 0 {
			err = &quietError{exitFailed}
		}
		return err
	})
	return cmd
}

// needsKey demands an operator's public key as the first argument.
func needsKey(cmd *cobra.Command, args []string) error {
	if err := argparse.Needs("key")(cmd, args); err != nil {
		return err
	}
	if !wire.ValidKey(args[0]) {
		return fmt.Errorf("%q is not an operator's public key: `hark key show --public` prints it", args[0])
	}
	return nil
}

// changeTrust tells agents whom to obey, and prints the result for each.
func changeTrust(a *app, ctx context.Context, b *fleet.Connection, patterns []string,
	change wire.Trust) (failed int, err error) {
	agents, err := b.Present(ctx, patterns)
	if err != nil {
		return 0, err
	}
	p := &link.Pinger{Transport: b, Operator: b.Operator}
	for _, x := range agents {
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		operators, err := p.Trust(ctx, x.Key, x.XKey, change)
		cancel()
		if err == nil && len(change.Limited) > 0 && !slices.Contains(operators, change.Limited[0].Key) {
			err = errors.New("it is of an older version and knows no limits: hark agents upgrade")
		}
		if err != nil {
			failed++
			fmt.Fprintf(a.term.Out, "%s: failed: %v\n", x.Name, err)
			continue
		}
		fmt.Fprintf(a.term.Out, "%s: ok, obeys %d operators\n", x.Name, len(operators))
	}
	return failed, nil
}

// newKeyRotateCommand replaces the operator's key.
func newKeyRotateCommand(a *app) *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use: "rotate", Short: "Replace the operator key by a new one", Args: argparse.NoArgs,
		Long: "Makes a new operator key, has all agents that are present obey it in place of the old one, and then takes " +
			"it. The new key needs access to the broker: rotate where the broker's keys are (--data), or have it admitted " +
			"(hark broker admit) as the command says.",
	}
	fs := onBroker(a, cmd,
		func(ctx context.Context, b *fleet.Connection, _ []string) error { return rotate(a, ctx, b, data) })
	fs.data(&data)
	return cmd
}

// rotate has the new key beside the old one until all agents obey it, so that it can be called again when some did
// not answer.
func rotate(a *app, ctx context.Context, b *fleet.Connection, data string) error {
	path := a.cfg.Text("HARK_OPERATOR_KEY")
	next, err := trust.Load(path + ".next")
	var none *trust.NoKeyError
	if errors.As(err, &none) {
		next, err = trust.Create(path + ".next")
	}
	if err != nil {
		return err
	}
	access := b.Access
	if access.Token != "" {
		admitted, err := admit(data, next.Key, admission{url: b.URL, rights: enrol.MayManage})
		if err != nil {
			return fmt.Errorf("the new key %s has no access to the broker yet: %w", next.Key, err)
		}
		access.Token = admitted.Token
	}
	failed, err := changeTrust(a, ctx, b, nil, wire.Trust{Add: []string{next.Key}, Remove: []string{b.Operator.Key}})
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf(
			"%d agents do not obey the new key: the old one stays; call the command again, or remove those agents", failed)
	}
	if err := vouchAnew(a, ctx, b, next, access); err != nil {
		return err
	}
	if access.Token, err = replaceOperator(a, ctx, b, next, access, data); err != nil {
		return err
	}
	brokers, err := trust.OpenBrokers(a.fleet.Home)
	if err != nil {
		return err
	}
	if err := os.Rename(path, path+".old"); err != nil {
		return fmt.Errorf("cannot put the old key aside: %v", err)
	}
	if err := os.Rename(path+".next", path); err != nil {
		return fmt.Errorf("cannot take the new key: %v", err)
	}
	if access.Token != "" {
		if err := brokers.Put(access); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.term.Out, "the operator key is %s now; the old one is in %s.old\n", next.Key, path)
	return nil
}

// replaceOperator takes the old key's access back, and gives its name to the new one.
func replaceOperator(a *app, ctx context.Context, b *fleet.Connection, next *wire.Identity, access trust.Access,
	data string) (token string, err error) {
	if access.Token == "" {
		return "", nil
	}
	bus, err := a.fleet.Reach(ctx, next, access, "")
	if err != nil {
		return "", err
	}
	defer bus.Close()
	old, _, err := (&enrol.Client{Transport: bus, Operator: next, Access: access.Token}).Expel(ctx, b.Operator.Key)
	if errors.Is(err, enrol.ErrNoRegistrar) {
		a.display.Warn("The old key has access to the broker still: " + err.Error())
		return access.Token, nil
	}
	if err != nil {
		return "", fmt.Errorf("the old key keeps its access to the broker: %w", err)
	}
	named, err := admit(data, next.Key, admission{url: b.URL, rights: enrol.MayManage, name: old.Name, by: old.By,
		spare: true})
	return named.Token, err
}

// vouchAnew has the new key vouch for the agents that the old one vouches for.
func vouchAnew(a *app, ctx context.Context, b *fleet.Connection, next *wire.Identity, access trust.Access) error {
	if access.Token == "" {
		return nil
	}
	agents, _, err := b.Registrar().List(ctx)
	if errors.Is(err, enrol.ErrNoRegistrar) {
		return nil
	}
	if err != nil {
		return err
	}
	bus, err := a.fleet.Reach(ctx, next, access, "")
	if err != nil {
		return err
	}
	defer bus.Close()
	registrar := &enrol.Client{Transport: bus, Operator: next, Access: access.Token}
	for _, x := range agents {
		if _, err := x.Vouched([]string{b.Operator.Key}); err != nil || x.State != enrol.Approved {
			continue
		}
		if _, err := registrar.Approve(ctx, x.Key); err != nil {
			return fmt.Errorf("the new key cannot vouch for %s: %w", x.Name, err)
		}
	}
	return nil
}
