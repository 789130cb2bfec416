package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/duties/keeper"
	"hark/controller/internal/fleet"
	"hark/controller/internal/ui/view"
)

// newDutiesCommand is hark duties.
func newDutiesCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "duties", Short: "See how hosts stand under the plays that they are held to",
		RunE: argparse.NeedCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(newDutiesListCommand(a), newDutiesShowCommand(a), newDutiesDriftCommand(a),
		newDutiesAskCommand(a, keeper.AskRun, "Do a duty now", "  hark duties run base -l web7"),
		newDutiesAskCommand(a, keeper.AskPause, "Have a duty do nothing until it is resumed",
			"  hark duties pause base --why 'holidays'"),
		newDutiesAskCommand(a, keeper.AskResume, "Let a duty go on", "  hark duties resume base"),
		newDutiesAskCommand(a, keeper.AskCancel, "Cancel a play that was put off", "  hark duties cancel later-k3f9q2"),
		newDutiesAskCommand(a, keeper.RequestBaseline, "Take what checks find now as noise",
			"  hark duties baseline base"))
	return cmd
}

// words returns what keepers said who are believed.
func words(ctx context.Context, a *app, b *fleet.Connection) ([]dutystate.Words, error) {
	store, err := dutystate.Open(b.Conn(), b.Operator, nil, b.Believes)
	if err != nil {
		return nil, err
	}
	all, warnings, err := store.Read(ctx)
	for _, w := range warnings {
		a.display.Warn(w)
	}
	return all, err
}

// definitions returns the duties that are in force.
func definitions(all []dutystate.Words) []dutystate.Definition {
	out := []dutystate.Definition{}
	for _, w := range all {
		for _, d := range w.Definitions {
			if !d.Gone {
				out = append(out, d)
			}
		}
	}
	return out
}

// named returns the one duty of a name, with how its hosts stand.
func named(all []dutystate.Words, name string) (dutystate.Definition, []dutystate.State, error) {
	var found []dutystate.Definition
	var states []dutystate.State
	for _, w := range all {
		for _, d := range w.Definitions {
			if d.Name == name && !d.Gone {
				found = append(found, d)
				states = slices.DeleteFunc(slices.Clone(w.States), func(s dutystate.State) bool { return s.Duty != name })
			}
		}
	}
	switch len(found) {
	case 0:
		return dutystate.Definition{}, nil, fmt.Errorf("there is no duty %q: `hark duties list`", name)
	case 1:
		return found[0], states, nil
	}
	return dutystate.Definition{}, nil, fmt.Errorf("%d keepers have a duty %q", len(found), name)
}

// listed is a duty as --json has it.
type listed struct {
	dutystate.Definition
	States map[dutystate.Kind]int `json:"states"`
	Blind  int                    `json:"blind"`
	Tasks  int                    `json:"tasks"`
	Late   bool                   `json:"late"`
}

func newDutiesListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the duties, and how many hosts stand how", Args: argparse.NoArgs,
		Long: "Exit code: 3 if a keeper has no duties because it cannot read its project."}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		all, err := words(ctx, a, b)
		if err != nil {
			return err
		}
		rows := []listed{}
		for _, w := range all {
			for _, d := range w.Definitions {
				if d.Gone {
					continue
				}
				row := listed{Definition: d, States: dutystate.Count(w.States, d.Name), Late: d.Late(time.Now())}
				row.Blind, row.Tasks, _ = dutystate.Blindness(w.States, d.Name)
				rows = append(rows, row)
			}
		}
		if asJSON {
			err = a.term.PrintJSON(rows)
		} else {
			err = dutyTable(a.term.Out, rows)
		}
		if err != nil {
			return err
		}
		return a.noDuties(all)
	})
	fs.json(&asJSON)
	return cmd
}

// noDuties says why keepers have no duties. It is an error if that is because a project cannot be read.
func (a *app) noDuties(all []dutystate.Words) error {
	var unread error
	if len(all) == 0 {
		a.display.PrintErr(view.NoColor, "no keeper that you believe has said anything: `hark key believe UKEEPER...` lets "+
			"you read what one says, and `hark agents list` shows whether the broker is the right one")
	}
	for _, w := range all {
		if slices.ContainsFunc(w.Definitions, func(d dutystate.Definition) bool { return !d.Gone && d.Later == nil }) {
			continue
		}
		switch r := w.Report; {
		case r == nil:
			a.display.PrintErr(view.NoColor, "the keeper "+w.Keeper+" has not read its project yet: `hark keeper status`")
		case r.Stale != "":
			a.display.Error("the keeper " + w.Keeper + " cannot read its project " + r.Project + ": " + r.Stale)
			unread = &quietError{exitDrift}
		default:
			a.display.PrintErr(view.NoColor, "the keeper "+w.Keeper+": there are no duties in "+r.Project)
		}
	}
	return unread
}

func dutyTable(out io.Writer, rows []listed) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w,
		"DUTY\tMODE\tEVERY\tLEVEL\tHOSTS\tKEPT\tDRIFTED\tMENDED\tFAILED\tABSENT\tHELD\tNEVER\tBLIND\tCOMMIT\tNEXT")
	for _, d := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d", d.Name, d.Mode, cmp.Or(d.Every, "once"), cmp.Or(d.Level, "-"), d.Count)
		for _, k := range dutystate.Kinds() {
			fmt.Fprintf(w, "\t%s", tally(d.States[k]))
		}
		fmt.Fprintf(w, "\t%d/%d\t%s\t%s\n", d.Blind, d.Tasks, d.Commit, next(&d))
	}
	return w.Flush()
}

func tally(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// next says when a duty goes on, or why it does not.
func next(d *listed) string {
	var say []string
	switch now := time.Now(); {
	case d.Paused != nil:
		say = append(say, "paused: "+d.Paused.Why)
	case d.Late:
		say = append(say, "nothing was said since "+fleet.Ago(d.At)+": is the keeper running?")
	case d.Later != nil:
		return laterText(d.Later)
	case !d.Next.After(now):
		say = append(say, "now")
	default:
		say = append(say, "in "+d.Next.Sub(now).Round(time.Second).String())
	}
	if d.Before != "" {
		say = append(say, fmt.Sprintf("stage %d, the others have %s", d.Stage+1, d.Before))
	}
	if d.Stale != "" {
		say = append(say, "stale: "+strings.Join(strings.Fields(d.Stale), " "))
	}
	return strings.Join(say, "; ")
}

// laterText says how it is with a play that was put off.
func laterText(l *dutystate.Later) string {
	switch {
	case l.Ended.IsZero():
		return "when hosts are back, until " + l.Until.Local().Format(time.DateTime)
	case len(l.Expired) > 0:
		return fmt.Sprintf("expired %s: %s did not get it: %s", l.Ended.Local().Format(time.DateTime),
			hostCount(len(l.Expired)), strings.Join(view.Fold(l.Expired), " "))
	}
	return "done " + l.Ended.Local().Format(time.DateTime)
}

func newDutiesShowCommand(a *app) *cobra.Command {
	var asJSON, sweeps bool
	var host string
	cmd := &cobra.Command{
		Use: "show", Short: "Show how the hosts of a duty stand, or the turns of one",
		Annotations: map[string]string{"args": "duty"},
		Args: cobra.MatchAll(argparse.Needs("duty"),
			cobra.MaximumNArgs(1)),
		Example: "  hark duties show base\n  hark duties show base --host web7\n  hark duties show base --sweeps",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		all, err := words(ctx, a, b)
		if err != nil {
			return err
		}
		d, states, err := named(all, args[0])
		if err != nil {
			return err
		}
		if host != "" && sweeps {
			return argparse.OptionsError("--host and --sweeps do not go together")
		}
		if host != "" {
			states = slices.DeleteFunc(states, func(s dutystate.State) bool { return s.Host != host })
			if len(states) == 0 {
				return fmt.Errorf("the duty %s has no host %q", d.Name, host)
			}
		}
		switch {
		case asJSON && sweeps:
			return a.term.PrintJSON(append([]dutystate.Sweep{}, d.Sweeps...))
		case sweeps:
			return sweepTable(a.term.Out, d.Sweeps)
		case asJSON:
			return a.term.PrintJSON(states)
		case host != "":
			return dutyHost(a.term.Out, &states[0])
		}
		return dutyHosts(a.term.Out, &d, states)
	})
	fs.Text(&host, "host", "", "", "HOST", "the turns of this host")
	fs.Toggle(&sweeps, "sweeps", "", false, "how the turns came out, slot by slot")
	fs.json(&asJSON)
	return cmd
}

func dutyHosts(out io.Writer, d *dutystate.Definition, states []dutystate.State) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "HOST\tSTANDS\tSINCE\tLAST\tMISSED\tCOMMIT\tRUN\tWHY")
	for _, s := range states {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Host, s.Kind, fleet.Ago(s.Since), fleet.Ago(s.At),
			tally(s.Missed), s.Commit, s.Run, why(&s))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if blind, of, names := dutystate.Blindness(states, d.Name); blind > 0 {
		fmt.Fprintf(out, "\nchecks cannot look at %d of %d tasks:\n  %s\n", blind, of, strings.Join(names, "\n  "))
	}
	var noise []string
	for _, s := range states {
		for _, task := range s.Noise {
			if s.NoiseCommit == d.Commit && !slices.Contains(noise, task) {
				noise = append(noise, task)
			}
		}
	}
	if len(noise) > 0 {
		fmt.Fprintf(out, "\nnoise, which is changed each time and no drift:\n  %s\n", strings.Join(noise, "\n  "))
	}
	return nil
}

// sweepTable is how the turns of slots came out.
func sweepTable(out io.Writer, sweeps []dutystate.Sweep) error {
	kinds := slices.DeleteFunc(dutystate.Kinds(), func(k dutystate.Kind) bool { return k == dutystate.Never })
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprint(w, "SLOT\tTURNS")
	for _, k := range kinds {
		fmt.Fprintf(w, "\t%s", strings.ToUpper(string(k)))
	}
	fmt.Fprintln(w)
	for _, s := range sweeps {
		turns := 0
		for _, n := range s.Hosts {
			turns += n
		}
		fmt.Fprintf(w, "%s\t%d", s.Slot.Local().Format(time.DateTime), turns)
		for _, k := range kinds {
			fmt.Fprintf(w, "\t%s", tally(s.Hosts[k]))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// why returns what a person should know of a state.
func why(s *dutystate.State) string {
	text := s.Why
	if !s.Until.IsZero() {
		text += ", until " + s.Until.Local().Format(time.DateTime)
	}
	if text == "" && len(s.Drift) > 0 {
		text = s.Drift[0].Task
		if n := len(s.Drift) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
	}
	return strings.Join(strings.Fields(text), " ")
}

func dutyHost(out io.Writer, s *dutystate.State) error {
	fmt.Fprintf(out, "%s is %s since %s %s\n", s.Host, s.Kind, s.Since.Local().Format(time.DateTime), why(s))
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "FROM\tTO\tTURNS\tSTOOD\tRUN\tTASKS")
	for _, p := range s.Past {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", p.From.Local().Format(time.DateTime), p.To.Local().Format(time.DateTime),
			p.Times, p.Kind, p.Run, strings.Join(p.Tasks, ", "))
	}
	return w.Flush()
}

func newDutiesDriftCommand(a *app) *cobra.Command {
	var asJSON, diff bool
	var host string
	cmd := &cobra.Command{
		Use: "drift", Short: "Show what drifts, equal drift of several hosts once",
		Annotations: map[string]string{"args": "[duty]"}, Args: cobra.MaximumNArgs(1),
		Long:    "Exit code: 0 if nothing drifts, 3 if anything does, 1 if that cannot be told.",
		Example: "  hark duties drift\n  hark duties drift base --diff --host web7",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		all, err := words(ctx, a, b)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			if _, _, err := named(all, args[0]); err != nil {
				return err
			}
		}
		groups, known := []dutystate.Group{}, host == ""
		for _, w := range all {
			known = known || slices.ContainsFunc(w.States,
				func(s dutystate.State) bool { return s.Host == host && (len(args) == 0 || s.Duty == args[0]) })
		}
		if !known {
			return fmt.Errorf("no duty has a host %q", host)
		}
		for _, w := range all {
			groups = append(groups, dutystate.Drifts(w.States, func(s *dutystate.State) bool {
				return (len(args) == 0 || s.Duty == args[0]) && (host == "" || s.Host == host)
			})...)
		}
		if asJSON {
			err = a.term.PrintJSON(groups)
		} else {
			driftRows(a.term.Out, groups, diff)
		}
		if err == nil && len(groups) > 0 {
			err = &quietError{exitDrift}
		}
		return err
	})
	fs.Toggle(&diff, "diff", "", false, "with the differences")
	fs.Text(&host, "host", "", "", "HOST", "only of this host")
	fs.json(&asJSON)
	return cmd
}

func driftRows(out io.Writer, groups []dutystate.Group, diff bool) {
	if !diff { // what is not shown makes no row of its own
		groups = dutystate.ByTask(groups, 0)
	}
	for _, g := range groups {
		hosts := strings.Join(view.Fold(g.Hosts), " ")
		fmt.Fprintf(out, "%s  %s  %s  %s  since %s", hostCount(len(g.Hosts)), hosts, g.Duty, g.Task,
			g.Since.Local().Format(time.DateTime))
		if g.Merged > 1 {
			fmt.Fprintf(out, "  (%d differences)", g.Merged)
		}
		fmt.Fprintln(out)
		if diff && g.Diff != "" {
			fmt.Fprintf(out, "    %s\n", strings.ReplaceAll(strings.TrimRight(g.Diff, "\n"), "\n", "\n    "))
		}
	}
}

func hostCount(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", n)
}

// newDutiesAskCommand is a command that asks a keeper for something.
func newDutiesAskCommand(a *app, what, short, example string) *cobra.Command {
	var asJSON bool
	var limit, reason string
	cmd := &cobra.Command{
		Use: what, Short: short, Annotations: map[string]string{"args": "duty"},
		Args: cobra.MatchAll(argparse.Needs("duty"), cobra.MaximumNArgs(1)), Example: example,
		Long: short + ". The keeper of the duty does it, if it is running and believes this operator.",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		all, err := words(ctx, a, b)
		if err != nil {
			return err
		}
		d, _, err := named(all, args[0])
		if err != nil {
			return err
		}
		ask := keeper.Request{What: what, Duty: d.Name, Why: reason}
		ask.Hosts = strings.FieldsFunc(limit, func(r rune) bool { return r == ',' || r == ' ' })
		if cmd.Flags().Changed("limit") && len(ask.Hosts) == 0 {
			return argparse.OptionsError("--limit names no host")
		}
		if what == keeper.AskPause && strings.TrimSpace(reason) == "" {
			return argparse.OptionsError("a pause needs a reason")
		}
		done, err := keeper.Put(ctx, b, b.Operator, d.Keeper, d.XKey, ask)
		if err != nil {
			return err
		}
		if asJSON {
			return a.term.PrintJSON(map[string]any{"duty": d.Name, "what": what, "hosts": done.Hosts})
		}
		fmt.Fprintf(a.term.Out, "%s: %s, %s\n", d.Name, what, hostCount(done.Hosts))
		return nil
	})
	if what == keeper.AskRun || what == keeper.RequestBaseline {
		fs.Text(&limit, "limit", "l", "", "HOSTS", "only these hosts, by name, parted by commas")
	}
	if what == keeper.AskPause {
		fs.Text(&reason, "why", "", "by hand", "TEXT", "the reason, for those who wonder")
	}
	fs.json(&asJSON)
	return cmd
}
