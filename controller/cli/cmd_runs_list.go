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
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
)

// runsList is one call of hark runs list.
type runsList struct {
	*app
	filter       record.Filter
	states       []string
	since, until string
	asJSON       bool
	turns        bool
}

func (j *runsList) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, the newest first", Example: "  hark runs list --failed --since 7d\n  hark runs list --host 'web*' --by anna",
	}
	fs := ofRuns(j.app, cmd, 0, 0, func(ctx context.Context, _ []record.Entry) error { return j.list(ctx) })
	fs.Text(&j.filter.Host, "host", "", "", "PATTERN", "only runs that had such a host (web*)")
	fs.Text(&j.filter.Task, "task", "", "", "PATTERN", "only runs that had such a task")
	fs.List(&j.states, "state", "", "STATE", "only runs that are running, ended, stopped or lost")
	fs.Toggle(&j.filter.Failed, "failed", "", false, "only runs that came out other than well")
	fs.Text(&j.since, "since", "", "", "TIME",
		"only runs that began then or later: how long ago (2h, 7d), or a day (2026-11-01)")
	fs.Text(&j.until, "until", "", "", "TIME", "only runs that began then or before")
	fs.Text(&j.filter.By, "by", "", "", "PERSON",
		"only runs of this person: a login, login@machine, or the beginning of an operator's key")
	fs.Text(&j.filter.Duty, "duty", "", "", "DUTY", "only runs for this duty")
	fs.Toggle(&j.turns, "turns", "", false,
		"each turn of a keeper in a row of its own; otherwise those of a duty between two other runs are one row")
	fs.Number(&j.filter.Limit, "limit", "n", 0, "NUMBER", "no more than so many runs (default: all)")
	fs.json(&j.asJSON)
	return cmd
}

func (j *runsList) list(ctx context.Context) error {
	if err := j.read(); err != nil {
		return err
	}
	found, err := allRuns(j.app).List(ctx, j.filter)
	if err != nil {
		return err
	}
	for _, w := range found.Warnings {
		j.display.Warn(w)
	}
	if j.asJSON {
		return j.term.PrintJSON(append([]record.Entry{}, found.Entries...))
	}
	w := tabwriter.NewWriter(j.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tWHEN\tWHO\tWHAT\tHOSTS\tOK/CHANGED/FAILED/GONE\tTOOK\tSTATE")
	for _, folded := range record.MergeTurns(found.Entries, j.turns || j.filter.Duty != "") {
		s, e := turns{folded}, &folded.Newest
		if s.N > 1 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", e.Head.Run, e.Head.At.Local().Format(time.DateTime),
				view.OneLine(e.Head.Person()), s.text(), s.Hosts, s.counts(), "", s.state())
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", e.Head.Run, e.Head.At.Local().Format(time.DateTime),
			view.OneLine(e.Head.Person()), whatRan(&e.Head), e.Met(), stateCounts(e),
			tookText(e.Took(time.Now())), stateText(e))
	}
	return w.Flush()
}

// turns is a row of the list for turns of one duty.
type turns struct{ *record.Turns }

func (s turns) text() string { return fmt.Sprintf("%d turns of %s", s.N, s.Newest.Head.Duty) }

func (s turns) counts() string {
	return fmt.Sprintf("%d/%d/%d/%d", s.States[record.StateOK], s.States[record.StateChanged],
		s.States[record.StateFailed], s.States[record.StateUnreachable])
}

func (s turns) state() string {
	if s.Failed == 0 {
		return "ok"
	}
	return fmt.Sprintf("%d failed", s.Failed)
}

// read checks the filter.
func (j *runsList) read() (err error) {
	if err := checkPatterns(j.filter.Host, j.filter.Task); err != nil {
		return err
	}
	all := []record.State{record.Running, record.Ended, record.Stopped, record.Lost}
	for _, s := range j.states {
		if !slices.Contains(all, record.State(s)) {
			return &argparse.UsageError{Text: dialect.InvalidChoice.Text("--state", s, "'running', 'ended', 'stopped', 'lost'")}
		}
		j.filter.States = append(j.filter.States, record.State(s))
	}
	if j.filter.Limit < 0 {
		return &argparse.UsageError{Text: "argument -n/--limit: it cannot be negative"}
	}
	if j.filter.Since, err = moment(j.since, time.Now()); err != nil {
		return err
	}
	j.filter.Until, err = moment(j.until, time.Now())
	return err
}

// whatRan returns the command line in short.
func whatRan(h *record.Head) string {
	const most = 44
	words := slices.Clone(h.Line)
	if len(words) > 1 && words[0] == "hark" {
		words = words[1:]
	}
	text := []rune(view.OneLine(strings.Join(words, " ")))
	if len(text) > most {
		text = append(text[:most-3], '.', '.', '.')
	}
	return string(text)
}

// stateCounts returns the counts of hosts.
func stateCounts(e *record.Entry) string {
	if e.Foot == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d/%d/%d", e.Counts[record.StateOK], e.Counts[record.StateChanged],
		e.Counts[record.StateFailed], e.Counts[record.StateUnreachable])
}

// tookText returns a duration as people say it.
func tookText(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// stateText returns the state, of runs without an end with where they stand.
func stateText(e *record.Entry) string {
	text := e.Word()
	if stage := e.RolloutStage(); stage != "" {
		text += ", " + stage
	}
	if e.At != "" {
		text += fmt.Sprintf(", at %q", view.OneLine(e.At))
	}
	if e.Foot != nil && e.Foot.Incomplete != "" {
		text += ", incomplete"
	}
	if e.Pinned {
		text += ", kept"
	}
	return text
}
