package fsx

import (
	"path/filepath"
	"strings"
)

// JoinPath joins without cleaning, as Python does: the text shows in messages and results.
func JoinPath(dir, name string) string {
	if filepath.IsAbs(name) || dir == "" {
		return name
	}
	if dir[len(dir)-1] == '/' {
		return dir + name
	}
	return dir + "/" + name
}

// DirName returns all before the last part of a path, "" if that is all there is, as Python has it.
func DirName(path string) string {
	at := strings.LastIndexByte(path, '/')
	if at <= 0 {
		return path[:at+1]
	}
	return strings.TrimRight(path[:at], "/")
}
