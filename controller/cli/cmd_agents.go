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
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/ui/view"
)

// newAgentsCommand is hark agents.
func newAgentsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "agents", Short: "List, let in, upgrade and remove agents", RunE: argparse.NeedCommand,
		Args: cobra.ArbitraryArgs}
	cmd.AddCommand(newAgentsListCommand(a), newAgentsShowCommand(a), newAgentsTokenCommand(a), newAgentsTokensCommand(a),
		newAgentsApproveCommand(a), newAgentsRevokeCommand(a), newAgentsRemoveCommand(a),
		newAgentsUpgradeCommand(a), newAgentsHoldCommand(a), newAgentsReleaseCommand(a))
	return cmd
}

func newAgentsListCommand(a *app) *cobra.Command {
	var asJSON, present, pending bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the agents", Args: argparse.NoArgs,
		Example: "  hark agents list --present --json\n  hark agents list --pending",
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
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSINCE\tSEEN\tVERSION\tPLATFORM")
	for _, x := range agents {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s/%s\n", x.Name, presence(x), fleet.Ago(x.Since), fleet.Ago(x.Seen), x.Version,
			x.OS, x.Arch)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, line := range strings.SplitAfter(b.String(), "\n") {
		color := view.NoColor
		if i > 0 && i <= len(agents) {
			color = presenceColor(presence(agents[i-1]))
		}
		text, end := strings.CutSuffix(line, "\n")
		if text = a.display.Paint(color, text); end {
			text += "\n"
		}
		fmt.Fprint(a.term.Out, text)
	}
	return nil
}

// presenceColor returns the colour of a state in a list.
func presenceColor(state string) view.Color {
	switch state {
	case "present":
		return view.ColorOK
	case "held", string(enrol.Pending):
		return view.ColorChanged
	}
	return view.ColorError
}

func presence(x fleet.Agent) string {
	switch {
	case x.State == enrol.Pending, x.State == enrol.Revoked:
		return string(x.State)
	case x.CannotConnect != "":
		return "expired"
	case x.Present && isHeld(x.Hold):
		return "held"
	case x.Present:
		return "present"
	}
	return "absent"
}

func isHeld(h *wire.Hold) bool { return h != nil && time.Now().Before(h.Until) }

// holdText returns until when keepers leave a host alone and why, "" if they do not.
func holdText(h *wire.Hold) string {
	if !isHeld(h) {
		return ""
	}
	text := "until " + h.Until.Local().Format(time.DateTime)
	if h.Why != "" {
		text += ": " + h.Why
	}
	return text
}

// until returns a time to come, "" if there is none.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func newAgentsShowCommand(a *app) *cobra.Command {
	var asJSON, present bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show one agent", Annotations: map[string]string{"args": "name"},
		Example: "  hark agents show web1",
		Args:    cobra.MatchAll(argparse.Needs("name"), cobra.MaximumNArgs(1)),
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		agents, err := b.Agents(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(agents,
			func(x fleet.Agent) bool { return x.Name == args[0] || x.ID == args[0] || x.Key == args[0] })
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
	a.completeArgs(cmd, 1, func(c *completion) []string { return c.agents() })
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
		{"platform", x.OS + "/" + x.Arch}, {"id", x.ID}, {"key", x.Key}, {"enrolled", string(x.State)}, {"expires",
			until(x.Expires)},
		{"cannot connect", x.CannotConnect}, {"trouble", x.Trouble}, {"held", holdText(x.Hold)},
		{"runs", strings.Join(x.Runs, " ")},
	} {
		if row[1] == "" && row[0] != "runs" && row[0] != "enrolled" {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	_ = w.Flush()
}
