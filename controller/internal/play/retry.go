package play

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/modules/py/cwd"
)

// writeRetry writes the hosts that failed for --limit @file, if the settings want it.
func (r *runner) writeRetry(playbook string) {
	hosts := slices.Collect(maps.Keys(r.failed))
	for h := range r.unreachable {
		if !r.failed[h] {
			hosts = append(hosts, h)
		}
	}
	if !r.in.RetryFiles || len(hosts) == 0 {
		return
	}
	slices.Sort(hosts)
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
