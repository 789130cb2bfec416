package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
)

// asyncDir is the variable ansible_async_dir, "" if it is not set.
func (x *execution) asyncDir(ctx context.Context) (string, error) {
	v, err := x.e.variable(ctx, "ansible_async_dir")
	text, _ := value.Text(v)
	return text, x.e.check(ctx, err)
}

// pause waits between two attempts of until. An attempt that asked for a job which still runs is followed by the next when the job ends,
// and not later.
func (x *execution) pause(ctx context.Context, res *result.Result, delay time.Duration) error {
	over := x.awaited(res, delay)
	if over == nil {
		return x.e.r.cfg.Sleep(ctx, delay)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if over(ctx) {
			cancel(errJobEnded)
		}
	}()
	err := x.e.r.cfg.Sleep(ctx, delay)
	cancel(nil)
	<-ended
	if context.Cause(ctx) == errJobEnded {
		return nil
	}
	return err
}

// errJobEnded ends the wait for a job.
var errJobEnded = errors.New("the job has ended")

// awaited waits for the end of the job that async_status has found running; nil for all other tasks. It is false when it does not know.
func (x *execution) awaited(res *result.Result, patience time.Duration) func(context.Context) bool {
	id := res.Job()
	if !x.t.does(modules.AsksForJobs) || id == "" || res.True("finished") {
		return nil
	}
	if x.away() {
		return func(ctx context.Context) bool { return x.overElsewhere(ctx, id, patience) }
	}
	if x.e.r.cfg.Jobs.Over == nil {
		return nil
	}
	return func(ctx context.Context) bool {
		select {
		case <-x.e.r.cfg.Jobs.Over(id):
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// digests are those among which the host of a call may pull.
func digests(named []string) []string {
	all := slices.DeleteFunc(slices.Clone(named), func(d string) bool { return d == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// digestsOf are those of a file, or of all files of a directory.
func digestsOf(s *modules.Source) []string {
	all := []string{s.Digest}
	for _, e := range s.Entries {
		all = append(all, e.Digest)
	}
	return all
}
