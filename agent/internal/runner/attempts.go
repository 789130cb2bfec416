package runner

import (
	"context"
	"errors"
	"time"

	"hark/modules/py/value"
	"hark/modules/result"
)

// attempts calls a module until its result is content or the number of attempts is used up (until, retries, delay).
type attempts struct {
	most  int64
	delay int64 // between two attempts, in seconds
	trial
}

// trial is the work of attempts.
type trial interface {
	// call makes attempt n, from 1 on.
	call(ctx context.Context, n int64) (*result.Result, error)
	// content reports whether a result needs no further attempt.
	content(ctx context.Context, res *result.Result) (bool, error)
	// again is called after an attempt that another one follows.
	again(res *result.Result, n, most int64)
	// exhausted fails the result of the last attempt.
	exhausted(res *result.Result)
	sleep(ctx context.Context, d time.Duration) error
	// jobEnd returns a func that waits for what may end the delay early, nil if there is nothing. The func returns false
	// if it does not know.
	jobEnd(res *result.Result, delay time.Duration) func(context.Context) bool
}

func (a attempts) run(ctx context.Context) (res *result.Result, err error) {
	delay := time.Duration(a.delay) * time.Second
	if a.delay < 0 {
		delay = time.Second
	}
	for n := int64(1); n <= a.most; n++ {
		if res, err = a.call(ctx, n); err != nil || res.Final || a.most == 1 {
			return res, err
		}
		ok, err := a.content(ctx, res)
		if err != nil || ok {
			return res, err
		}
		if n < a.most {
			a.again(res, n, a.most)
			if err := a.pause(ctx, res, delay); err != nil {
				return nil, err
			}
		}
	}
	res.Set("attempts", value.Int(a.most-1))
	if !res.Failed() {
		a.exhausted(res)
	}
	return res, nil
}

// pause waits between two attempts. If the attempt asked about a running job, the next one follows as soon as the job
// ends.
func (a attempts) pause(ctx context.Context, res *result.Result, delay time.Duration) error {
	over := a.jobEnd(res, delay)
	if over == nil {
		return a.sleep(ctx, delay)
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
	err := a.sleep(ctx, delay)
	cancel(nil)
	<-ended
	if context.Cause(ctx) == errJobEnded {
		return nil
	}
	return err
}

// errJobEnded ends the wait for a job.
var errJobEnded = errors.New("the job has ended")
