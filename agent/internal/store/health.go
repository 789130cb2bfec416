package store

import (
	"fmt"
	"os"
	"path/filepath"

	"hark/agent/atomicfile"
)

// Trouble returns what keeps the agent from recording what it does, nil if nothing does: its directory was deleted or
// replaced, or there is no room.
func (s *Store) Trouble() error {
	there, err := os.Stat(filepath.Join(s.dir, "lock"))
	if err != nil || !os.SameFile(s.locked, there) {
		return fmt.Errorf("the state directory %s was deleted or replaced while the agent used it: put it back and "+
			"restart hark-agent, or enrol the host again", s.dir)
	}
	return atomicfile.Room(s.dir)
}
