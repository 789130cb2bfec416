package cli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/jobs"
	"hark/controller/internal/ui/view"
)

// jobsJob is one call of hark jobs.
type jobsJob struct {
	*app
	o              project.Options
	asJSON, follow bool
	live           bool
	match          string
	lines          int
}

// newJobsCommand is hark jobs.
func newJobsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "jobs", Short: "List, follow and cancel background jobs (async)", RunE: argparse.NeedCommand,
		Args: cobra.ArbitraryArgs,
		Long: "Background jobs are tasks with async. Their agents keep them, so they are found by every run and every\n" +
			"controller. Without an inventory all agents that are present are asked, and this machine.",
	}
	for _, add := range []func(*jobsJob) *cobra.Command{
		(*jobsJob).listCommand, (*jobsJob).showCommand, (*jobsJob).tailCommand, (*jobsJob).waitCommand,
		(*jobsJob).cancelCommand,
	} {
		cmd.AddCommand(add(&jobsJob{app: a}))
	}
	return cmd
}

// command makes a command of hark jobs. do gets the hosts, and the jobs that the arguments name if it is about jobs.
func (j *jobsJob) command(use, short, args, example string,
	do func(context.Context, *jobHosts, []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Annotations: map[string]string{"args": args}, Args: cobra.ArbitraryArgs,
		Example: "  hark jobs " + example,
	}
	fs := j.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.List(&j.o.Inventory.Sources, "inventory", "i", "INVENTORY",
		"inventory file or directory, or a list of hosts with commas")
	fs.Text(&j.o.Inventory.Limit, "limit", "l", "", "SUBSET", "only hosts of the inventory that match this pattern")
	fs.Text(&j.o.Connect.Kind, "connection", "c", j.cfg.Text("DEFAULT_TRANSPORT"), "CONNECTION",
		"how to reach hosts: smart is their agent, local is this machine")
	fs.broker(&j.o.Broker)
	fs.json(&j.asJSON)
	cmd.RunE = func(cmd *cobra.Command, words []string) (err error) {
		if err := j.begin(cmd, j.o.Verbosity); err != nil {
			return err
		}
		pattern := ""
		if args == "[pattern]" {
			if len(words) > 1 {
				return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(words[1:], " ")}
			}
			pattern = strings.Join(words, "")
			if isJobID(pattern) {
				j.match, pattern = pattern, ""
			}
		} else if len(words) == 0 {
			return &argparse.UsageError{Text: "the following arguments are required: job"}
		}
		hosts, err := findJobHosts(j.app, cmd.Context(), &j.o, pattern)
		if err != nil {
			return err
		}
		defer func() {
			if cerr := hosts.Close(cmd.Context()); err == nil {
				err = cerr
			}
		}()
		return do(cmd.Context(), hosts, words)
	}
	return cmd
}

// isJobID reports whether a word is the id of a job rather than a pattern of hosts.
func isJobID(word string) bool { return regexp.MustCompile(`^j[0-9]+\.[0-9]+$`).MatchString(word) }

func (j *jobsJob) listCommand() *cobra.Command {
	cmd := j.command("list", "List jobs", "[pattern]", "list -i inventory web --running", j.list)
	fs := j.flags(cmd)
	fs.Toggle(&j.live, "running", "", false, "only those that have not ended")
	fs.Text(&j.match, "job", "", "", "PATTERN", "only those whose id, module, task, run or state matches")
	return cmd
}

func (j *jobsJob) showCommand() *cobra.Command {
	return j.command("show", "Show jobs and their results", "job [job ...]", "show j123456789012.4711", j.show)
}

func (j *jobsJob) tailCommand() *cobra.Command {
	cmd := j.command("tail", "Show what jobs print", "job [job ...]", "tail --follow j123456789012.4711", j.tail)
	fs := j.flags(cmd)
	fs.Toggle(&j.follow, "follow", "f", false, "go on until the job has ended")
	fs.Number(&j.lines, "lines", "n", 20, "LINES", "how many of the last lines")
	return cmd
}

func (j *jobsJob) waitCommand() *cobra.Command {
	return j.command("wait", "Wait until jobs have ended; fails if one of them did", "job [job ...]",
		"wait 'j*' -i web1,", j.wait)
}

func (j *jobsJob) cancelCommand() *cobra.Command {
	return j.command("cancel", "End jobs with all that they have started", "job [job ...]", "cancel j123456789012.4711",
		j.cancel)
}

func (j *jobsJob) list(ctx context.Context, h *jobHosts, _ []string) error {
	all, errs := h.Find(ctx, wire.JobsQuery{Pattern: j.match, Live: j.live})
	for _, err := range errs {
		j.display.Warn(err.Error())
	}
	if j.asJSON {
		return j.term.PrintJSON(all)
	}
	w := tabwriter.NewWriter(j.term.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "HOST\tJOB\tSTATE\tTIME\tLIMIT\tMODULE\tTASK")
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Agent, f.ID, f.State, f.Took(), f.Limit, shortModule(f.Module),
			view.OneLine(f.Task))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(errs) > 0 {
		return &quietError{exitUnreachable}
	}
	return nil
}

func shortModule(name string) string { return strings.TrimPrefix(name, "ansible.builtin.") }

// waitPiece is how long one question waits for the end of a job.
const waitPiece = 5 * time.Minute

func (j *jobsJob) wait(ctx context.Context, h *jobHosts, ids []string) error {
	bad := false
	err := h.Each(ctx, ids, wire.JobsQuery{Op: "wait", Patience: waitPiece}, func(f jobs.Found, r wire.JobsReply) error {
		bad = bad || f.State != "finished"
		return j.tell(f, r)
	})
	if err == nil && bad {
		err = &quietError{exitFailed}
	}
	return err
}

func (j *jobsJob) cancel(ctx context.Context, h *jobHosts, ids []string) error {
	return h.Each(ctx, ids, wire.JobsQuery{Op: "cancel"}, j.tell)
}

// tell prints one line about a job.
func (j *jobsJob) tell(f jobs.Found, r wire.JobsReply) error {
	if j.asJSON {
		return j.term.PrintJSON(shownJob{f, r.Result})
	}
	_, err := fmt.Fprintf(j.term.Out, "%s %s %s after %s\n", f.Agent, f.ID, f.State, f.Took())
	return err
}

type shownJob struct {
	jobs.Found
	Result map[string]any `json:"result,omitempty"`
}

func (j *jobsJob) show(ctx context.Context, h *jobHosts, ids []string) error {
	return h.Each(ctx, ids, wire.JobsQuery{Op: "show"}, func(f jobs.Found, r wire.JobsReply) error {
		if j.asJSON {
			return j.term.PrintJSON(shownJob{f, r.Result})
		}
		return j.describe(f, r)
	})
}

func (j *jobsJob) describe(f jobs.Found, r wire.JobsReply) error {
	w := tabwriter.NewWriter(j.term.Out, 0, 8, 2, ' ', 0)
	rows := [][2]string{
		{"job", f.ID}, {"host", f.Agent}, {"state", f.State}, {"why", f.Why}, {"task", f.Task}, {"module",
			f.Module}, {"user", f.User}, {"run", f.Run},
		{"began", f.Began.Local().Format(time.DateTime)}, {"time", f.Took().String()}, {"limit",
			f.Limit.String()}, {"directory", f.Dir},
	}
	if f.Pid > 0 {
		rows = append(rows, [2]string{"process", fmt.Sprint(f.Pid)})
	}
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", row[0], view.OneLine(row[1]))
		}
	}
	if err := w.Flush(); err != nil || r.Result == nil {
		return err
	}
	fmt.Fprintln(j.term.Out, "result")
	return j.term.PrintJSON(r.Result)
}

func (j *jobsJob) tail(ctx context.Context, h *jobHosts, ids []string) error {
	t := jobs.Tail{Follow: j.follow, Lines: j.lines, Out: [2]io.Writer{j.term.Out, j.term.Err}, Warn: j.display.Warn}
	return t.Show(ctx, &h.Hosts, ids)
}
