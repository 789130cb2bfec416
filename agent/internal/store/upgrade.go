package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hark/agent/atomicfile"
)

// layout is the number of the layout on disk that this code writes. A higher one is refused: an older agent does not
// guess at what a newer one has left.
const layout = 1

// upgrades convert a state directory from each layout to the next, the first from 1 to 2, so there is one less than
// layouts. An interrupted one is repeated from its beginning, and must allow that. They do not touch what GoBack does
// not restore: blobs and jobs.
func upgrades() []func(dir string) error { return nil }

// upgrade converts the directory to the layout of this program, step by step. The number on disk is that of the last
// finished step. A new directory begins with the last layout.
func upgrade(dir string, steps []func(dir string) error) error {
	last := len(steps) + 1
	at, err := version(dir)
	if err != nil {
		return err
	}
	if at == 0 {
		return writeVersion(dir, last)
	}
	if at > last {
		return newerError(dir, at, last)
	}
	if at < last {
		if err := keepBefore(dir, at); err != nil {
			return fmt.Errorf("cannot keep the state directory %s as it is in version %d: %w", dir, at, err)
		}
	}
	for ; at < last; at++ {
		if err := steps[at-1](dir); err != nil {
			return fmt.Errorf("cannot bring the state directory %s from version %d to %d: %w", dir, at, at+1, err)
		}
		if err := writeVersion(dir, at+1); err != nil {
			return err
		}
	}
	return nil
}

// CheckVersion returns an error unless this program can use a state directory, as it is or after an upgrade. It needs
// no lock and changes nothing.
func CheckVersion(dir string) error {
	at, err := version(dir)
	if err == nil && at > layout {
		err = newerError(dir, at, layout)
	}
	return err
}

func newerError(dir string, has, knows int) error {
	return fmt.Errorf("cannot use the state directory %s: it has version %d, this agent knows %d; upgrade hark-agent", dir,
		has, knows)
}

// version returns the number of the layout of a directory, 0 if it is new.
func version(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "version"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the version of the state directory: %v", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("cannot use the state directory %s: its version is %q", dir, strings.TrimSpace(string(text)))
	}
	return n, nil
}

func writeVersion(dir string, n int) error {
	if err := atomicfile.Write(filepath.Join(dir, "version"), []byte(strconv.Itoa(n)+"\n")); err != nil {
		return fmt.Errorf("cannot note the version of the state directory: %v", err)
	}
	return nil
}
