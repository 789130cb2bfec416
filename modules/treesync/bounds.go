package treesync

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Bounds are what the changes of an archive may be.
type Bounds struct {
	// Only, if it is not "", is the name that all changes must be about.
	Only string
	// Options are those of the transfer: what they do not ask for is not done.
	Options Options
	// Size is that of the archive in bytes. No more than that is written: an archive can say of a few bytes that they
	// are a large file.
	Size int64
}

// guard looks at the changes of one archive, in their order.
type guard struct {
	Bounds
	root    *os.Root
	filter  *filter
	written int64
}

func (b Bounds) guard(root *os.Root) (*guard, error) {
	f, err := newFilter(b.Options.Rules, &Tree{})
	return &guard{Bounds: b, root: root, filter: f}, err
}

// allows judges a change whose content has size bytes.
func (g *guard) allows(c *Change, size int64) error {
	e, o := &c.Entry, &g.Options
	if !fs.ValidPath(e.Rel) {
		return errors.New("it does not lie in the directory")
	}
	had, err := g.root.Lstat(e.Rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	switch {
	case g.Only != "" && e.Rel != g.Only:
		return fmt.Errorf("only %s is expected", g.Only)
	case g.excluded(e):
		return errors.New("it is excluded")
	case c.Delete && !o.Delete:
		return errors.New("nothing is to be deleted")
	case c.Delete:
		return nil
	case e.Kind == Link && !o.Links:
		return errors.New("no links are to be made")
	case !there && o.Existing:
		return errors.New("only what exists is to be changed")
	case there && !had.IsDir() && o.IgnoreExisting:
		return errors.New("what exists is not to be changed")
	case c.Owner && !o.Owner, c.Group && !o.Group:
		return errors.New("owners are not to be kept")
	case c.Perms && !g.mayHaveMode(c, had):
		return errors.New("modes are not to be kept")
	}
	if !c.HasContent() {
		return nil
	}
	g.written += size
	if size != e.Size || g.written > g.Size {
		return errors.New("the archive does not hold so many bytes")
	}
	return nil
}

// excluded reports whether the rules leave an entry, or a directory that it is in, out.
func (g *guard) excluded(e *Entry) bool {
	if g.Options.DeleteExcluded || e.Rel == "." || g.Only != "" {
		return false
	}
	for dir := path.Dir(e.Rel); dir != "."; dir = path.Dir(dir) {
		if g.filter.excludes(dir, true) {
			return true
		}
	}
	return g.filter.excludes(e.Rel, e.Kind == Dir)
}

// mayHaveMode reports whether an entry may get the mode that it names: where modes are not kept, what takes the place
// of a file has that one's.
func (g *guard) mayHaveMode(c *Change, had fs.FileInfo) bool {
	return g.Options.Perms || had != nil && had.Mode().IsRegular() &&
		fileMode(c.Entry.Mode) == had.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)
}
