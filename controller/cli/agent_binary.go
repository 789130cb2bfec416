package cli

import (
	"fmt"
	"os"

	"hark/controller/internal/fleet/bootstrap"
)

// agentBinaries are the agents that may be put on hosts: those that are named, or those beside this program.
func agentBinaries(named []string) (*bootstrap.Binaries, error) {
	if len(named) > 0 {
		return bootstrap.Named(named)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program: %v", err)
	}
	return &bootstrap.Binaries{Paths: bootstrap.Beside(self)}, nil
}
