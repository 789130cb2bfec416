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

// upgrader obeys orders to upgrade.
type upgrader struct {
	cfg  *Config
	gate *policyGate
}

// order does what an order to upgrade says. Its JSON is that of wire.Upgraded.
func (u *upgrader) order(ctx context.Context, l *controllerLink, e wire.Exec) json.RawMessage {
	out, err := u.replace(ctx, l, e)
	if err != nil {
		u.cfg.Logger.Error().AnErr("cause", err).Msg("the agent was not upgraded")
		out.Err = err.Error()
	}
	raw, _ := json.Marshal(out) // plain data always encodes
	return raw
}

func (u *upgrader) replace(ctx context.Context, l *controllerLink, e wire.Exec) (wire.Upgraded, error) {
	var want wire.Upgrade
	if err := json.Unmarshal(e.Call.Args, &want); err != nil {
		return wire.Upgraded{}, fmt.Errorf("cannot read what to upgrade to: %w", err)
	}
	if err := u.cfg.Policy.may(l.issuer, func(r *Rule) *bool { return r.Upgrade }, "to upgrade the agent"); err != nil {
		u.gate.refusal(l.issuer, wire.UpgradeModule, err)
		return wire.Upgraded{}, err
	}
	if u.cfg.Upgrade == nil {
		return wire.Upgraded{}, fmt.Errorf("this agent cannot replace itself")
	}
	program, err := l.open(ctx, wire.Ask{Run: e.Run, Host: e.Host}, want.Digest)
	if err != nil {
		return wire.Upgraded{}, fmt.Errorf("cannot get the new agent: %w", err)
	}
	defer program.Close()
	return u.cfg.Upgrade(ctx, program, want)
}
