package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/internal/argparse"
	"hark/controller/internal/enrol"
	"hark/controller/internal/roster"
)

// agentsCommand is hark agents.
func (a *app) agentsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "agents", Short: "See and steer the agents of the fleet", RunE: argparse.NeedCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(a.agentsList(), a.agentsShow(), a.agentsToken(), a.agentsTokens(), a.agentsApprove(), a.agentsRevoke(), a.agentsRemove(),
		a.agentsUpgrade())
	return cmd
}

func (a *app) jsonFlag(fs argparse.Flags, p *bool) { fs.Toggle(p, "json", "", false, "print JSON") }

// knownAgent is an agent as it said of itself, and as it stands in the registrar's book.
type knownAgent struct {
	roster.Agent
	// State is that of the book, "" if there is none or the agent is not in it.
	State enrol.State `json:"state,omitempty"`
	// Expires is until when its credentials are good, if the book tells.
	Expires time.Time `json:"expires,omitzero"`
	// Standing is why it cannot connect, and what to do; "" if it can.
	Standing string `json:"standing,omitempty"`
}

// agents reads the roster and the book. An agent that was let in and never spoke is listed too.
func (b *brokerLink) agents(ctx context.Context) ([]knownAgent, error) {
	heard, err := b.roster.All(ctx)
	if err != nil {
		return nil, err
	}
	book, err := b.enrolled(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]knownAgent, len(heard))
	for i, x := range heard {
		all[i] = knownAgent{Agent: x}
	}
	for _, e := range book {
		at := slices.IndexFunc(all, func(x knownAgent) bool { return x.Key == e.Key })
		if at < 0 {
			at = len(all)
			all = append(all, knownAgent{Agent: roster.Agent{Key: e.Key, Hello: wire.Hello{
				ID: wire.IDOf(e.Key), Name: e.Name, Version: e.Version, OS: e.OS, Arch: e.Arch, XKey: e.XKey}}})
		}
		all[at].State, all[at].Expires = e.State, e.Expires
		if !all[at].Present || e.State != enrol.Approved {
			all[at].Standing = standing(e, time.Now())
		}
	}
	all = slices.DeleteFunc(all, func(x knownAgent) bool { return x.State == "" && replaced(x, book) })
	slices.SortFunc(all, func(x, y knownAgent) int { return strings.Compare(x.Name, y.Name) })
	return all, nil
}

// replaced tells whether another agent was let in under the name of one that the book does not have.
func replaced(x knownAgent, book []enrol.Agent) bool {
	return slices.ContainsFunc(book, func(e enrol.Agent) bool { return e.Name == x.Name && e.State == enrol.Approved })
}

// rosterOf reads all agents from the broker.
func (a *app) rosterOf(ctx context.Context, url string) ([]knownAgent, error) {
	b, err := a.dial(ctx, url)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return b.agents(ctx)
}

func (a *app) agentsList() *cobra.Command {
	var asJSON, present, pending bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the agents", Args: argparse.NoArgs, Example: "  hark agents list --present --json\n  hark agents list --pending",
	}
	fs := a.onBroker(cmd, func(ctx context.Context, b *brokerLink, _ []string) error {
		agents, err := b.agents(ctx)
		if err != nil {
			return err
		}
		agents = slices.DeleteFunc(agents, func(x knownAgent) bool {
			return present && !x.Present || pending && x.State != enrol.Pending
		})
		if asJSON {
			return a.term.PrintJSON(agents)
		}
		return a.agentTable(agents)
	})
	fs.Toggle(&present, "present", "", false, "only those that are there now")
	fs.Toggle(&pending, "pending", "", false, "only those that wait for approval")
	a.jsonFlag(fs, &asJSON)
	return cmd
}

func (a *app) agentTable(agents []knownAgent) error {
	w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSINCE\tSEEN\tVERSION\tPLATFORM")
	for _, x := range agents {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s/%s\n", x.Name, presence(x), ago(x.Since), ago(x.Seen), x.Version, x.OS, x.Arch)
	}
	return w.Flush()
}

func presence(x knownAgent) string {
	switch {
	case x.State == enrol.Pending, x.State == enrol.Revoked:
		return string(x.State)
	case x.Standing != "":
		return "expired"
	case x.Present:
		return "present"
	}
	return "absent"
}

// ago is how long a time has passed, as people say it.
func ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	switch d := time.Since(t); {
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Local().Format(time.DateOnly)
}

// until is a time to come, "" if there is none.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func (a *app) agentsShow() *cobra.Command {
	var asJSON, present bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show one agent", Annotations: map[string]string{"args": "name"}, Example: "  hark agents show web1",
		Args: cobra.MatchAll(argparse.Needs("name"), cobra.MaximumNArgs(1)),
	}
	fs := a.onBroker(cmd, func(ctx context.Context, b *brokerLink, args []string) error {
		agents, err := b.agents(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(agents, func(x knownAgent) bool { return x.Name == args[0] || x.ID == args[0] || x.Key == args[0] })
		switch {
		case at < 0:
			return &roster.UnknownError{Name: args[0]}
		case present && !agents[at].Present:
			return fmt.Errorf("the agent of %s is not present: last seen %s", args[0], ago(agents[at].Seen))
		case asJSON:
			return a.term.PrintJSON(agents[at])
		}
		a.describeAgent(agents[at])
		return nil
	})
	fs.Toggle(&present, "present", "", false, "fail unless it is there now")
	a.jsonFlag(fs, &asJSON)
	return cmd
}

func (a *app) describeAgent(x knownAgent) {
	since := "never"
	if !x.Since.IsZero() {
		since = x.Since.Local().Format(time.DateTime)
	}
	w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
	for _, row := range [][2]string{
		{"name", x.Name}, {"state", presence(x)}, {"seen", ago(x.Seen)}, {"since", since}, {"version", x.Version},
		{"platform", x.OS + "/" + x.Arch}, {"id", x.ID}, {"key", x.Key}, {"enrolled", string(x.State)}, {"expires", until(x.Expires)},
		{"standing", x.Standing}, {"trouble", x.Trouble}, {"runs", strings.Join(x.Runs, " ")},
	} {
		if row[1] == "" && row[0] != "runs" && row[0] != "enrolled" {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	_ = w.Flush()
}
