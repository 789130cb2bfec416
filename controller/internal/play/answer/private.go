package answer

import (
	"fmt"
	"path/filepath"
)

// private tells whether a path is among hark's own keys, which nobody gets or replaces: a plan that looks up files of computed names would
// give an agent that was taken over the operator's key, and the fleet with it.
func (a *Answerer) private(path string) bool {
	if a.Private == "" {
		return false
	}
	rel, err := filepath.Rel(real(a.Private), real(path))
	return err == nil && filepath.IsLocal(rel)
}

// real is a path without links, as far as it exists.
func real(path string) string {
	path = filepath.Clean(path)
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(real(parent), filepath.Base(path))
	}
	return path
}

func refusePrivate(path string) error {
	return &refusal{fmt.Sprintf("%s is among hark's own files", path)}
}
