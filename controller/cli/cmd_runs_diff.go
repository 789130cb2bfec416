package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/runs/compare"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// runsDiff is one call of hark runs diff.
type runsDiff struct {
	*app
	asJSON bool
}

func (j *runsDiff) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff", Short: "Compare two runs by task and host", Annotations: map[string]string{"args": "[old] run"},
		Long: "Compares a run with an older one: the one that is named first, or the last one before it with the same " +
			"command line.",
		Example: "  hark runs diff last\n  hark runs diff k3f9 9ab1",
	}
	fs := ofRuns(j.app, cmd, 1, 2, j.diff)
	fs.json(&j.asJSON)
	return cmd
}

func (j *runsDiff) diff(ctx context.Context, runs []record.Entry) error {
	if len(runs) == 1 {
		older, err := j.before(ctx, &runs[0])
		if err != nil {
			return err
		}
		runs = []record.Entry{*older, runs[0]}
	}
	for _, e := range runs {
		if !e.Body {
			return bodyless(&e)
		}
		if e.State == record.Running {
			j.display.PrintErr(view.NoColor, fmt.Sprintf("run %s goes on: what it has not come to is missing", e.Head.Run))
		}
	}
	r, err := compare.Runs(ctx, allRuns(j.app), runs[0].Head.Run, runs[1].Head.Run)
	if err != nil {
		return err
	}
	if j.asJSON {
		return j.term.PrintJSON(r)
	}
	fmt.Fprint(j.term.Out, r.Text())
	return nil
}

// before returns the last run before another with the same command line.
func (j *runsDiff) before(ctx context.Context, e *record.Entry) (*record.Entry, error) {
	all, err := allRuns(j.app).List(ctx, record.Filter{Until: e.Head.At})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all.Entries, func(x record.Entry) bool {
		return x.Head.Run != e.Head.Run && x.Body && x.Head.Dir == e.Head.Dir && slices.Equal(x.Head.Line, e.Head.Line)
	})
	if i < 0 {
		return nil, ansibleerror.Errorf("there is no run before %s with the same command line: name the one to compare with",
			e.Head.Run)
	}
	return &all.Entries[i], nil
}
