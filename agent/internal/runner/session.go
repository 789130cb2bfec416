package runner

import (
	"context"
	"encoding/json"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// Session is one host of one run. A session runs one plan at a time; the variables of a play come with its Start.
type Session struct {
	cfg Config
}

// New makes a session.
func New(cfg Config) *Session { return &Session{cfg: cfg} }

// Run walks the plan to its end and emits Ended. A failed host is not an error: an error says that the run itself broke
// (the controller is gone, ctx is over), and then too Ended was emitted.
func (s *Session) Run(ctx context.Context, p *plan.Plan, start wire.Start) error {
	return nil
}

// Exec runs one call on this host on behalf of a step of another host and returns the module's result as JSON. Of the
// config it uses Modules, Ask (blobs and uploads, in the name of e.Host), Call, Jobs, Exec, Environ and Open.
func Exec(ctx context.Context, cfg Config, e wire.Exec) json.RawMessage {
	return nil
}
