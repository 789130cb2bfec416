package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
)

// newAgentsCommand is hark agents.
func newAgentsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "agents", Short: "See and steer the agents of the fleet", RunE: argparse.NeedCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(newAgentsListCommand(a), newAgentsShowCommand(a), newAgentsTokenCommand(a), newAgentsTokensCommand(a), newAgentsApproveCommand(a), newAgentsRevokeCommand(a), newAgentsRemoveCommand(a),
		newAgentsUpgradeCommand(a), newAgentsHoldCommand(a), newAgentsReleaseCommand(a))
	return cmd
}

func newAgentsListCommand(a *app) *cobra.Command {
	var asJSON, present, pending bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the agents", Args: argparse.NoArgs, Example: "  hark agents list --present --json\n  hark agents list --pending",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		agents, err := b.Agents(ctx)
		if err != nil {
			return err
		}
		agents = slices.DeleteFunc(agents, func(x fleet.Agent) bool {
			return present && !x.Present || pending && x.State != enrol.Pending
		})
		if asJSON {
			return a.term.PrintJSON(agents)
		}
		return agentTable(a, agents)
	})
	fs.Toggle(&present, "present", "", false, "only those that are there now")
	fs.Toggle(&pending, "pending", "", false, "only those that wait for approval")
	fs.json(&asJSON)
	return cmd
}

func agentTable(a *app, agents []fleet.Agent) error {
	w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSINCE\tSEEN\tVERSION\tPLATFORM")
	for _, x := range agents {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s/%s\n", x.Name, presence(x), fleet.Ago(x.Since), fleet.Ago(x.Seen), x.Version, x.OS, x.Arch)
	}
	return w.Flush()
}

func presence(x fleet.Agent) string {
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

// until is a time to come, "" if there is none.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func newAgentsShowCommand(a *app) *cobra.Command {
	var asJSON, present bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show one agent", Annotations: map[string]string{"args": "name"}, Example: "  hark agents show web1",
		Args: cobra.MatchAll(argparse.Needs("name"), cobra.MaximumNArgs(1)),
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		agents, err := b.Agents(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(agents, func(x fleet.Agent) bool { return x.Name == args[0] || x.ID == args[0] || x.Key == args[0] })
		switch {
		case at < 0:
			return &roster.UnknownError{Name: args[0]}
		case present && !agents[at].Present:
			return fmt.Errorf("the agent of %s is not present: last seen %s", args[0], fleet.Ago(agents[at].Seen))
		case asJSON:
			return a.term.PrintJSON(agents[at])
		}
		describeAgent(a, agents[at])
		return nil
	})
	fs.Toggle(&present, "present", "", false, "fail unless it is there now")
	fs.json(&asJSON)
	return cmd
}

func describeAgent(a *app, x fleet.Agent) {
	since := "never"
	if !x.Since.IsZero() {
		since = x.Since.Local().Format(time.DateTime)
	}
	w := tabwriter.NewWriter(a.term.Out, 0, 8, 2, ' ', 0)
	for _, row := range [][2]string{
		{"name", x.Name}, {"state", presence(x)}, {"seen", fleet.Ago(x.Seen)}, {"since", since}, {"version", x.Version},
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
