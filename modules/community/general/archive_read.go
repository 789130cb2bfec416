package general

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"strings"

	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
)

// contents is what an archive holds: for each member a text that is another when it is. A nil map is no archive at
// all, or one that cannot be read; size counts then.
type contents struct {
	members map[string]bool
	size    int64
}

func sameContents(a, b contents) bool {
	if a.members == nil {
		return a.size == b.size
	}
	return b.members != nil && maps.Equal(a.members, b.members)
}

// contents looks at the archive that is there.
func (p *packing) contents() (contents, error) {
	var c contents
	info, err := os.Stat(p.dest)
	if err != nil {
		return c, nil
	}
	c.size = info.Size()
	f, err := os.Open(p.dest)
	if err != nil {
		return c, nil
	}
	defer f.Close()
	if p.args.Format == "zip" {
		c.members = zipMembers(f, c.size)
		return c, nil
	}
	c.members, err = p.tarMembers(f)
	return c, err
}

func zipMembers(f *os.File, size int64) map[string]bool {
	members := map[string]bool{}
	r, err := zip.NewReader(f, size)
	if err != nil {
		return members
	}
	for _, m := range r.File {
		members[fmt.Sprintf("%08x %s", m.CRC32, m.Name)] = true
	}
	return members
}

// tarMembers reads a tar; of a compressed file that is none, there is only a checksum.
func (p *packing) tarMembers(f *os.File) (map[string]bool, error) {
	plain, done, err := p.plain(f)
	if err != nil {
		return nil, err
	}
	defer done()
	if plain == nil {
		return map[string]bool{}, nil
	}
	if members, err := headers(plain); err == nil {
		return members, nil
	}
	if p.args.Format == "tar" {
		return nil, tool.Fail(nil, "tar is not a valid format")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	again, doneAgain, err := p.plain(f)
	if err != nil {
		return nil, err
	}
	defer doneAgain()
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, again); err != nil {
		return map[string]bool{}, nil
	}
	return map[string]bool{fmt.Sprintf("%08x", sum.Sum32()): true}, nil
}

// plain returns the file without compression, nil if it cannot be undone. done must be called in the end.
func (p *packing) plain(f *os.File) (r io.Reader, done func(), err error) {
	done = func() {}
	switch p.args.Format {
	case "gz":
		if zipped, err := gzip.NewReader(f); err == nil {
			r = zipped
		}
	case "bz2":
		r = bzip2.NewReader(f)
	case "xz":
		return p.unxz()
	default:
		r = f
	}
	return r, done, nil
}

func (p *packing) unxz() (io.Reader, func(), error) {
	temp, err := os.CreateTemp("", "hark-*")
	if err != nil {
		return nil, nil, err
	}
	done := func() {
		temp.Close()
		_ = os.Remove(temp.Name())
	}
	if _, err := tool.Find(p.Env, "xz"); err != nil {
		done()
		return nil, nil, err
	}
	if err := p.squeeze(fsx.RealPath(p.dest), temp.Name(), "-dc"); err != nil {
		done()
		return nil, func() {}, nil
	}
	return temp, done, nil
}

// headers returns the members of a tar by all that is in a header, as in the checksum that Ansible compares.
func headers(r io.Reader) (map[string]bool, error) {
	counted := &counter{r: r}
	t := tar.NewReader(counted)
	members := map[string]bool{}
	for {
		h, err := t.Next()
		if err == io.EOF && counted.n > 0 {
			return members, nil
		}
		if err == io.EOF {
			return nil, errors.New("empty file")
		}
		if err != nil {
			return nil, err
		}
		members[strings.Join([]string{h.Name, h.Linkname, h.Uname, h.Gname, fmt.Sprint(
			h.Typeflag, h.Mode, h.Uid, h.Gid, h.Size, h.ModTime.Unix(), h.Devmajor, h.Devminor)}, "\x00")] = true
	}
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
