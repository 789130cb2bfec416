package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/displayconfig"
	"hark/controller/internal/ui/view"
)

// runsShow is one call of hark runs show.
type runsShow struct {
	*app
	view            string
	choice          record.Choice
	summary, asJSON bool
}

func (j *runsShow) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "Show a run again as it was shown", Annotations: map[string]string{"args": "run"},
		Example: "  hark runs show last --failed\n  hark runs show k3f9 --view yaml --host 'web*'",
	}
	fs := ofRuns(j.app, cmd, 1, 1, func(ctx context.Context, runs []record.Entry) error { return j.show(ctx, &runs[0]) })
	fs.Text(&j.view, "view", "", "", "VIEW", "another view than that of the run: "+strings.Join(view.Names(), ", "))
	fs.Toggle(&j.choice.Bad, "failed", "", false, "only what failed or was not reached")
	fs.Text(&j.choice.Host, "host", "", "", "PATTERN", "only the results of such hosts (web*)")
	fs.Text(&j.choice.Task, "task", "", "", "PATTERN", "only the results of such tasks ('nginx*')")
	fs.Toggle(&j.summary, "summary", "", false, "who ran what, what became of each task, and what failed where")
	fs.Toggle(&j.asJSON, "json", "", false, "print the lines of the record, or the summary, as JSON")
	checkFirst(cmd, j.check)
	return cmd
}

// check checks the flags.
func (j *runsShow) check() error {
	switch {
	case j.summary && (j.view != "" || j.choice != record.Choice{}):
		return &argparse.UsageError{Text: "argument --summary: not allowed with --view, --failed, --host or --task"}
	case j.asJSON && j.view != "":
		return &argparse.UsageError{Text: "argument --json: not allowed with argument --view"}
	}
	return checkPatterns(j.choice.Host, j.choice.Task)
}

// show shows a run again.
func (j *runsShow) show(ctx context.Context, e *record.Entry) error {
	if j.summary {
		return j.sum(ctx, e)
	}
	lines, err := allRuns(j.app).Open(ctx, e.Head.Run, record.Opening{Bad: j.choice.Bad})
	if err != nil {
		return err
	}
	defer lines.Close()
	if !e.Body && e.Foot != nil && len(e.Foot.Parts) > 0 {
		return bodyless(e)
	}
	r := &rerun{app: j.app, entry: e, view: j.view}
	if j.choice != (record.Choice{}) {
		r.only = &j.choice
	}
	if j.asJSON {
		err = r.printLines(ctx, lines)
	} else {
		_, err = r.tell(ctx, lines)
	}
	var lost *record.LostError
	switch {
	case errors.As(err, &lost):
		j.display.Warn(lost.Error())
		return nil
	case err == nil && e.State == record.Running:
		j.display.PrintErr(view.NoColor, "the run goes on: `hark runs tail -f "+e.Head.Run+"` follows it")
	}
	return err
}

// bodyless is the error of a run whose lines are gone, or were never written.
func bodyless(e *record.Entry) error {
	why := "are not kept any more"
	if e.Foot != nil && e.Foot.Incomplete != "" {
		why = "are not there (" + e.Foot.Incomplete + ")"
	}
	return ansibleerror.Errorf("the lines of run %s %s; `hark runs show %s --summary` tells what is known", e.Head.Run,
		why, e.Head.Run)
}

// rerun sends the lines of a run to the view.
type rerun struct {
	*app
	entry *record.Entry
	view  string // another than that of the run
	only  *record.Choice
}

// tell shows a run; the foot is nil where there is none.
func (r *rerun) tell(ctx context.Context, lines record.Lines) (*record.Foot, error) {
	s := r.entry.Head.Screen
	d, err := r.screens.Again(s)
	if err != nil {
		return nil, err
	}
	p := &record.Player{Listener: d, Only: r.only}
	p.Begin(r.entry.Head)
	if p.View, err = r.viewFor(s, d, p); err != nil {
		return nil, err
	}
	foot, err := p.All(ctx, lines)
	if cerr := p.View.Close(); err == nil {
		err = cerr
	}
	if foot != nil && foot.Error != "" && r.only == nil {
		d.Error(foot.Error)
	}
	if foot != nil && foot.Incomplete != "" {
		d.Warn("the record is not whole: " + foot.Incomplete)
	}
	return foot, err
}

// viewFor makes the view of a run, or the one that was asked for.
func (r *rerun) viewFor(s record.Screen, d *view.Display, p *record.Player) (view.View, error) {
	o := s.Options
	o.Display, o.Now = d.ForViews(), p.Now
	if s.Tagged {
		o.Origin = p.Origin
	}
	own := r.screens.Options(displayconfig.Run{}) // files go where they would go now
	o.TreeDir, o.LogDir, o.JUnit = own.TreeDir, own.LogDir, own.JUnit
	name := s.View
	switch {
	case r.view != "":
		name = r.view
	case s.Tally != nil:
		return view.NewTally(o, s.Tally.Options(prelude)), nil
	case s.Foreign:
		r.display.PrintErr(view.NoColor, "a callback in Python showed this run; this is the default view")
	}
	v, err := view.New(name, o)
	if err != nil {
		return nil, ansibleerror.Errorf("%s", err)
	}
	v = r.screens.OnScreen(v)
	if r.view != "" {
		return v, nil
	}
	return view.All(append([]view.View{v}, r.otherViews(s.OtherViews, o)...)...), nil
}

// otherViews returns those of the views beside the one on the screen that printed there too. What wrote files has
// written them.
func (r *rerun) otherViews(names []string, o view.Options) []view.View {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		short := name[strings.LastIndexByte(name, '.')+1:]
		return short != "timer" && !strings.HasPrefix(short, "profile_")
	})
	return r.screens.OtherViews(names, o)
}

// printLines prints the lines as they are.
func (r *rerun) printLines(ctx context.Context, lines record.Lines) error {
	enc := json.NewEncoder(r.term.Out)
	enc.SetEscapeHTML(false)
	var names record.Names
	for {
		l, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		names.Learn(&l)
		if r.only.Keeps(&l, &names) {
			if err := enc.Encode(&l); err != nil {
				return err
			}
		}
	}
}

// sum shows the summary of a run.
func (j *runsShow) sum(ctx context.Context, e *record.Entry) error {
	sum, err := record.Summarize(ctx, allRuns(j.app), e)
	if err != nil {
		return err
	}
	if j.asJSON {
		return j.term.PrintJSON(sum)
	}
	fmt.Fprint(j.term.Out, sum.Text())
	return nil
}

// runsTail is one call of hark runs tail.
type runsTail struct {
	*app
	follow, asJSON bool
}

func (j *runsTail) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tail", Short: "Show a run that is under way; ends with its exit code",
		Annotations: map[string]string{"args": "run"}, Example: "  hark runs tail -f last",
	}
	fs := ofRuns(j.app, cmd, 1, 1, func(ctx context.Context, runs []record.Entry) error { return j.tail(ctx, &runs[0]) })
	fs.Toggle(&j.follow, "follow", "f", false, "go on until the run ends; Ctrl-C ends the tail and not the run")
	fs.json(&j.asJSON)
	return cmd
}

func (j *runsTail) tail(ctx context.Context, e *record.Entry) error {
	lines, err := allRuns(j.app).Open(ctx, e.Head.Run, record.Opening{Follow: j.follow})
	if err != nil {
		return err
	}
	defer lines.Close()
	r := &rerun{app: j.app, entry: e}
	var foot *record.Foot
	if j.asJSON {
		err = r.printLines(ctx, lines)
	} else {
		foot, err = r.tell(ctx, lines)
	}
	switch {
	case ctx.Err() != nil:
		return nil // the user has seen enough
	case err != nil:
		return err
	case foot != nil && foot.Exit != exitOK:
		return &quietError{foot.Exit}
	}
	return nil
}
