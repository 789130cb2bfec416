package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"
)

// retirement ends the agent when nothing is in its hands, for the service manager to start it again: with another
// binary or another configuration, and without harm to a play.
type retirement struct {
	busy func() bool
	end  func()

	wanted atomic.Bool
}

// await waits for SIGHUP, until ctx is over.
func (r *retirement) await(ctx context.Context, log zerolog.Logger) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			log.Info().Bool("busy", r.busy()).Msg("agent to end when it has nothing to do")
			r.wanted.Store(true)
			r.consider()
		}
	}
}

// want ends the agent as soon as that does no harm.
func (r *retirement) want() { r.wanted.Store(true) }

// consider ends the agent if that is wanted and does no harm.
func (r *retirement) consider() {
	if r.wanted.Load() && !r.busy() {
		r.end()
	}
}
