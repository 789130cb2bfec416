package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// StreamName is the stream in which the broker keeps the ledger.
const StreamName = "HARK_RUNS"

// How long the broker keeps what: beginnings, ends and keys to know who did what when, the lines between them to see
// how it was.
const (
	keepRuns  = 400 * 24 * time.Hour
	keepParts = 30 * 24 * time.Hour
)

// sizes are how many bytes the ledger may take at most, then the oldest go; the first for which a broker has room
// counts.
var sizes = []int64{10 << 30, 1 << 30, 100 << 20}

// maxMessage is the largest message of the ledger, below the limit of a NATS server.
const maxMessage = 960 << 10

// StreamConfig is the stream that Ensure makes, for those who configure a broker of their own.
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

// Ensure makes the stream on a broker that does not have it. A cluster that has just been started may take until ctx
// is over.
func Ensure(ctx context.Context, conn *nats.Conn) error {
	if err := streams.EnsureWithin(ctx, conn, StreamConfig(), sizes); err != nil {
		return fmt.Errorf("cannot keep the records of runs at the broker: %w", err)
	}
	return nil
}
