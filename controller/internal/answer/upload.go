package answer

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"hark/agent/wire"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// upload is a file on its way from a host to the controller.
type upload struct {
	tmp  *os.File
	size int64
	sum  hash.Hash
}

// upload takes a piece of a file that a step fetches. Pieces come in order; the last one carries the digest of
// the whole, and only then does the file appear.
func (a *Answerer) upload(b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	u := ask.Upload
	if u == nil || !acts(step, "fetch", "synchronize") {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s uploads no file", step.ID)}
	}
	dest, under := b.Dir.Path(u.Dest), b.Dir.Path
	if acts(step, "synchronize") {
		under = func(p string) string { return strings.TrimSuffix(synchronized(b, step, p), "/") }
	}
	if !mayWrite(step, under, ask.Host, dest) {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s does not fetch to %s", step.ID, dest)}
	}
	if a.private(dest) {
		return wire.Answer{}, refusePrivate(dest)
	}
	if u.Stat {
		return statSum(dest)
	}
	key := ask.Host + "\x00" + dest
	a.mu.Lock()
	in := a.uploads[key]
	delete(a.uploads, key)
	a.mu.Unlock()
	if u.Offset == 0 {
		in.discard()
		var err error
		if in, err = newUpload(dest, u.Mode); err != nil {
			return wire.Answer{}, err
		}
	}
	if in == nil || in.size != u.Offset {
		in.discard()
		return wire.Answer{}, fmt.Errorf("cannot fetch to %s: a piece is missing", dest)
	}
	if _, err := io.MultiWriter(in.tmp, in.sum).Write(u.Data); err != nil {
		in.discard()
		return wire.Answer{}, fmt.Errorf("cannot write %s: %w", dest, err)
	}
	in.size += int64(len(u.Data))
	if u.Last {
		return wire.Answer{EOF: true, Paths: []string{dest}}, in.finish(dest, u)
	}
	a.mu.Lock()
	a.uploads[key] = in
	a.mu.Unlock()
	return wire.Answer{}, nil
}

func newUpload(dest string, mode uint32) (*upload, error) {
	if mode&unix.S_IFMT != 0 {
		// Not beside dest, whose directory would be found changed the next time.
		tmp, err := os.CreateTemp("", "hark-changes-")
		return &upload{tmp: tmp, sum: sha256.New()}, err
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
		return nil, fmt.Errorf("cannot make the directory of %s: %w", dest, err)
	}
	// Made as a plain new file is, so that the user's umask decides who may read it.
	name := filepath.Join(filepath.Dir(dest), fmt.Sprintf(".fetch-%016x", rand.Uint64()))
	tmp, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", dest, err)
	}
	return &upload{tmp: tmp, sum: sha256.New()}, nil
}

// finish checks the whole and puts it in place.
func (u *upload) finish(dest string, last *wire.Upload) error {
	defer u.discard()
	if got := hex.EncodeToString(u.sum.Sum(nil)); last.Digest != "" && got != last.Digest {
		return fmt.Errorf("cannot fetch to %s: the content arrived damaged", dest)
	}
	if last.Mode&unix.S_IFMT != 0 {
		return u.unpack(dest, last.Mode)
	}
	if err := u.tmp.Sync(); err != nil {
		return fmt.Errorf("cannot write %s: %w", dest, err)
	}
	return os.Rename(u.tmp.Name(), dest)
}

func (u *upload) discard() {
	if u != nil {
		u.tmp.Close()
		os.Remove(u.tmp.Name())
	}
}

// statSum is the sha1 of a file on the controller, "" if there is none.
func statSum(path string) (wire.Answer, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return wire.Answer{Value: plan.Lit(value.Str(""))}, nil
	}
	if err != nil {
		return wire.Answer{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return wire.Answer{Value: plan.Lit(value.Str("dir")), Paths: []string{path}}, nil
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, f); err != nil {
		return wire.Answer{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return wire.Answer{Value: plan.Lit(value.Str(hex.EncodeToString(sum.Sum(nil)))), Paths: []string{path}}, nil
}
