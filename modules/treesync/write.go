package treesync

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"hark/modules/internal/fsx"
)

// Look lists what a directory has of the entries of a tree and, if what is too much shall be deleted, of what else is
// in the tree's directories. Where contents are compared, those of files of equal size are summed.
func Look(root *os.Root, tree *Tree, o Options) (Lookup, error) {
	l := &look{root: root, o: o, found: Lookup{}, scan: &scan{names: map[uint32][2]string{}},
		wanted: LookupOf(tree.Entries)}
	for i := range tree.Entries {
		e := &tree.Entries[i]
		have, err := l.at(e.Rel, e)
		if err != nil {
			return nil, err
		}
		if have != nil && have.Kind == Dir && (o.Delete || e.Kind != Dir) {
			if err := l.below(e.Rel, e.Kind != Dir); err != nil {
				return nil, err
			}
		}
	}
	return l.found, nil
}

type look struct {
	root   *os.Root
	o      Options
	scan   *scan
	found  Lookup
	wanted Lookup
}

// at notes the entry at a path, nil if there is none.
func (l *look) at(rel string, want *Entry) (*Entry, error) {
	info, err := l.root.Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := l.scan.entry(info, rel)
	switch {
	case e.Kind == Link:
		e.Link, err = l.root.Readlink(rel)
	case e.Kind == File && l.o.Checksum && want != nil && want.Size == e.Size:
		e.Digest, err = l.sum(rel)
	}
	l.found[rel] = &e
	return &e, err
}

func (l *look) sum(rel string) (string, error) {
	f, err := l.root.Open(rel)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sums, err := fsx.CopySums(io.Discard, f)
	return sums.SHA256, err
}

// below notes what is in a directory, but for what the tree has itself; all of it, if that is in the way of something.
func (l *look) below(dir string, all bool) error {
	f, err := l.root.Open(dir)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		rel := join(dir, name)
		if l.wanted[rel] != nil && !all {
			continue
		}
		e, err := l.at(rel, nil)
		if err != nil {
			return err
		}
		if e != nil && e.Kind == Dir {
			if err := l.below(rel, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// Writer makes changes in a directory and reaches nothing outside of it. Directories get their modes and times at the
// end, when nothing is put into them any more: Close does that.
type Writer struct {
	root *os.Root
	dirs []Change
}

// NewWriter makes a Writer; the root stays the caller's to close.
func NewWriter(root *os.Root) *Writer { return &Writer{root: root} }

// Do makes one change; content is read for files whose content changes, and may be nil for others.
func (w *Writer) Do(c *Change, content io.Reader) error {
	rel := c.Entry.Rel
	if c.Delete {
		return w.root.Remove(rel)
	}
	if c.New && rel != "." && c.Entry.Kind != File { // a file takes the place of all but directories by its name
		if err := w.clear(rel); err != nil {
			return err
		}
	}
	switch {
	case c.Entry.Kind == Dir:
		return w.dir(c)
	case !c.Content:
		return w.dress(rel, c)
	case c.Entry.Kind == Link:
		return w.place(c, func(name string) error { return w.root.Symlink(c.Entry.Link, name) })
	case c.Entry.Kind == File:
		if info, err := w.root.Lstat(rel); err == nil && info.IsDir() {
			if err := w.clear(rel); err != nil {
				return err
			}
		}
		return w.place(c, func(name string) error { return w.file(name, c, content) })
	}
	return fmt.Errorf("cannot make %s: it is neither a file nor a directory nor a link", rel)
}

// clear takes away what stands where something is made. What is in a directory there goes before, each by a change of
// its own.
func (w *Writer) clear(rel string) error {
	if err := w.root.Remove(rel); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (w *Writer) dir(c *Change) error {
	last := *c
	if c.New && c.Entry.Rel != "." {
		if err := w.root.Mkdir(c.Entry.Rel, fs.FileMode(c.Entry.Mode&0o777)|0o700); err != nil {
			return err
		}
		if !c.Perms {
			last.Perms, last.Entry.Mode = true, c.Entry.Mode&0o777&^fsx.Umask()
		}
	}
	w.dirs = append(w.dirs, last)
	return nil
}

// place makes something under a name of its own and then moves it to where it belongs, so that nobody finds half of
// it there.
func (w *Writer) place(c *Change, make func(name string) error) error {
	rel := c.Entry.Rel
	temp := path.Join(path.Dir(rel), fmt.Sprintf(".%.40s.%08x", path.Base(rel), rand.Uint32()))
	err := make(temp)
	if err == nil {
		err = w.dress(temp, c)
	}
	if err == nil {
		err = w.root.Rename(temp, rel)
	}
	if err != nil {
		_ = w.root.Remove(temp)
	}
	return err
}

func (w *Writer) file(name string, c *Change, content io.Reader) error {
	mode := fs.FileMode(c.Entry.Mode & 0o777)
	if c.Perms {
		mode = 0o600 // until it has its owner
	}
	f, err := w.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(f, content)
	if err == nil && n != c.Entry.Size {
		err = fmt.Errorf("cannot write %s: it changed while it was read", c.Entry.Rel)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dress sets the attributes of what is at a path.
func (w *Writer) dress(rel string, c *Change) error {
	if c.Owner || c.Group {
		uid, gid := c.Entry.ids()
		if !c.Owner {
			uid = -1
		}
		if !c.Group {
			gid = -1
		}
		if err := w.root.Lchown(rel, uid, gid); err != nil {
			return err
		}
	}
	// After the owner, whose change takes setuid away.
	if c.Perms && c.Entry.Kind != Link {
		if err := w.root.Chmod(rel, fileMode(c.Entry.Mode)); err != nil {
			return err
		}
	}
	if c.Times {
		return w.touch(rel, c.Entry.Modified)
	}
	return nil
}

// touch sets the time of what is at a path, of a link its own.
func (w *Writer) touch(rel string, modified int64) error {
	dir, err := w.root.Open(path.Dir(rel))
	if err != nil {
		return err
	}
	defer dir.Close()
	times := []unix.Timespec{unix.NsecToTimespec(time.Now().UnixNano()), unix.NsecToTimespec(modified)}
	if err := unix.UtimesNanoAt(int(dir.Fd()), path.Base(rel), times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &fs.PathError{Op: "utimensat", Path: rel, Err: err}
	}
	return nil
}

func fileMode(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	for bit, flag := range map[uint32]fs.FileMode{unix.S_ISUID: fs.ModeSetuid, unix.S_ISGID: fs.ModeSetgid,
		unix.S_ISVTX: fs.ModeSticky} {
		if bits&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// Close gives the directories their attributes, the deepest first.
func (w *Writer) Close() error {
	for _, c := range slices.Backward(w.dirs) {
		if err := w.dress(c.Entry.Rel, &c); err != nil {
			return err
		}
	}
	return nil
}

// Settle adds to changes the times of directories that are not changed themselves, and whose content is.
func Settle(changes []Change, tree *Tree, o Options) []Change {
	if !o.Times || o.OmitDirTimes {
		return changes
	}
	known, touched := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		if c.Entry.Kind == Dir {
			known[c.Entry.Rel] = true
		}
		if c.Entry.Rel != "." {
			touched[parentOf(c.Entry.Rel)] = true
		}
	}
	for _, e := range tree.Entries {
		if e.Kind == Dir && touched[e.Rel] && !known[e.Rel] {
			changes = append(changes, Change{Entry: e, Times: true})
		}
	}
	return changes
}
