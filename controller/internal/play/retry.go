package play

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules/py/cwd"
)

// writeRetry writes the hosts that failed for --limit @file, if the settings want it.
func (r *runner) writeRetry(playbook string) {
	hosts := r.states.Hosts()
	if !r.in.RetryFiles || len(hosts) == 0 {
		return
	}
	dir := r.in.RetryDir
	if dir == "" {
		if path, err := cwd.Abs(playbook); err == nil {
			dir = filepath.Dir(path)
		}
	}
	base := filepath.Base(playbook)
	path := filepath.Join(dir, strings.TrimSuffix(base, filepath.Ext(base))+".retry")
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Join(hosts, "\n")+"\n"), 0o644)
	}
	if err != nil {
		r.messages.Warn("Could not create retry file '" + path + "'.\n\t" + err.Error())
		return
	}
	r.messages.Print("", "\tto retry, use: --limit @"+path+"\n")
}
