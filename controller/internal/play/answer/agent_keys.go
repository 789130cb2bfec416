package answer

import (
	"fmt"
	"path/filepath"
)

// Private are hark's own files: keys, access to brokers, records. No agent gets one, and none is replaced: a plan
// that looks up files of computed names would give an agent that was taken over the operator's key, and the fleet
// with it.
type Private struct {
	// Dir is the directory in which they lie, "" for none. Key is the operator's key, which may lie elsewhere.
	Dir, Key string
	// Checkout is the directory of the project where that lies in Dir, as those of keepers do: what is in it is the
	// project's. "" is none.
	Checkout string
}

// holds reports whether a path is among the private files, wherever links lead.
func (p Private) holds(path string) bool {
	if p.Dir == "" {
		return false
	}
	path = real(path)
	if p.Key != "" && path == real(p.Key) {
		return true
	}
	return within(p.Dir, path) && (p.Checkout == "" || !within(p.Checkout, path))
}

// within reports whether a path without links is a directory or lies in it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(real(dir), path)
	return err == nil && filepath.IsLocal(rel)
}

// real returns a path without links, as far as it exists.
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
