package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"hark/agent/atomicfile"
	"hark/agent/wire"
)

// crowdFile holds how many agents the fleet had when the broker last said so.
const crowdFile = "crowd.json"

// Crowd is how many agents the fleet had, 0 if nobody said.
func (s *Store) Crowd() int {
	text, err := os.ReadFile(filepath.Join(s.dir, crowdFile))
	if err != nil {
		return 0 // it is only a hint
	}
	return wire.ParseCrowd(text)
}

// KeepCrowd keeps how many agents the fleet has, if that has changed much.
func (s *Store) KeepCrowd(agents int) error {
	if had := s.Crowd(); had > 0 && agents <= 2*had && had <= 2*agents {
		return nil
	}
	text, err := json.Marshal(wire.Crowd{Agents: agents})
	if err == nil {
		err = atomicfile.Write(filepath.Join(s.dir, crowdFile), text)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the size of the fleet: %w", err)
	}
	return nil
}
