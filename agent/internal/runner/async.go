package runner

import (
	"context"
	"errors"
	"time"

	"hark/agent/internal/call"
	"hark/playbook/jinja/value"
)

// asyncDir is the variable ansible_async_dir, "" if it is not set.
func (x *execution) asyncDir(ctx context.Context) (string, error) {
	v, err := x.e.variable(ctx, "ansible_async_dir")
	text, _ := value.Text(v)
	return text, x.e.check(ctx, err)
}

// pause waits between two attempts of until. An attempt that asked for a job which still runs is followed by the next when the job ends,
// and not later.
func (x *execution) pause(ctx context.Context, delay time.Duration) error {
	over := x.awaited()
	if over == nil {
		return x.e.r.cfg.Sleep(ctx, delay)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-over:
			cancel(errJobEnded)
		case <-ctx.Done():
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

// awaited is closed when the job ends that async_status asks for on this host, nil for all other tasks.
func (x *execution) awaited() <-chan struct{} {
	if x.e.s.Action != call.AsyncStatus || x.away() || x.e.r.cfg.Jobs.Over == nil {
		return nil
	}
	id, _ := x.f.args.Get("jid")
	text, _ := value.Text(id)
	return x.e.r.cfg.Jobs.Over(text)
}
