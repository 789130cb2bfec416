package view

import (
	"fmt"
	"os"
	"path/filepath"

	"hark/agent/wire"
)

// tree writes the last result of each host to a file of its name.
type tree struct {
	Silent
	dir  string
	d    *Display
	dump dumper
}

func newTree(o Options) (View, error) {
	return &tree{dir: o.TreeDir, d: o.Display, dump: o.dumper()}, nil
}

func (v *tree) Done(r Result) {
	if r.Outcome == nil || r.Outcome.Status == wire.Skipped {
		return
	}
	if err := os.MkdirAll(v.dir, 0o755); err != nil {
		v.d.Warn(fmt.Sprintf("Unable to access or create the configured directory (%s): %v", v.dir, err))
	}
	// The views before this one show a result without some of its keys; the file has them all.
	text := v.dump.dump(prepare(r), -1)
	if err := os.WriteFile(filepath.Join(v.dir, filepath.Base(r.Host)), []byte(text), 0o666); err != nil {
		v.d.Warn(fmt.Sprintf("Unable to write to %s's file: %v", r.Host, err))
	}
}
