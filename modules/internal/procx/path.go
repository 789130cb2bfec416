package procx

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hark/modules/internal/oserr"
)

// StartError is a process that could not be started. Its text is that of Python's OSError.
type StartError struct {
	Errno syscall.Errno
	Name  string
	// Plain is set for the shell that Python starts where nobody names one: its name is text there, not bytes.
	Plain bool
}

func (e *StartError) Error() string {
	if e.Plain {
		return oserr.Path(e.Errno, e.Name)
	}
	return oserr.Bytes(e.Errno, e.Name)
}

func (e *StartError) Unwrap() error { return e.Errno }

// startError names what could not be started: the directory when that is what is wrong.
func startError(name, dir string, err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return fmt.Errorf("cannot start %q: %w", name, err)
	}
	if dir != "" {
		if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
			name = dir
		}
	}
	return &StartError{Errno: errno, Name: name}
}

// lookPath finds a program as execvpe does, in the PATH of env.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	if name == "" {
		return "", &StartError{Errno: syscall.ENOENT, Name: name}
	}
	saved := syscall.ENOENT
	for _, d := range filepath.SplitList(searchPath(env)) {
		if d == "" {
			d = "."
		}
		file := filepath.Join(d, name)
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		errno := executable(file)
		if errno == 0 {
			abs, err := filepath.Abs(file)
			if err != nil {
				return "", err
			}
			return abs, nil
		}
		if errno == syscall.EACCES {
			saved = errno
		}
	}
	return "", &StartError{Errno: saved, Name: name}
}

func searchPath(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if path, ok := strings.CutPrefix(env[i], "PATH="); ok {
			return path
		}
	}
	return "/bin:/usr/bin"
}

func executable(file string) syscall.Errno {
	info, err := os.Stat(file)
	if err != nil {
		return syscall.ENOENT
	}
	if info.IsDir() || unix.Access(file, unix.X_OK) != nil {
		return syscall.EACCES
	}
	return 0
}

// LookPath finds a program in the directories of env's PATH and then in extra ones; exec.ErrNotFound
// if it is in none.
func LookPath(name string, env []string, extra ...string) (string, error) {
	if strings.ContainsRune(name, '/') {
		if executable(name) == 0 {
			return name, nil
		}
		return "", exec.ErrNotFound
	}
	for _, d := range append(filepath.SplitList(searchPath(env)), extra...) {
		if file := filepath.Join(d, name); executable(file) == 0 {
			return file, nil
		}
	}
	return "", exec.ErrNotFound
}
