package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/duties/checkout"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/keeper"
	"hark/controller/internal/fleet"
	"hark/controller/internal/ui/view"
)

// laterFlag has hosts that are away get the play when they are back.
const laterFlag = "later"

// later is a play that a keeper has for the hosts that are away.
type later struct {
	*keeper.TurnResult // of who was away
	b                  *fleet.Connection
	key, xkey          string // the keeper's
	ask                keeper.Request
}

// readLater reads the time of --later, and refuses the flag with what else is done than playing, in this process.
func (j *playJob) readLater() error {
	if j.later == "" {
		return nil
	}
	if other := j.quiet(); other != "" {
		return argparse.OptionsError("--later does not go with --" + other)
	}
	if j.detach {
		return argparse.OptionsError("--later does not go with --" + detachFlag)
	}
	var ok bool
	if j.span, ok = duty.Span(j.later); !ok {
		return argparse.OptionsError(fmt.Sprintf("--later wants a time such as 12h, 7d or 2w, not %q", j.later))
	}
	return nil
}

// laterFits explains why the flags of a call cannot be those of a play that is put off: the keeper plays with its own.
func laterFits(cmd *cobra.Command, names []string) error {
	may := []string{laterFlag, "limit", "check", "diff", "tags", "skip-tags", "inventory", "verbose", "forks", "broker",
		"straggler", "follow"}
	var others []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(may, f.Name) {
			others = append(others, "--"+f.Name)
		}
	})
	switch {
	case len(others) > 0:
		return argparse.OptionsError(fmt.Sprintf(
			"--later does not go with %s: the keeper plays the project with its own flags, and of a call only --check, --tags "+
				"and --skip-tags go along", strings.Join(others, ", ")))
	case len(names) > 1:
		return argparse.OptionsError("--later is for one playbook")
	}
	return nil
}

// newLater finds the keeper that will play for those who are away, before anything is done.
func (j *playJob) newLater(cmd *cobra.Command, names []string) (*later, error) {
	if err := laterFits(cmd, names); err != nil {
		return nil, err
	}
	ctx := cmd.Context()
	from, err := origins(ctx, j.app, names[0])
	if err != nil {
		return nil, err
	}
	l := &later{TurnResult: keeper.NewTurnResult(), ask: keeper.Request{What: keeper.AskLater, Later: &keeper.DeferredPlay{
		From: from, Check: j.o.Mode.Check, Flags: laterFlags(j.o.Tags), Until: time.Now().Add(j.span).UTC(),
	}}}
	if l.b, err = j.fleet.Dial(ctx, j.o.Broker); err != nil {
		return nil, fmt.Errorf("--later needs a keeper: %w", err)
	}
	if err := l.choose(ctx, j.app); err != nil {
		_ = l.b.Close()
		return nil, err
	}
	return l, nil
}

// laterFlags returns the flags that go along.
func laterFlags(tags project.Tags) []string {
	var out []string
	for _, t := range tags.Only {
		out = append(out, "--tags", t)
	}
	for _, t := range tags.Skip {
		out = append(out, "--skip-tags", t)
	}
	return out
}

// origins returns the states of projects that a playbook may be of: its repository's, and that of the directory from
// which it is played.
func origins(ctx context.Context, a *app, play string) ([]keeper.Origin, error) {
	var out []keeper.Origin
	file, err := filepath.EvalSymlinks(absolute(a, play))
	if err != nil {
		return nil, err
	}
	add := func(commit, root string) {
		rel, err := filepath.Rel(root, file)
		if err == nil && commit != "" && filepath.IsLocal(rel) {
			out = append(out, keeper.Origin{Commit: commit, Play: rel})
		}
	}
	commit, root, err := checkout.Digest(a.world.Dir)
	if err != nil {
		return nil, err
	}
	add(commit, root)
	commit, root, err = checkout.Checkout(ctx, filepath.Dir(file))
	add(commit, root)
	return out, err
}

// choose asks the keepers that are at work whether they could play it, and takes the first that could.
func (l *later) choose(ctx context.Context, a *app) error {
	all, err := words(ctx, a, l.b)
	if err != nil {
		return err
	}
	var errs []error
	for _, k := range keepers(ctx, l.b, all) {
		if k.Report == nil || k.Work == nil {
			continue
		}
		_, err := keeper.Put(ctx, l.b, l.b.Operator, k.Keeper, k.Report.XKey, l.ask)
		if err == nil {
			l.key, l.xkey = k.Keeper, k.Report.XKey
			return nil
		}
		errs = append(errs, fmt.Errorf("the keeper %s: %w", k.Keeper, err))
	}
	if len(errs) == 0 {
		return errors.New(
			"--later needs a keeper, which plays for those who come back, and none is at work whose words are believed here: " +
				"`hark keeper run`, `hark keeper status`, `hark key believe`")
	}
	return fmt.Errorf("--later needs a keeper that can play this; nothing was done: %w", errors.Join(errs...))
}

// hand hands the play over for the hosts that were away, and says what comes of it.
func (l *later) hand(ctx context.Context, a *app) error {
	defer l.b.Close()
	away := l.Away()
	if len(away) == 0 || ctx.Err() != nil {
		return nil
	}
	l.ask.Hosts = away
	done, err := keeper.Put(ctx, l.b, l.b.Operator, l.key, l.xkey, l.ask)
	if err != nil {
		return fmt.Errorf("the play is not put off for %s: %w", strings.Join(view.Fold(away), " "), err)
	}
	for _, why := range done.Unfit {
		a.display.Warn("the play is not put off for " + why)
	}
	if done.Duty != "" {
		fmt.Fprintf(a.term.Err,
			"later: %s: a keeper plays it there as soon as an agent is back, until %s: hark duties show %s, hark duties "+
				"cancel %[3]s\n",
			strings.Join(view.Fold(away), " "), l.ask.Later.Until.Local().Format(time.DateTime), done.Duty)
	}
	return nil
}
