package dutystate

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// StreamName is the stream in which the broker keeps how hosts stand, LockName the one of the keepers' locks.
const (
	StreamName = "HARK_DUTIES"
	LockName   = "KV_" + lockBucket
	lockBucket = "HARK_KEEPERS"
)

// How long the broker keeps the last word on a host, and how long a keeper has the lock after it last said so.
const (
	keepWords = 400 * 24 * time.Hour
	lockTime  = 30 * time.Second
)

// Whoever has access to the broker can have it answer to subjects that nobody uses. So the streams have bounds, and
// take nothing new at them but what takes the place of a former word. The first size in bytes for which a broker has
// room counts; the last is none.
var (
	sizes     = []int64{2 << 30, 256 << 20, 64 << 20, 0}
	lockSizes = []int64{16 << 20, 0}
)

// StreamConfigs returns the streams that Ensure makes, for those who configure a broker of their own.
func StreamConfigs() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{{
		Name:              StreamName,
		Description:       "how hosts stand under hark's duties, sealed for their readers",
		Subjects:          []string{wire.DutyStateSubject("*", "*", "*")},
		MaxMsgsPerSubject: 1,
		MaxMsgSize:        512 << 10,
		MaxBytes:          sizes[0],
		MaxAge:            keepWords,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardNew,
		AllowDirect:       true,
		DenyDelete:        true,
		DenyPurge:         true,
	}, {
		Name:              LockName, // as nats.go's key-value buckets are
		Description:       "which of several keepers with one key sees to its duties",
		Subjects:          []string{"$KV." + lockBucket + ".>"},
		MaxMsgsPerSubject: 1,
		MaxMsgSize:        4 << 10,
		MaxBytes:          lockSizes[0],
		MaxAge:            lockTime,
		Storage:           jetstream.MemoryStorage,
		Discard:           jetstream.DiscardNew,
		AllowDirect:       true,
		AllowRollup:       true,
		DenyDelete:        true,
	}}
}

// Ensure makes the streams on a broker that does not have them. A cluster that has just been started may take until
// ctx is over.
func Ensure(ctx context.Context, m streams.Manager) error {
	for _, cfg := range StreamConfigs() {
		cfg.MaxBytes = 0
		if err := streams.Ensure(ctx, m, cfg); err != nil {
			return fmt.Errorf("cannot keep how hosts stand at the broker: %w", err)
		}
	}
	return nil
}

// Bound bounds the bytes of the streams, as far as the broker has room. JetStream keeps that room for them, so it comes
// after the streams without which a broker is of less use.
func Bound(ctx context.Context, m streams.Manager) error {
	for i, cfg := range StreamConfigs() {
		if err := streams.EnsureWithin(ctx, m, cfg, [][]int64{sizes, lockSizes}[i]); err != nil {
			return err
		}
	}
	return nil
}

// LockSubject returns where a keeper says that it has the lock.
func LockSubject(keeper string) string { return "$KV." + lockBucket + "." + keeper }
