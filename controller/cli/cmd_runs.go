package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/runs/record"
)

// newRunsCommand is hark runs.
func newRunsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "runs", Short: "See what was run, watch it, compare it and run it again", RunE: argparse.NeedCommand,
		Args: cobra.ArbitraryArgs,
		Long: "Every run is recorded as it was shown (HARK_RECORD, HARK_RUNS_KEEP). RUN is its id or the beginning of one, " +
			"`last` or `last-failed`.",
	}
	cmd.AddCommand((&runsList{app: a}).command(), (&runsShow{app: a}).command(), (&runsTail{app: a}).command(),
		(&runsDiff{app: a}).command(),
		(&runsRetry{app: a}).command(), (&runsStop{app: a}).command(), (&runsKeep{app: a}).command())
	cmd.AddCommand(fleetRuns(a)...)
	return cmd
}

// ofRuns makes a command that takes from least to most names of runs, which do gets as they were found.
func ofRuns(a *app, cmd *cobra.Command, least, most int,
	do func(ctx context.Context, runs []record.Entry) error) flags {
	var verbosity int
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	cmd.Args = cobra.ArbitraryArgs
	if most > 0 {
		a.completeArgs(cmd, most, func(c *completion) []string { return c.recorded() })
	}
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		switch {
		case len(words) < least:
			return &argparse.UsageError{Text: "the following arguments are required: run"}
		case len(words) > most:
			return &argparse.UsageError{Text: "unrecognized arguments: " + words[most]}
		}
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		var runs []record.Entry
		for _, word := range words {
			e, err := allRuns(a).Choose(cmd.Context(), word)
			if err != nil {
				return err
			}
			runs = append(runs, e)
		}
		return do(cmd.Context(), runs)
	}
	return fs
}

// checkPatterns checks patterns of flags.
func checkPatterns(patterns ...string) error {
	for _, p := range patterns {
		if err := record.CheckPattern(p); err != nil {
			return &argparse.UsageError{Text: fmt.Sprintf("%q is no pattern with * and ?", p)}
		}
	}
	return nil
}

// moment returns a time of a flag: how long ago (2h, 7d), or a day, or a day with a time.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := record.ParseAge(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{},
		&argparse.UsageError{Text: fmt.Sprintf("%q is no time: wanted is how long ago (2h, 7d) or a day (2026-11-01)", text)}
}
