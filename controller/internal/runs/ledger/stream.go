package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// StreamName is the stream in which the broker keeps the ledger.
const StreamName = "HARK_RUNS"

// How long the broker keeps what: beginnings, ends and keys, to know who did what when; the lines between them, to see
// the details.
const (
	keepRuns  = 400 * 24 * time.Hour
	keepParts = 30 * 24 * time.Hour
)

// sizes are the most bytes that the ledger may take, after which the oldest go; the first size for which a broker has
// room counts.
var sizes = []int64{10 << 30, 1 << 30, 100 << 20}

// maxMessage is the size of the ledger's largest message in bytes, below the limit of a NATS server.
const maxMessage = 960 << 10

// StreamConfig returns the configuration of the stream that Ensure creates, for those who configure a broker of their
// own.
func StreamConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              StreamName,
		Description:       "what hark's runs told, sealed for their readers",
		Subjects:          []string{wire.Record("*", "*", "*")},
		MaxMsgsPerSubject: 1,
		MaxMsgSize:        maxMessage,
		MaxBytes:          sizes[0],
		MaxAge:            keepRuns,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardOld,
		AllowDirect:       true,
		AllowMsgTTL:       true,
		DenyDelete:        true,
		DenyPurge:         true,
	}
}

// Ensure creates the stream on a broker that does not have it. A cluster that was just started may take until ctx is
// done.
func Ensure(ctx context.Context, m streams.Manager) error {
	if err := streams.EnsureWithin(ctx, m, StreamConfig(), sizes); err != nil {
		return fmt.Errorf("cannot keep the records of runs at the broker: %w", err)
	}
	return nil
}
