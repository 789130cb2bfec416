package broker

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/runs/ledger"
)

// EnsureStreams makes the streams on servers that do not have them. Without the roster nothing can run; without the
// ledger runs are on record only where they were started, without the streams of facts each operator has his own,
// without the streams of standings no keeper works, and without that of files each host pulls them from the
// controller alone: that those cannot be made is logged and no more.
func EnsureStreams(ctx context.Context, conn *nats.Conn, log zerolog.Logger) error {
	if err := roster.Ensure(ctx, conn); err != nil {
		return err
	}
	if err := ledger.Ensure(ctx, conn); err != nil {
		log.Warn().AnErr("cause", err).Msg("operators do not see each other's runs")
	}
	if err := factcache.Ensure(ctx, conn); err != nil {
		log.Warn().AnErr("cause", err).Msg("operators do not share the facts of hosts")
	}
	if err := dutystate.Ensure(ctx, conn); err != nil {
		log.Warn().AnErr("cause", err).Msg("no keeper can see to duties")
	}
	if err := ensureFiles(ctx, conn); err != nil {
		log.Warn().AnErr("cause", err).Msg("each host pulls files from the controller alone")
	}
	return nil
}
