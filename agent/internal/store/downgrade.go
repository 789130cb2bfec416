package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hark/agent/atomicfile"
)

// If a newer agent does not come up, the one before it takes its place (hark-agent guard). That one cannot use the
// state directory in a newer layout. So what it needs of the old layout is kept until the newer agent is confirmed:
//
//	version 1 --upgrade--> version 2 and before-1/ --confirmed: DropBefore--> version 2
//	                                               --not: GoBack-----------> version 1

// beforeName returns the directory, in a state directory, with the contents of layout n.
func beforeName(n int) string { return fmt.Sprintf("before-%d", n) }

// stays reports whether an entry is the same in all layouts: the cache, and the jobs, whose processes may be of another
// version anyway.
func stays(name string) bool {
	return name == "blobs" || name == "jobs" || name == "lock" || strings.HasPrefix(name, "before-") ||
		strings.HasPrefix(name, ".")
}

// keepBefore keeps a copy of a directory in layout n. It leaves an existing copy, which an interrupted upgrade made
// before it changed anything.
func keepBefore(dir string, n int) error {
	to := filepath.Join(dir, beforeName(n))
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	making := filepath.Join(dir, ".making-"+beforeName(n))
	if err := errors.Join(os.RemoveAll(making), os.Mkdir(making, 0o700)); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if stays(e.Name()) {
			continue
		}
		if err := copyTree(filepath.Join(dir, e.Name()), filepath.Join(making, e.Name())); err != nil {
			return err
		}
	}
	return os.Rename(making, to)
}

// copyTree copies regular files and directories; the next agent makes other files, such as sockets, again.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return atomicfile.Write(target, text)
	})
}

// GoBack returns a state directory that a newer program has upgraded to the layout of this one. No agent may be using
// it. An interrupted GoBack can be repeated.
func GoBack(dir string) error { return goBack(dir, layout) }

func goBack(dir string, knows int) error {
	at, err := version(dir)
	if err != nil || at <= knows {
		return err
	}
	kept := filepath.Join(dir, beforeName(knows))
	old, err := os.ReadDir(kept)
	if err != nil {
		return newerError(dir, at, knows)
	}
	had := map[string]bool{}
	for _, e := range old {
		had[e.Name()] = true
		if e.Name() == "version" { // comes last
			continue
		}
		if err := restore(filepath.Join(kept, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("cannot bring the state directory %s back to version %d: %w", dir, knows, err)
		}
	}
	now, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range now {
		if !stays(e.Name()) && !had[e.Name()] {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := writeVersion(dir, knows); err != nil {
		return err
	}
	return DropBefore(dir)
}

// restore replaces to by a copy of from.
func restore(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return copyTree(from, to)
}

// DropBefore removes what was kept for GoBack.
func DropBefore(dir string) error {
	kept, err := filepath.Glob(filepath.Join(dir, "before-*"))
	for _, path := range kept {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}
