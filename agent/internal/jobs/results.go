package jobs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"hark/agent/atomicfile"
	"hark/modules/nss"
)

// Ansible keeps the state of a job in a file of its user, results_file, and playbooks read it. It is written for them
// only: the job's own directory counts.

// announceResults writes the results file of a job that runs.
func announceResults(r record) {
	// plain data always encodes
	raw, _ := json.Marshal(map[string]any{"started": 1, "finished": 0, "ansible_job_id": r.ID})
	writeResults(r, raw)
}

// writeResults replaces the results file.
func writeResults(r record, raw []byte) {
	_ = asUser(r.User, func() error {
		if err := os.MkdirAll(filepath.Dir(r.Results), 0o755); err != nil {
			return err
		}
		return atomicfile.WriteLoose(r.Results, raw)
	})
}

// removeResults removes it.
func removeResults(r record) error {
	if r.Results == "" {
		return nil
	}
	err := asUser(r.User, func() error { return os.Remove(r.Results) })
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRoot) || errors.Is(err, fs.ErrPermission) {
		return nil // it is gone, or its user's business
	}
	return err
}

// errNotRoot says that another user's files cannot be written.
var errNotRoot = errors.New("only root may write the files of another user")

// asUser runs a func with a user's file permissions: the directory is the user's, who may put links there. "" is this
// process's own user.
func asUser(name string, do func() error) error {
	if name == "" {
		return do()
	}
	u, err := nss.UserNamedOrNumbered(name)
	if err != nil {
		return err
	}
	if u.UID == os.Geteuid() {
		return do()
	}
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	done := make(chan error)
	go func() {
		// The ids are the thread's. It is not unlocked, so that it ends with this goroutine.
		runtime.LockOSThread()
		done <- func() error {
			if err := standAs(u.UID, u.GID); err != nil {
				return err
			}
			return do()
		}()
	}()
	return <-done
}
