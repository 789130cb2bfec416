package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"hark/agent/wire"
)

// Upgrade replaces the agent's program. It reads the new one from r, whose digest was in the operator's signed order
// and is checked by the time r ends, and returns when the new one is in its place; the agent then ends when it has
// nothing to do.
type Upgrade func(ctx context.Context, r io.Reader, want wire.Upgrade) (wire.Upgraded, error)

// upgrade does what an order to upgrade says. Its JSON is that of wire.Upgraded.
func (a *Agent) upgrade(ctx context.Context, l *controllerLink, e wire.Exec) json.RawMessage {
	out, err := a.replaceSelf(ctx, l, e)
	if err != nil {
		a.cfg.Logger.Error().AnErr("cause", err).Msg("the agent was not upgraded")
		out.Err = err.Error()
	}
	raw, _ := json.Marshal(out) // plain data always encodes
	return raw
}

func (a *Agent) replaceSelf(ctx context.Context, l *controllerLink, e wire.Exec) (wire.Upgraded, error) {
	var want wire.Upgrade
	if err := json.Unmarshal(e.Call.Args, &want); err != nil {
		return wire.Upgraded{}, fmt.Errorf("cannot read what to upgrade to: %w", err)
	}
	if err := a.cfg.Policy.may(l.issuer, func(r *Rule) *bool { return r.Upgrade }, "to upgrade the agent"); err != nil {
		a.refusal(l.issuer, wire.UpgradeModule, err)
		return wire.Upgraded{}, err
	}
	if a.cfg.Upgrade == nil {
		return wire.Upgraded{}, fmt.Errorf("this agent cannot replace itself")
	}
	program, err := l.open(ctx, wire.Ask{Run: e.Run, Host: e.Host}, want.Digest)
	if err != nil {
		return wire.Upgraded{}, fmt.Errorf("cannot get the new agent: %w", err)
	}
	defer program.Close()
	return a.cfg.Upgrade(ctx, program, want)
}
