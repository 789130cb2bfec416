// Package cwd returns the working directory as Python does: without symbolic links. Go's os.Getwd, and with it
// filepath.Abs, takes the path that the shell has in $PWD, if that is set.
package cwd

import (
	"path/filepath"
	"syscall"
)

// Get returns the working directory.
func Get() (string, error) { return syscall.Getwd() }

// Abs is path from the working directory if it is relative, without dots.
func Abs(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	dir, err := Get()
	return filepath.Join(dir, path), err
}
