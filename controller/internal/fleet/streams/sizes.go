package streams

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Size is how much a stream holds.
type Size struct {
	Stream   string
	Bytes    uint64
	Messages uint64
}

// Sizes describes how much streams hold; those that do not exist are left out.
func Sizes(ctx context.Context, conn *nats.Conn, names ...string) ([]Size, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	var all []Size
	for _, name := range names {
		s, err := js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot tell the size of %s: %w", name, err)
		}
		state := s.CachedInfo().State // of this moment
		all = append(all, Size{name, state.Bytes, state.Msgs})
	}
	return all, nil
}
