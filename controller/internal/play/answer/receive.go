package answer

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/treesync"
	"hark/playbook/plan"
)

// place is where uploads of one call go.
type place struct {
	wire.Place
	play string
	in   *upload // the one on its way
	// named is the file of a directory that was named first, "" before; see wire.Place. Guarded by uploads.mu.
	named string
}

// upload is a file on its way from a host to the controller.
type upload struct {
	rel  string
	root *os.Root // of tmp; nil for an archive
	name string   // of tmp
	tmp  *os.File
	size int64
	sum  hash.Hash
}

// take adds a piece to what has come, and puts the whole in place with the last.
func (p *place) take(in *upload, rel string, u *wire.Upload) (*upload, error) {
	if u.Offset == 0 {
		in.discard()
		var err error
		if in, err = p.begin(rel); err != nil {
			return nil, err
		}
	}
	if in == nil || in.size != u.Offset || in.rel != rel {
		return in, fmt.Errorf("cannot fetch to %s: a piece is missing", p.path(rel))
	}
	if _, err := io.MultiWriter(in.tmp, in.sum).Write(u.Data); err != nil {
		return in, fmt.Errorf("cannot write %s: %w", p.path(rel), err)
	}
	if in.size += int64(len(u.Data)); in.size/roomEvery != (in.size-int64(len(u.Data)))/roomEvery {
		if err := roomLeft(in.tmp); err != nil {
			return in, fmt.Errorf("cannot write %s: %w", p.path(rel), err)
		}
	}
	if !u.Last {
		return in, nil
	}
	if got := hex.EncodeToString(in.sum.Sum(nil)); u.Digest != "" && got != u.Digest {
		return in, fmt.Errorf("cannot fetch to %s: the content arrived damaged", p.path(rel))
	}
	if p.Archive {
		return in, p.unpack(in.tmp, u.Mode)
	}
	return in, in.finish(p.path(rel))
}

const (
	// roomEvery is after how many bytes of an upload it is looked whether there is room for more; leastRoom is how
	// much is left to others.
	roomEvery = 16 << 20
	leastRoom = 256 << 20
)

// roomLeft is an error when a disk is nearly full: a host can send without end.
func roomLeft(f *os.File) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return err
	}
	if left := st.Bavail * uint64(st.Bsize); left < leastRoom {
		return fmt.Errorf("no more than %d MB are left on the disk", left>>20)
	}
	return nil
}

func (p *place) path(rel string) string { return filepath.Join(p.Root, rel) }

// open returns the directory above a file of the place, below which nothing leads out, and the file's name there.
func (p *place) open(rel string, made bool) (root *os.Root, name string, err error) {
	dir := p.Root
	if p.File {
		dir, rel = filepath.Split(filepath.Clean(p.Root))
	}
	if made {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, "", fmt.Errorf("cannot make the directory of %s: %w", p.path(rel), err)
		}
	}
	if root, err = os.OpenRoot(dir); err != nil {
		return nil, "", err
	}
	return root, rel, nil
}

// begin makes the file that takes the pieces: beside the one that it becomes, an archive elsewhere, as the directory
// of dest would be found changed the next time.
func (p *place) begin(rel string) (*upload, error) {
	if p.Archive {
		tmp, err := os.CreateTemp("", "hark-changes-")
		if err != nil {
			return nil, err
		}
		return &upload{name: tmp.Name(), tmp: tmp, sum: sha256.New()}, nil
	}
	root, name, err := p.open(rel, true)
	if err != nil {
		return nil, err
	}
	u := &upload{rel: rel, root: root, sum: sha256.New()}
	dir := filepath.Dir(name)
	if dir != "." {
		err = root.MkdirAll(dir, 0o777)
	}
	if err == nil {
		// Made as a plain new file is, so that the user's umask decides who may read it.
		u.name = filepath.Join(dir, ".fetch-"+rand.Text())
		u.tmp, err = root.OpenFile(u.name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("cannot write %s: %w", p.path(rel), err)
	}
	u.rel = rel
	return u, nil
}

// finish puts the whole in place.
func (u *upload) finish(shown string) error {
	if err := u.tmp.Sync(); err != nil {
		return fmt.Errorf("cannot write %s: %w", shown, err)
	}
	name := filepath.Join(filepath.Dir(u.name), filepath.Base(shown))
	if err := u.root.Rename(u.name, name); err != nil {
		return fmt.Errorf("cannot write %s: %w", shown, err)
	}
	return nil
}

func (u *upload) discard() {
	if u == nil {
		return
	}
	u.tmp.Close()
	if u.root == nil {
		os.Remove(u.name)
		return
	}
	_ = u.root.Remove(u.name) // it is in place, or not wanted
	u.root.Close()
}

// stat returns the sha1 of a file of the place, "" if there is none.
func (p *place) stat(rel string) (wire.Answer, error) {
	text := func(s string) (wire.Answer, error) { return wire.Answer{Value: plan.Lit(value.Str(s))}, nil }
	root, name, err := p.open(rel, false)
	if errors.Is(err, fs.ErrNotExist) {
		return text("")
	}
	if err != nil {
		return wire.Answer{}, fmt.Errorf("cannot read %s: %w", p.path(rel), err)
	}
	defer root.Close()
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return text("")
	}
	if err != nil {
		return wire.Answer{}, fmt.Errorf("cannot read %s: %w", p.path(rel), err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return text("dir")
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, f); err != nil {
		return wire.Answer{}, fmt.Errorf("cannot read %s: %w", p.path(rel), err)
	}
	return text(hex.EncodeToString(sum.Sum(nil)))
}

// unpack makes the changes of an archive that a host sent. The directory that they are in may be new, but not the one
// above it.
func (p *place) unpack(tmp *os.File, mode uint32) error {
	if _, err := tmp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	dest, only := p.Root, ""
	if mode&unix.S_IFMT == unix.S_IFREG {
		if st, err := os.Lstat(dest); err == nil && st.IsDir() {
			return fmt.Errorf("cannot write %s: it is a directory", dest)
		}
		dest, only = filepath.Split(dest)
	} else if err := os.Mkdir(dest, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := os.OpenRoot(dest)
	if err != nil {
		return err
	}
	defer root.Close()
	st, err := tmp.Stat()
	if err != nil {
		return err
	}
	return treesync.Unpack(root, treesync.Bounds{Only: only, Options: p.Options, Size: st.Size()}, tmp)
}
