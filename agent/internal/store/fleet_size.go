package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"hark/agent/atomicfile"
	"hark/agent/wire"
)

// fleetSizeFile holds how many agents the fleet had when the registrar last said so.
const fleetSizeFile = "crowd.json"

// FleetSize returns how many agents the fleet had, 0 if that is not known.
func (s *Store) FleetSize() int {
	text, err := os.ReadFile(filepath.Join(s.dir, fleetSizeFile))
	if err != nil {
		return 0 // it is only a hint
	}
	return wire.ParseFleetSize(text)
}

// KeepFleetSize stores how many agents the fleet has, if that has changed much.
func (s *Store) KeepFleetSize(agents int) error {
	if had := s.FleetSize(); had > 0 && agents <= 2*had && had <= 2*agents {
		return nil
	}
	text, err := json.Marshal(wire.FleetSize{Agents: agents})
	if err == nil {
		err = atomicfile.Write(filepath.Join(s.dir, fleetSizeFile), text)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the size of the fleet: %w", err)
	}
	return nil
}
