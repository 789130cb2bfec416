package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// State is how a job stands.
//
//	queued ──> running ──> finished   the module ended well
//	               ├─────> failed     the module ended with a failure
//	               ├─────> timedout   its limit came first
//	               ├─────> cancelled  somebody ended it
//	               └─────> lost       its process went away without a result: a reboot, kill -9
//
// The five on the right are terminal: no job leaves them.
type State string

// The states.
const (
	Queued    State = "queued"
	Running   State = "running"
	Finished  State = "finished"
	Failed    State = "failed"
	TimedOut  State = "timedout"
	Cancelled State = "cancelled"
	Lost      State = "lost"
)

// Terminal tells that the state is final.
func (s State) Terminal() bool { return s != Queued && s != Running }

// version is that of the files in a job's directory.
const version = 1

// record is what state.json holds: all that is known of a job but its result. Arguments are never written.
type record struct {
	Version int           `json:"version"`
	ID      string        `json:"id"`
	Module  string        `json:"module"`
	Run     string        `json:"run,omitempty"`
	Host    string        `json:"host,omitempty"`
	User    string        `json:"user,omitempty"`
	State   State         `json:"state"`
	Limit   time.Duration `json:"limit"`
	Pid     int           `json:"pid,omitempty"`
	// Ticks is the start time of the process in /proc, Boot the boot id: with the pid they name one process for ever.
	Ticks uint64    `json:"ticks,omitempty"`
	Boot  string    `json:"boot,omitempty"`
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
}

const (
	stateFile  = "state.json"
	resultFile = "result.json"
)

func readRecord(dir string) (record, error) {
	var r record
	raw, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("cannot read %s: %w", filepath.Join(dir, stateFile), err)
	}
	if r.Version > version {
		return r, fmt.Errorf("cannot read %s: it was written by a newer version (%d)", filepath.Join(dir, stateFile), r.Version)
	}
	return r, nil
}

func (r record) write(dir string) error {
	r.Version = version
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, stateFile), raw)
}

// writeWhole writes a file that is either the old or the new one, never half of it, readable by its owner alone.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// lives tells whether the recorded process is still there.
func (r record) lives() bool {
	return r.Pid > 0 && r.Boot == bootID() && ticksOf(r.Pid) == r.Ticks && r.Ticks != 0
}

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// ticksOf is the start time of a process in clock ticks since boot, 0 if there is none (or only its zombie).
func ticksOf(pid int) uint64 {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(f) < 20 || f[0] == "Z" {
		return 0
	}
	n, _ := strconv.ParseUint(f[19], 10, 64)
	return n
}
