package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// keepFiles is how long the broker keeps pieces of files whose controller did not live to remove them.
const keepFiles = 24 * time.Hour

// filesSizes are how many bytes files may take at most, then no more are taken; the first for which a broker has room
// counts.
var filesSizes = []int64{8 << 30, 1 << 30, 256 << 20}

// filesConfig returns the stream of the files that hosts of runs pull.
func filesConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              wire.FilesStream,
		Description:       "files that hosts of hark's runs pull, sealed for them",
		Subjects:          []string{wire.FilePiece("*", "*", "*")},
		MaxMsgsPerSubject: 1,
		MaxMsgSize:        2 * wire.PieceSize,
		MaxBytes:          filesSizes[0],
		MaxAge:            keepFiles,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardNew,
		AllowDirect:       true,
		DenyDelete:        true,
		DenyPurge:         true,
	}
}

// ensureFiles makes the stream on servers that do not have it.
func ensureFiles(ctx context.Context, m streams.Manager) error {
	if err := streams.EnsureWithin(ctx, m, filesConfig(), filesSizes); err != nil {
		return fmt.Errorf("cannot keep files at the broker: %w", err)
	}
	return nil
}
