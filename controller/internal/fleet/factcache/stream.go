package factcache

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// StreamName is the stream in which the broker keeps facts.
const StreamName = "HARK_FACTS"

// keep is how long the broker keeps facts that nobody gathers anew.
const keep = 90 * 24 * time.Hour

// maxMessage is the largest entry, sealed and packed, below the limit of a NATS server.
const maxMessage = 960 << 10

// sizes are how many bytes facts may take at most, then the oldest go; the first for which a broker has room counts.
var sizes = []int64{2 << 30, 200 << 20, 50 << 20}

// StreamConfig returns the stream that Ensure makes, for those who configure a broker of their own.
func StreamConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              StreamName,
		Description:       "facts of the hosts of hark's agents, sealed for their readers",
		Subjects:          []string{wire.Facts("*", "*"), wire.FactsKeys("*", "*")},
		MaxMsgsPerSubject: 1,
		MaxMsgSize:        maxMessage,
		MaxBytes:          sizes[0],
		MaxAge:            keep,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardOld,
		AllowDirect:       true,
		DenyDelete:        true,
		DenyPurge:         true,
	}
}

// Ensure makes the stream on a broker that does not have it. A cluster that has just been started may take until ctx
// is over.
func Ensure(ctx context.Context, m streams.Manager) error {
	if err := streams.EnsureWithin(ctx, m, StreamConfig(), sizes); err != nil {
		return fmt.Errorf("cannot keep facts at the broker: %w", err)
	}
	return nil
}
