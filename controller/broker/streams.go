package broker

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/ledger"
)

// EnsureStreams makes the streams on servers that do not have them. Without the roster nothing can run; without the
// ledger runs are on record only where they were started, without the streams of facts each operator has his own,
// without the streams of duty states no keeper works, and without that of files each host pulls them from the
// controller only: that those cannot be made is logged and no more. Bounds for which JetStream keeps room come last.
func EnsureStreams(ctx context.Context, m streams.Manager, log zerolog.Logger) error {
	if err := roster.Ensure(ctx, m); err != nil {
		return err
	}
	if err := dutystate.Ensure(ctx, m); err != nil {
		log.Warn().AnErr("cause", err).Msg("no keeper can see to duties")
	}
	if err := ledger.Ensure(ctx, m); err != nil {
		log.Warn().AnErr("cause", err).Msg("operators do not see each other's runs")
	}
	if err := factcache.Ensure(ctx, m); err != nil {
		log.Warn().AnErr("cause", err).Msg("operators do not share the facts of hosts")
	}
	if err := ensureFiles(ctx, m); err != nil {
		log.Warn().AnErr("cause", err).Msg("each host pulls files from the controller only")
	}
	if err := errors.Join(roster.Bound(ctx, m), dutystate.Bound(ctx, m)); err != nil {
		log.Warn().AnErr("cause", err).Msg("the roster and the states of duties have no bound in bytes")
	}
	return nil
}
