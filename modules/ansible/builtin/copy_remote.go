package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// runRemote copies what is on the host already (remote_src).
func (c *copyWork) runRemote(ctx context.Context) (modules.Result, error) {
	src, dest := modules.Text(c.Src), withDir(c.Dest)
	info, err := hostfs.Stat(src)
	if err != nil {
		return modules.Fail("Source %s not found", src)
	}
	if !fsx.Readable(src) {
		return modules.Fail("Source %s not readable", src)
	}
	if preserves(c.Mode) {
		st, err := fsx.Stat(src, true)
		if err != nil {
			return modules.Result{}, fsx.Failed(oserr.Bytes(err, src))
		}
		c.Mode = value.UnsafeStr(fsx.ModeText(uint32(st.Mode)))
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return modules.Fail("Cannot copy invalid source '%s': not a file", src)
	}
	if !info.IsDir() {
		return c.remoteFile(ctx, src, dest)
	}
	if want := modules.Text(c.Checksum); want != "" {
		return modules.Result{}, fsx.Failed("Copied file does not match the expected checksum. Transfer failed.", "checksum",
			nil, "expected_checksum", want)
	}
	return c.remoteTree(src, dest)
}

func (c *copyWork) remoteFile(ctx context.Context, src, dest string) (modules.Result, error) {
	sums, err := fileSums(src)
	if err != nil {
		return modules.Result{}, fsx.Failed(oserr.Bytes(err, src))
	}
	if want := modules.Text(c.Checksum); want != "" && want != sums.SHA1 {
		return modules.Result{}, fsx.Failed("Copied file does not match the expected checksum. Transfer failed.", "checksum",
			sums.SHA1, "expected_checksum", want)
	}
	if c.env.Check && strings.HasSuffix(dest, "/") && !fsx.Exists(dest) {
		return modules.Result{Changed: true,
			Msg:  fmt.Sprintf("dest directory %s would be created", strings.TrimRight(dest, "/")),
			Data: value.DictOf("src", src)}, nil
	}
	rel := modules.Text(c.OriginalBasename)
	if rel == "" && !strings.HasSuffix(dest, "/") {
		rel = filepath.Base(src)
	}
	if strings.HasSuffix(dest, "/") && rel == "" {
		if err := c.makeParents(strings.TrimRight(dest, "/")); err != nil {
			return modules.Result{}, err
		}
		dest, rel = strings.TrimRight(dest, "/"), filepath.Base(src)
		if dest == "" {
			dest = "/"
		}
	}
	if dest, err = c.resolveDest(dest, rel, c.Follow); err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Data: value.DictOf("diff", modules.Here, "dest", dest, "src", src, "md5sum", sums.MD5,
		"checksum", sums.SHA1, "changed", modules.Here)}
	if fsx.Exists(dest) && !c.Force {
		return modules.Result{Msg: "file already exists", Data: value.DictOf("dest", dest, "src", src)}, nil
	}
	there := ""
	if fsx.IsFile(dest) {
		there, _ = fsx.Sum(dest, "sha1")
	}
	if there != sums.SHA1 || fsx.IsLink(dest) {
		res.Changed = true
		if !c.env.Check {
			if err := c.stageRemote(ctx, src, dest, &res); err != nil {
				return modules.Result{}, err
			}
		}
	}
	did, err := c.For(dest, c.Follow).Apply(c.env.Check, nil)
	res.Changed = res.Changed || did
	return res, err
}

func fileSums(path string) (fsx.Sums, error) {
	f, err := hostfs.Open(path)
	if err != nil {
		return fsx.Sums{}, err
	}
	defer f.Close()
	return fsx.CopySums(io.Discard, f)
}

func (c *copyWork) stageRemote(ctx context.Context, src, dest string, res *modules.Result) error {
	staged, err := fsx.Stage(dest, c.UnsafeWrites)
	if err != nil {
		return err
	}
	defer staged.Discard()
	in, err := hostfs.Open(src)
	if err != nil {
		return fsx.Failed(oserr.Bytes(err, src))
	}
	defer in.Close()
	if _, err := io.Copy(staged, in); err != nil {
		return err
	}
	// Ansible's module copies the times of one file, and not those of a directory's.
	if err := errors.Join(staged.Close(), sameTimes(in, staged.Path)); err != nil {
		return err
	}
	return c.exchange(ctx, staged, dest, c.Mode, res)
}

// sameTimes gives a file the times of one that is open.
func sameTimes(of *os.File, path string) error {
	info, err := of.Stat()
	if err != nil {
		return err
	}
	access := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		read, _, _ := fsx.Times(st)
		access = time.Unix(read.Unix())
	}
	return hostfs.Chtimes(path, access, info.ModTime())
}

// remoteTree copies a directory of the host into dest, or its content if src ends in /.
func (c *copyWork) remoteTree(src, dest string) (modules.Result, error) {
	from := strings.TrimRight(src, "/")
	content := strings.HasSuffix(src, "/")
	if strings.HasSuffix(dest, "/") && !fsx.Exists(dest) {
		if c.env.Check {
			return modules.Result{Changed: true, Msg: "dest directory " + fsx.DirName(dest) + " would be created",
				Data: value.DictOf("src", src)}, nil
		}
		if err := c.makeParents(strings.TrimRight(dest, "/")); err != nil {
			return modules.Result{}, err
		}
	}
	existed := fsx.IsDir(dest)
	shown, target := dest, filepath.Join(dest, filepath.Base(from))
	switch {
	case content && existed:
		shown, target = fsx.JoinPath(dest, ""), filepath.Clean(dest)
	case content:
		target = dest
	case existed:
		shown = fsx.JoinPath(dest, filepath.Base(from))
	}
	switch {
	case fsx.Exists(shown) && !c.Force:
		return modules.Result{Msg: "file already exists", Data: value.DictOf("src", src, "dest", shown)}, nil
	case fsx.Exists(shown) && !fsx.IsDir(shown) && c.Validate != nil && !strings.Contains(*c.Validate, "%s"):
		return modules.Fail("validate must contain %%s: %s", *c.Validate)
	case fsx.Exists(shown) && !fsx.IsDir(shown):
		return modules.Fail("Could not replace file: %s to %s: %s -> %s", value.ReprBytes(src), shown,
			oserr.Bytes(syscall.ENOTDIR, src), value.ReprBytes(shown))
	case !existed && !fsx.Exists(orDot(fsx.DirName(dest))):
		return modules.Fail("Destination directory %s does not exist", fsx.DirName(dest))
	case strings.HasPrefix(fsx.RealPath(target), fsx.RealPath(from)+"/"):
		return modules.Fail("cannot copy the directory %s into itself, %s", src, target)
	case !existed && c.Follow && fsx.IsLink(dest):
		shown = fsx.RealPath(dest)
	}
	changed, err := c.fillTree(from, target, existed || content)
	if err != nil {
		return modules.Result{}, fsx.Failed("failed to copy: " + src + " to " + dest + ": " + err.Error())
	}
	res := modules.Result{Changed: changed,
		Data: value.DictOf("dest", shown, "src", src, "md5sum", nil, "checksum", nil, "changed", modules.Here)}
	did, err := c.For(shown, c.Follow).Apply(c.env.Check, nil)
	res.Changed = res.Changed || did
	return res, err
}

// fillTree makes the directory to, with the mode of from if it is its copy, and brings into it what from has.
func (c *copyWork) fillTree(from, to string, isCopy bool) (changed bool, err error) {
	if !fsx.Exists(to) {
		changed = true
		if c.env.Check {
			return true, nil
		}
		if isCopy {
			err = copyDirMode(from, to)
		} else {
			err = hostfs.MkdirAll(to, 0o777)
		}
		if err != nil {
			return false, err
		}
	}
	did, err := c.merge(from, to)
	if err != nil {
		return false, err
	}
	owned, err := c.chownTree(to)
	changed = changed || did || owned
	if changed && !c.env.Check {
		fsx.SyncTree(to)
	}
	return changed, err
}

// dircmpIgnores are the names that Python's dircmp leaves out when directories are compared.
func dircmpIgnores(name string) bool {
	return slices.Contains([]string{"RCS", "CVS", "tags", ".git", ".hg", ".bzr", "_darcs", "__pycache__"}, name)
}

// merge brings what differs or is missing from one directory into another.
func (c *copyWork) merge(src, dest string) (bool, error) {
	entries, err := hostfs.ReadDir(src)
	if err != nil {
		return false, err
	}
	fresh := !fsx.Exists(dest)
	changed := false
	for _, e := range entries {
		from, to := filepath.Join(src, e.Name()), filepath.Join(dest, e.Name())
		if !fresh && dircmpIgnores(e.Name()) {
			continue
		}
		did, err := c.mergeOne(from, to)
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
	return changed, nil
}

func (c *copyWork) mergeOne(from, to string) (bool, error) {
	keepLinks := c.LocalFollow == nil || !*c.LocalFollow
	if keepLinks && c.LocalFollow == nil && fsx.IsLink(from) && fsx.Exists(to) {
		keepLinks = false
	}
	fromInfo, err := hostfs.Stat(from)
	toInfo, toErr := hostfs.Stat(to)
	switch {
	case fsx.IsLink(from) && (keepLinks || err != nil):
		if _, err := hostfs.Lstat(to); err == nil {
			return false, nil
		}
		return true, c.act(func() error {
			target, err := hostfs.Readlink(from)
			if err != nil {
				return err
			}
			return hostfs.Symlink(target, to)
		})
	case err != nil:
		return false, err
	case fromInfo.IsDir():
		if toErr == nil && !toInfo.IsDir() {
			return false, nil
		}
		if toErr != nil {
			if err := c.act(func() error { return copyDirMode(from, to) }); err != nil || c.env.Check {
				return true, err
			}
		}
		did, err := c.merge(from, to)
		return did || toErr != nil, err
	case toErr == nil && (toInfo.IsDir() || sameContent(from, to, fromInfo, toInfo)):
		return false, nil
	}
	return true, c.act(func() error { return copyPlain(from, to, fromInfo) })
}

func (c *copyWork) act(f func() error) error {
	if c.env.Check {
		return nil
	}
	return f()
}

func copyDirMode(from, to string) error {
	st, err := fsx.Stat(from, true)
	if err != nil {
		return err
	}
	return errors.Join(hostfs.Mkdir(to, 0o777), hostfs.Chmod(to, uint32(st.Mode)&0o777))
}

// copyPlain copies content and mode, whole.
func copyPlain(from, to string, info fs.FileInfo) error {
	in, err := hostfs.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	staged, err := fsx.Stage(to, false)
	if err != nil {
		return err
	}
	defer staged.Discard()
	staged.Lazy = true
	staged.Narrow(value.Int(info.Mode().Perm()))
	if _, err := io.Copy(staged, in); err != nil {
		return err
	}
	if err := staged.Commit(false); err != nil {
		return err
	}
	return hostfs.Chmod(to, uint32(info.Mode().Perm()))
}

// sameContent reports whether two files are equal; those with the same size and time count as such.
func sameContent(a, b string, x, y fs.FileInfo) bool {
	if x.Size() != y.Size() {
		return false
	}
	if x.ModTime().Equal(y.ModTime()) && x.ModTime().Before(time.Now()) {
		return true
	}
	f, err := hostfs.Open(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := hostfs.Open(b)
	if err != nil {
		return false
	}
	defer g.Close()
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errF := io.ReadFull(f, p)
		m, errG := io.ReadFull(g, q)
		if n != m || !bytes.Equal(p[:n], q[:m]) {
			return false
		}
		if errF != nil || errG != nil {
			return errors.Is(errF, io.EOF) || errors.Is(errF, io.ErrUnexpectedEOF)
		}
	}
}

// chownTree gives a directory and all in it the owner and group.
func (c *copyWork) chownTree(root string) (bool, error) {
	if c.Owner == nil && c.Group == nil || !fsx.Exists(root) {
		return false, nil
	}
	changed := false
	err := hostfs.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		did, err := fsx.Attrs{Path: path, Owner: c.Owner, Group: c.Group}.Apply(c.env.Check, nil)
		changed = changed || did
		return err
	})
	return changed, err
}
