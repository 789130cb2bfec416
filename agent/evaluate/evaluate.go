// Package evaluate does single steps of hosts for those who hold the answers: the controller, which imports nothing
// else of how steps are done. The code is that of the agents' sessions (agent/internal/runner), so that a step means
// the same wherever it is evaluated.
package evaluate

import (
	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/playbook/plan"
)

type (
	// Config is what a Host needs of the world, see runner.Config: Modules, Engine, Ask and Emit.
	Config = runner.Config
	// Host is a host of a plan.
	Host = runner.Single
)

// MissingHandler returns what Ansible says of a handler that nobody answers to.
func MissingHandler(name string) string { return runner.MissingHandler(name) }

// New makes a Host for a plan; start is what a session of the host would begin with.
func New(cfg Config, p *plan.Plan, start wire.Start) *Host { return runner.NewSingle(cfg, p, start) }
