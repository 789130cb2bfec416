// Package cwd tells where the process stands as Python does: without symbolic links. Go's os.Getwd, and with it
// filepath.Abs, takes the way by which the shell came there, if $PWD tells it.
package cwd

import (
	"path/filepath"
	"syscall"
)

// Get is the working directory.
func Get() (string, error) { return syscall.Getwd() }

// Abs is path from the working directory if it is relative, without dots.
func Abs(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	dir, err := Get()
	return filepath.Join(dir, path), err
}
