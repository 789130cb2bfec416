package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/roster"
)

// agentsCommand is hark agents.
func (a *app) agentsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "agents", Short: "See the hosts whose agents are known", RunE: needCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(a.agentsList(), a.agentsShow())
	return cmd
}

func (a *app) jsonFlag(fs flagSet, p *bool) { fs.toggle(p, "json", "", false, "print JSON") }

// printJSON prints a value of hark's own commands for programs.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.Out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// roster reads the roster from the broker.
func (a *app) rosterOf(ctx context.Context, url string) ([]roster.Agent, error) {
	b, err := a.dial(ctx, url)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	agents, err := b.roster.All(ctx)
	slices.SortFunc(agents, func(x, y roster.Agent) int { return strings.Compare(x.Name, y.Name) })
	return agents, err
}

func (a *app) agentsList() *cobra.Command {
	var o options
	var asJSON, present bool
	cmd := &cobra.Command{Use: "list", Short: "List the agents", Args: noArgs, Example: "  hark agents list --present --json"}
	fs := a.flagSet(cmd.Flags())
	a.baseFlags(fs, &o)
	a.brokerFlag(fs, &o)
	fs.toggle(&present, "present", "", false, "only those that are there now")
	a.jsonFlag(fs, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, &o); err != nil {
			return err
		}
		agents, err := a.rosterOf(cmd.Context(), o.broker)
		if err != nil {
			return err
		}
		if present {
			agents = slices.DeleteFunc(agents, func(x roster.Agent) bool { return !x.Present })
		}
		if asJSON {
			return a.printJSON(agents)
		}
		return a.agentTable(agents)
	}
	return cmd
}

func (a *app) agentTable(agents []roster.Agent) error {
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSEEN\tVERSION\tPLATFORM")
	for _, x := range agents {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s/%s\n", x.Name, presence(x), ago(x.Seen), x.Version, x.OS, x.Arch)
	}
	return w.Flush()
}

func presence(x roster.Agent) string {
	if x.Present {
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
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Format(time.DateOnly)
}

func (a *app) agentsShow() *cobra.Command {
	var o options
	var asJSON, present bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show one agent", Annotations: map[string]string{"args": "name"}, Args: cobra.ArbitraryArgs,
		Example: "  hark agents show web1",
	}
	fs := a.flagSet(cmd.Flags())
	a.baseFlags(fs, &o)
	a.brokerFlag(fs, &o)
	fs.toggle(&present, "present", "", false, "fail unless it is there now")
	a.jsonFlag(fs, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &usageError{text: "the following arguments are required: name"}
		}
		if err := a.begin(cmd, &o); err != nil {
			return err
		}
		agents, err := a.rosterOf(cmd.Context(), o.broker)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(agents, func(x roster.Agent) bool { return x.Name == args[0] })
		if at < 0 {
			return &roster.UnknownError{Name: args[0]}
		}
		if present && !agents[at].Present {
			return fmt.Errorf("the agent of %s is not present: last seen %s", args[0], ago(agents[at].Seen))
		}
		if asJSON {
			return a.printJSON(agents[at])
		}
		a.describeAgent(agents[at])
		return nil
	}
	return cmd
}

func (a *app) describeAgent(x roster.Agent) {
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	for _, row := range [][2]string{
		{"name", x.Name}, {"state", presence(x)}, {"seen", ago(x.Seen)}, {"since", x.Since.Format(time.DateTime)}, {"version", x.Version},
		{"platform", x.OS + "/" + x.Arch}, {"id", x.ID}, {"key", x.Key}, {"runs", strings.Join(x.Runs, " ")},
	} {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	_ = w.Flush()
}
