package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"hark/controller/internal/fleet/bootstrap"
)

// agentBinaries returns the agents that may be put on hosts: those that are named, or those beside this program.
func (a *app) agentBinaries(named []string) (*bootstrap.Binaries, error) {
	cache := filepath.Join(a.cfg.Text("HARK_HOME"), "packed")
	if len(named) > 0 {
		b, err := bootstrap.Named(named)
		if err == nil {
			b.Cache = cache
		}
		return b, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program: %v", err)
	}
	return &bootstrap.Binaries{Paths: bootstrap.AgentPaths(self), Cache: cache}, nil
}
