package play

import (
	"context"
	"errors"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// batchQueue takes requests of other goroutines to the goroutine of the batch. It is safe for concurrent use.
type batchQueue struct {
	broke   chan breakage
	asides  chan func()
	stopped <-chan struct{} // the run is over
}

func newBatchQueue(stopped <-chan struct{}) *batchQueue {
	return &batchQueue{broke: make(chan breakage, 1), asides: make(chan func()), stopped: stopped}
}

// breakage is an error that ends the run, with the step of the host that met it.
type breakage struct {
	event wire.Event
	err   error
}

// breakOff ends the run for an error that was found while an ask was answered.
func (e *batchQueue) breakOff(host string, step plan.ID, err error) {
	select {
	case e.broke <- breakage{wire.Event{Host: host, Step: step}, err}:
	default: // one is enough
	}
}

// aside has the goroutine of the batch do something, and waits for it.
func (e *batchQueue) aside(ctx context.Context, do func()) error {
	done := make(chan struct{})
	select {
	case e.asides <- func() { do(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stopped:
		return errors.New("the run is over")
	}
}
