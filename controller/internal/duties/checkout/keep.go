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
)

// Keep says which commits are needed for longer, in place of those of the call before: they stay where Dir finds them. Of a directory, which
// changes, they are kept as copies (without .git); one that it is no longer at, and of which there is no copy, is an error.
func (p *Project) Keep(commits []string) error {
	p.mu.Lock()
	p.needed = slices.Clone(commits)
	p.mu.Unlock()
	if p.dir == "" {
		return nil
	}
	err := p.dropCopies()
	for _, commit := range commits {
		err = errors.Join(err, p.copy(commit))
	}
	return err
}

// needs tells whether the commit of a place is to be kept.
func (p *Project) needs(dir string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.needed, func(commit string) bool { return p.place(commit) == dir })
}

// dropCopies removes the copies that nobody needs.
func (p *Project) dropCopies() error {
	dirs, err := filepath.Glob(p.place("*"))
	for _, dir := range dirs {
		if !p.needs(dir) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// copy copies the project's directory, unless that was done.
func (p *Project) copy(commit string) error {
	if _, err := os.Stat(p.place(commit)); err == nil {
		return nil
	}
	if now, err := p.digest(); err != nil || now != commit {
		return errors.Join(fmt.Errorf("the project is no longer there as it was at %s", commit), err)
	}
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(p.state, "new-")
	if err != nil {
		return err
	}
	if err = copyTree(p.dir, tmp, p.state); err == nil {
		err = os.Rename(tmp, p.place(commit))
	}
	if err != nil {
		_ = os.RemoveAll(tmp)
		return fmt.Errorf("cannot keep the project as it is: %w", err)
	}
	return nil
}

// copyTree copies what is in a directory, but for .git and one other directory in it.
func copyTree(from, to, without string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case d.IsDir() && (d.Name() == ".git" || path == without):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		case d.Type().IsRegular():
			return copyFile(path, at)
		}
		return nil
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Checkout is the commit, as Now names it, of the git work tree that a directory lies in, with the tree's root. Both are "" outside of git, where git
// cannot tell, and where anything differs from the commit or is not in it, ignored files aside.
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
