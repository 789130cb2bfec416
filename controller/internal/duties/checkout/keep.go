package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Keep says which commits are needed for longer, in place of those of the call before: they stay where Dir finds
// them. One that is no longer there is an error.
func (p *Project) Keep(commits []string) error {
	p.mu.Lock()
	p.needed = slices.Clone(commits)
	p.mu.Unlock()
	var err error
	for _, commit := range commits {
		if _, ok := p.Dir(commit); !ok {
			err = errors.Join(err, fmt.Errorf("the project is no longer there as it was at %s", commit))
		}
	}
	return err
}

// needs reports whether the commit of a place is to be kept.
func (p *Project) needs(dir string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.needed, func(commit string) bool { return p.place(commit) == dir })
}

// snapshot copies the project's directory as it is now, unless that was done: turns play what was read, whatever
// somebody does there meanwhile.
func (p *Project) snapshot() (commit, dir string, err error) {
	if commit, err = p.digest(); err != nil {
		return "", "", err
	}
	dir = p.place(commit)
	if _, err := os.Stat(dir); err == nil {
		now := time.Now()
		return commit, dir, os.Chtimes(dir, now, now)
	}
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		return "", "", err
	}
	tmp, err := os.MkdirTemp(p.state, "new-")
	if err != nil {
		return "", "", err
	}
	before, _ := p.Taken()
	c := copying{from: p.dir, to: tmp, without: filepath.Dir(p.state)}
	if len(before) > 0 {
		c.before = before[0]
	}
	err = c.tree()
	if err == nil {
		var then string
		if then, err = p.digest(); err == nil && then != commit {
			err = errors.New("somebody is changing it: it is read again")
		}
	}
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		_ = os.RemoveAll(tmp)
		return "", "", fmt.Errorf("cannot take the project as it is: %w", err)
	}
	return commit, dir, p.prune()
}

// CopyTree makes a directory have what another one has, with links to its files: nobody may write to them.
func CopyTree(from, to string) error { return (&copying{from: from, to: to, before: from}).tree() }

// copying is a copy of what is in a directory, but for .git and hark's own directory, if that lies in it.
type copying struct {
	from, to, without string
	// before is a copy of an earlier state, "" for none: files that are the same are linked to it.
	before string
}

func (c *copying) tree() error {
	return filepath.WalkDir(c.from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(c.to, rel)
		switch {
		case d.IsDir() && rel != "." && (d.Name() == ".git" || path == c.without):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			return c.link(path, at)
		case d.Type().IsRegular():
			return c.file(path, rel)
		}
		return nil
	})
}

// link copies a link. One that leads out of the project leads to the same place.
func (c *copying) link(path, at string) error {
	target, err := os.Readlink(path)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(target) {
		whole := filepath.Join(filepath.Dir(path), target)
		if rel, err := filepath.Rel(c.from, whole); err != nil || !filepath.IsLocal(rel) {
			target = whole
		}
	}
	return os.Symlink(target, at)
}

// file copies a file with its mode and time.
func (c *copying) file(from, rel string) error {
	to := filepath.Join(c.to, rel)
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if c.before != "" {
		old := filepath.Join(c.before, rel)
		was, err := os.Lstat(old)
		if err == nil && was.Mode() == info.Mode() && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) &&
			os.Link(old, to) == nil {
			return nil
		}
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// Checkout returns the commit, as Now names it, of the git work tree that a directory lies in, with the tree's root.
// Both are "" outside of git, where git cannot tell, and where anything differs from the commit or is not in it,
// ignored files aside.
func Checkout(ctx context.Context, dir string) (commit, root string, err error) {
	git := func(args ...string) (string, error) {
		return command(ctx, []string{"GIT_OPTIONAL_LOCKS=0"}, "git", append([]string{"-C", dir}, args...)...)
	}
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", nil
	}
	head, err := git("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil || len(head) < shortCommit { // nothing was committed yet
		return "", "", nil
	}
	changes, err := git("status", "--porcelain")
	if err != nil || strings.TrimSpace(changes) != "" {
		return "", "", nil
	}
	root, err = filepath.EvalSymlinks(top)
	return head[:shortCommit], root, err
}
