// Package fsx is what the modules that touch files share: the arguments that all of them have, modes, owners,
// attributes and SELinux contexts, whole-file writes, backups and checksums. Messages are Ansible's.
package fsx

import (
	"fmt"

	"hark/modules/py/value"
)

// Error is a failure with more keys for the result than a message.
type Error struct {
	Msg  string
	Data *value.Dict
}

func (e *Error) Error() string { return e.Msg }

// Details returns the further keys of the result.
func (e *Error) Details() *value.Dict { return e.Data }

// Fail makes an Error about a path.
func Fail(path, format string, a ...any) *Error {
	return &Error{Msg: fmt.Sprintf(format, a...), Data: value.DictOf("path", path)}
}

func failure(format string, a ...any) error { return &Error{Msg: fmt.Sprintf(format, a...)} }

// Delta gathers what a module changes of a file, for the result's diff. A nil Delta gathers nothing.
type Delta struct{ Before, After *value.Dict }

// NewDelta begins a diff of a file as the file module does.
func NewDelta(path string) *Delta {
	return &Delta{Before: value.DictOf("path", path), After: value.DictOf("path", path)}
}

// Note records one attribute's values.
func (d *Delta) Note(key string, before, after any) {
	if d != nil {
		d.Before.Put(key, before)
		d.After.Put(key, after)
	}
}

// Map returns the diff as results hold it.
func (d *Delta) Map() *value.Dict {
	return value.DictOf("before", d.Before, "after", d.After)
}
