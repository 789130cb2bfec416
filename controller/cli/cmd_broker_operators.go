package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/broker"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play/link"
)

// newBrokerOperatorsCommand lists who has access to the broker.
func newBrokerOperatorsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "operators", Short: "List who has access to the broker", Args: argparse.NoArgs,
		Long: "Lists operators, keepers, consoles and others who were given access to the broker: since when, by whom, " +
			"when they were last connected, and until when. `hark broker admit` gives access, `hark broker expel` takes it " +
			"back.",
		Example: "  hark broker operators\n  hark broker operators --json",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		all, err := b.Registrar().Operators(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			if all == nil {
				all = []enrol.Operator{}
			}
			return a.term.PrintJSON(all)
		}
		return operatorTable(a, all, time.Now())
	})
	fs.json(&asJSON)
	return cmd
}

func operatorTable(a *app, all []enrol.Operator, now time.Time) error {
	w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tACCESS\tSINCE\tBY\tSEEN\tUNTIL\tKEY")
	for _, o := range all {
		seen := fleet.Ago(o.Seen)
		if o.Connected > 0 {
			seen = "connected"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(o.Name, "-"), o.Access,
			o.Since.Local().Format(time.DateOnly), cmp.Or(o.By, "-"), seen,
			accessEnds(o, now), o.Key)
	}
	return w.Flush()
}

// accessEnds says until when an operator has access.
func accessEnds(o enrol.Operator, now time.Time) string {
	switch {
	case !o.Expires.IsZero() && o.Expires.Before(now):
		return "expired"
	case !o.Until.IsZero():
		return o.Until.Local().Format(time.DateOnly)
	case o.Renews:
		return "renewed, " + o.Expires.Local().Format(time.DateOnly)
	}
	return "for ever"
}

// newBrokerExpelCommand takes back what an operator was given.
func newBrokerExpelCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "expel", Short: "Take an operator's access and trust back", Annotations: map[string]string{"args": "name"},
		Args: exactly("name"),
		Long: "Takes back what an operator was given, by name or public key: access to the broker (connections are " +
			"closed), the trust of all agents that are present, and, of this operator, reading records and the word for " +
			"agents. It says what stays. It needs access with --agents. Call it again for agents that were absent.",
		Example: "  hark broker expel bela\n  hark broker expel UABC...",
	}
	onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		return (&expulsion{app: a, b: b}).run(ctx, args[0])
	})
	return cmd
}

// expulsion is one call of hark broker expel.
type expulsion struct {
	*app
	b    *fleet.Connection
	left []string // what stays
}

func (x *expulsion) run(ctx context.Context, what string) error {
	if what == x.b.Operator.Key {
		return errors.New("this is your own key: another operator has to do it")
	}
	o, withdrawn, err := x.b.Registrar().Expel(ctx, what)
	if err != nil {
		return fmt.Errorf("nothing was taken back: %w", err)
	}
	name := cmp.Or(o.Name, o.Key)
	fmt.Fprintf(x.term.Out, "broker: %s has no access any more (%s)\n", name, o.Key)
	if o.Connected > 0 {
		fmt.Fprintf(x.term.Out, "broker: %s closed\n", plural(o.Connected, "connection"))
	}
	if withdrawn > 0 {
		fmt.Fprintf(x.term.Out, "broker: %s for agents withdrawn\n", plural(withdrawn, "token"))
	}
	failed, err := x.distrust(ctx, o.Key)
	if err != nil {
		return err
	}
	if err := x.forget(o, name); err != nil {
		return err
	}
	x.tellWhatStays(name)
	if failed > 0 {
		return &quietError{exitFailed}
	}
	return nil
}

// distrust has agents obey the operator no more.
func (x *expulsion) distrust(ctx context.Context, key string) (failed int, err error) {
	agents, err := x.b.Roster.All(ctx)
	if err != nil {
		return 0, err
	}
	var absent []string
	p := &link.Pinger{Transport: x.b, Operator: x.b.Operator}
	for _, agent := range agents {
		if !agent.Present {
			absent = append(absent, agent.Name)
			continue
		}
		if err := x.distrustAt(ctx, p, agent, key); err != nil {
			failed++
			fmt.Fprintf(x.term.Out, "%s: failed: %v\n", agent.Name, err)
		}
	}
	if len(absent) > 0 {
		x.left = append(x.left,
			fmt.Sprintf("agents that are absent obey this key still: %s: `hark key distrust %s` when they are back",
				strings.Join(absent, " "), key))
	}
	return failed, nil
}

func (x *expulsion) distrustAt(ctx context.Context, p *link.Pinger, agent roster.Agent, key string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	operators, err := p.Trust(ctx, agent.Key, agent.XKey, wire.Trust{Remove: []string{key}})
	if err != nil {
		return err
	}
	if slices.Contains(operators, key) {
		return errors.New("the key is in a file on the host (the agent's configuration or its policy): take it out there")
	}
	fmt.Fprintf(x.term.Out, "%s: ok, obeys %s\n", agent.Name, plural(len(operators), "operator"))
	return nil
}

// forget has the expelled operator read nothing of later weeks, and takes no word for agents any more.
func (x *expulsion) forget(o enrol.Operator, name string) error {
	readers, err := trust.Readers(x.fleet.Home)
	if err != nil {
		return err
	}
	for _, r := range readers {
		if r.Key != o.Reader && (o.Name == "" || r.Name != o.Name) {
			continue
		}
		if err := trust.RemoveReader(x.fleet.Home, r.Key); err != nil {
			return err
		}
		fmt.Fprintf(x.term.Out, "readers: %s reads no records of later weeks\n", r.Name)
	}
	brokers, err := trust.OpenBrokers(x.fleet.Home)
	if err != nil {
		return err
	}
	had, err := brokers.Disbelieve(o.Key, o.Reader)
	if had {
		fmt.Fprintf(x.term.Out, "belief: the word of %s for agents, runs and duties is taken no more\n", name)
	}
	return err
}

func (x *expulsion) tellWhatStays(name string) {
	x.left = append(x.left,
		"what "+name+" has read and copied, and what plays have left on hosts (users, keys, files)",
		"other operators, keepers and consoles: `hark runs readers remove` and `hark key disbelieve` there",
		"vault passwords, ssh keys, the project's repository, API tokens: change what "+name+" knew")
	fmt.Fprintln(x.term.Out, "\nThis stays:")
	for _, line := range x.left {
		fmt.Fprintf(x.term.Out, "- %s\n", line)
	}
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// freeName returns the name that an operator gets who was given none: that of the login, if no other operator has it.
func freeName(authority *broker.Authority, name, key string) string {
	all, err := authority.Operators()
	taken := slices.ContainsFunc(all, func(o enrol.Operator) bool { return o.Name == name && o.Key != key })
	if err != nil || taken || wire.CheckName(name) != nil {
		return ""
	}
	return name
}
