package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/fleet"
	"hark/controller/internal/runs/ledger"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// runsAudit is one call of hark runs audit.
type runsAudit struct {
	*app
	since, until string
	filter       record.Filter
	asJSON       bool
}

func (j *runsAudit) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Check that the records at the broker are what operators signed",
		Annotations: map[string]string{"args": "[run]"},
		Args:        cobra.MaximumNArgs(1), Example: "  hark runs audit --since 30d",
		Long: "Looks at every record at the broker, or at that of one run: who signed it, whether a part was altered, left " +
			"out, swapped or taken from another run, whether it is complete, and whether everything is there that was sent " +
			"from here. The exit code is 1 if anything is wrong.",
	}
	fs := onBroker(j.app, cmd, j.audit)
	fs.Text(&j.since, "since", "", "", "TIME",
		"only runs that began then or later: how long ago (2h, 7d), or a day (2026-11-01)")
	fs.Text(&j.until, "until", "", "", "TIME", "only runs that began then or before")
	fs.json(&j.asJSON)
	checkFirst(cmd, func() (err error) {
		if j.filter.Since, err = moment(j.since, time.Now()); err == nil {
			j.filter.Until, err = moment(j.until, time.Now())
		}
		return err
	})
	return cmd
}

func (j *runsAudit) audit(ctx context.Context, b *fleet.Connection, args []string) (err error) {
	l, err := b.Ledger(j.fleet.Home)
	if err != nil {
		return err
	}
	run := ""
	if len(args) > 0 {
		if run, err = j.named(ctx, l, args[0]); err != nil {
			return err
		}
	}
	found, err := l.Audit(ctx, run, j.filter)
	if err != nil {
		return err
	}
	if run != "" && len(found) == 0 {
		return &record.MissingError{Run: run}
	}
	wrong := 0
	for _, v := range found {
		if len(v.Trouble) > 0 {
			wrong++
		}
	}
	if j.asJSON {
		err = j.term.PrintJSON(append([]ledger.Verdict{}, found...))
	} else {
		err = j.print(found, wrong)
	}
	if err == nil && wrong > 0 {
		err = &quietError{exitError}
	}
	return err
}

// named returns the run of a word. One whose beginning is not there any more can be named by its whole id.
func (j *runsAudit) named(ctx context.Context, l *ledger.Ledger, word string) (string, error) {
	if word == record.Last || word == record.LastFailed {
		e, err := record.Choose(ctx, runStore(j.app), word)
		return e.Head.Run, err
	}
	e, err := record.Choose(ctx, l.Store(), word)
	if err != nil {
		var ambiguous *record.AmbiguousError
		switch {
		case errors.As(err, &ambiguous):
			return "", err
		case strings.ContainsAny(word, ".*> "):
			return "", &record.MissingError{Run: word}
		}
		return word, nil
	}
	return e.Head.Run, nil
}

func (j *runsAudit) print(found []ledger.Verdict, wrong int) error {
	w := tabwriter.NewWriter(j.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tWHEN\tWHO\tCOMMIT\tPARTS\tSTATE\tVERDICT")
	for i := range found {
		v := &found[i]
		when := "-"
		if !v.At.IsZero() {
			when = v.At.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", v.Run, when, view.OneLine(whoSigned(v)),
			dash(view.OneLine(v.Commit)), v.Parts, dash(string(v.State)), view.OneLine(verdictOf(v)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(j.term.Out, "%d records, %d with something wrong\n", len(found), wrong)
	return nil
}

// whoSigned returns the operator: by name only if his key is known here.
func whoSigned(v *ledger.Verdict) string {
	switch {
	case v.Who == "":
		return "(operator " + v.Operator + ")"
	case !v.Known:
		return "unknown " + v.Who
	case v.Name == "":
		return v.Who
	}
	return v.Name
}

func verdictOf(v *ledger.Verdict) string {
	text := "good"
	if len(v.Trouble) > 0 {
		text = "WRONG: " + strings.Join(v.Trouble, "; ")
	}
	if v.Note != "" {
		text += " (" + v.Note + ")"
	}
	return text
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
