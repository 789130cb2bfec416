// Package oserr words errors of the operating system as Python does, because Ansible's messages quote
// them: [Errno 2] No such file or directory: '/x'.
package oserr

import (
	"errors"
	"fmt"
	"syscall"

	"hark/modules/py/value"
)

// Text returns the C library's text of an error number. Go has the same texts, but in lower case.
func Text(errno syscall.Errno) string {
	text := []byte(errno.Error())
	if text[0] >= 'a' && text[0] <= 'z' {
		text[0] -= 'a' - 'A'
	}
	return string(text)
}

// Path returns the text of an OSError about a path that Ansible gave as text.
func Path(err error, path string) string { return about(err, value.ReprText(path)) }

// Bytes returns the text of an OSError about a path that Ansible gave as bytes.
func Bytes(err error, path string) string { return about(err, value.ReprBytes(path)) }

// outsider is hostfs.OutsideError, whose text is the host's policy's and stays as it is.
type outsider interface {
	error
	OutsidePolicy()
}

// Bare returns the text of an OSError about no path.
func Bare(err error) string {
	var errno syscall.Errno
	var outside outsider
	switch {
	case errors.As(err, &outside):
		return outside.Error()
	case !errors.As(err, &errno):
		return err.Error()
	}
	return fmt.Sprintf("[Errno %d] %s", int(errno), Text(errno))
}

// Class returns the Python exception for an error number.
func Class(err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return "FileNotFoundError"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return "PermissionError"
	case errors.Is(err, syscall.EEXIST):
		return "FileExistsError"
	case errors.Is(err, syscall.EISDIR):
		return "IsADirectoryError"
	case errors.Is(err, syscall.ENOTDIR):
		return "NotADirectoryError"
	}
	return "OSError"
}

func about(err error, path string) string {
	var errno syscall.Errno
	var outside outsider
	if errors.As(err, &outside) || !errors.As(err, &errno) {
		return Bare(err)
	}
	return Bare(errno) + ": " + path
}
