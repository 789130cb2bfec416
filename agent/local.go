package agent

import (
	"context"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/mask"
)

// Local is the agent within a controller's process: the code of hark-agent for the host on which the controller runs.
type Local struct {
	Modules *modules.Registry
	// StateDir is where it keeps its jobs and its cache of files, "" for none; Commands are how it starts its workers
	// and jobs.
	StateDir string
	Commands Commands
	Logger   zerolog.Logger
	// Hidden has the secrets of the run, see Config.
	Hidden *mask.Masker
}

// Run serves one operator, by its key, over the transport until ctx is over. listens is called once, when the agent
// can be spoken to. The error is why there is no agent.
func (l Local) Run(ctx context.Context, over wire.Transport, self *wire.Identity, operator string,
	listens func()) error {
	var here Host
	if l.StateDir != "" {
		processes, err := OpenProcesses(l.StateDir, l.Commands)
		if err != nil {
			return err
		}
		defer processes.Close()
		here = processes.Host()
	}
	a := New(Config{
		Transport: over, Identity: self, Name: "localhost", Trusted: func(key string) bool { return key == operator },
		Modules: l.Modules, Logger: l.Logger, Heartbeat: -1, Grace: -1, Host: here, Ready: listens, Controller: true,
		Hidden: l.Hidden,
	})
	return a.Run(ctx)
}
