package streams

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// tryLimit is after how long a question to the broker is asked again; who was to answer may be gone.
	tryLimit = 5 * time.Second
	tryPause = 250 * time.Millisecond
)

// Settle calls f until the servers of a cluster agree on who answers it, and a broker that is away is back, or ctx is
// over. Other errors are f's.
func Settle(ctx context.Context, f func(context.Context) error) error {
	for {
		err := within(ctx, f)
		if err == nil || !unsettled(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(tryPause):
		}
	}
}

func within(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	return f(ctx)
}

// The codes of JetStream's errors that pass once the servers have found each other.
const (
	noSuitablePeers        = 10005
	temporarilyUnavailable = 10008
)

// unsettled tells of errors that a cluster gives while its servers find each other, and of a connection that will be
// back.
func unsettled(err error) bool {
	var api jetstream.JetStreamError
	if errors.As(err, &api) && api.APIError() != nil {
		if code := api.APIError().ErrorCode; code == temporarilyUnavailable || code == noSuitablePeers {
			return true
		}
	}
	for _, passing := range []error{
		context.DeadlineExceeded, nats.ErrNoResponders, nats.ErrTimeout, jetstream.ErrServerShutdown,
		nats.ErrReconnectBufExceeded, nats.ErrDisconnected, nats.ErrConnectionReconnecting, // the connection will be back
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}
