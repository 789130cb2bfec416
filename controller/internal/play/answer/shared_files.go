package answer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/playbook/plan"
)

// blob is content that was named to hosts.
type blob struct {
	path  string
	data  []byte // of a vault, opened, or of a module's pack
	vault bool   // data was in a vault: hosts do not keep it
	hosts map[string]bool
}

func (b *blob) all() ([]byte, error) {
	if b.data != nil {
		return b.data, nil
	}
	return os.ReadFile(b.path)
}

// sharedFiles are the controller's files that hosts may pull: a host pulls what was named to it.
type sharedFiles struct {
	cfg  *Config
	sums sums

	mu    sync.Mutex
	blobs map[string]*blob // by digest; guarded by mu
}

// digest names a file's content to a host, which may then pull it. A vault is opened if decrypt is set.
func (s *sharedFiles) digest(host, path string, st fs.FileInfo, decrypt bool) (plan.File, *blob, error) {
	f := plan.File{Path: path, Size: st.Size(), Mode: uint32(st.Mode().Perm())}
	if s.cfg.Private.holds(path) {
		return f, nil, refusePrivate(path)
	}
	held, err := s.sums.of(path, st)
	if err != nil {
		return f, nil, err
	}
	in := &blob{path: path, hosts: map[string]bool{host: true}}
	f.Digest, f.Sha1 = held.sha256, held.sha1
	if decrypt && held.vault {
		if in.data, err = s.openVault(path, st.Size()); err != nil {
			return f, nil, err
		}
		in.vault, f.Size = true, int64(len(in.data))
		opened := fileOf(in.data)
		f.Digest, f.Sha1 = opened.Digest, opened.Sha1
	}
	s.share(f.Digest, in)
	return f, in, nil
}

func (s *sharedFiles) openVault(path string, size int64) ([]byte, error) {
	if size > maxVault {
		return nil, fmt.Errorf("cannot open the vault %s: it is larger than %d bytes", path, maxVault)
	}
	if s.cfg.Secrets == nil || len(s.cfg.Secrets.List) == 0 {
		return nil, errNoPassword(path)
	}
	return s.cfg.read(path)
}

// errNoPassword says that there is no secret at all for a vault that is a file to copy, or to look into.
func errNoPassword(path string) error {
	//lint:ignore ST1005 the words that users see
	return errors.New(dialect.VaultNoneGiven.Text(path))
}

// share makes a blob available to the hosts that it names.
func (s *sharedFiles) share(digest string, in *blob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.blobs[digest]
	if old == nil {
		s.blobs[digest] = in
		return
	}
	for h := range in.hosts {
		old.hosts[h] = true
	}
}

// shareWith lets the host of a call pull the files that the call reads.
func (s *sharedFiles) shareWith(host string, digests []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range digests {
		if b := s.blobs[d]; b != nil {
			b.hosts[host] = true
		}
	}
}

// shareAhead makes a file that was sent ahead in a plan available to the hosts of the batch.
func (s *sharedFiles) shareAhead(f plan.File, hosts []string) {
	in := &blob{path: f.Path, hosts: map[string]bool{}}
	for _, h := range hosts {
		in.hosts[h] = true
	}
	s.share(f.Digest, in)
}

// chunk returns a piece of a blob that was named to the host before.
func (s *sharedFiles) chunk(ask wire.Ask) (wire.Answer, error) {
	s.mu.Lock()
	b := s.blobs[ask.Digest]
	allowed := b != nil && b.hosts[ask.Host]
	s.mu.Unlock()
	if !allowed || ask.Offset < 0 {
		return wire.Answer{}, &refusal{fmt.Sprintf("the file %.12s was not named to %s", ask.Digest, ask.Host)}
	}
	if b.data != nil {
		from := min(ask.Offset, int64(len(b.data)))
		to := min(from+ChunkSize, int64(len(b.data)))
		return wire.Answer{Data: b.data[from:to], EOF: to == int64(len(b.data)), Secret: b.vault}, nil
	}
	f, err := os.Open(b.path)
	if err != nil {
		return wire.Answer{}, fmt.Errorf("cannot read %s: %w", b.path, err)
	}
	defer f.Close()
	size := int64(ChunkSize)
	if st, err := f.Stat(); err == nil { // one byte more shows the end
		size = min(size, max(st.Size()-ask.Offset, 0)+1)
	}
	buf := make([]byte, size)
	n, err := f.ReadAt(buf, ask.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return wire.Answer{}, fmt.Errorf("cannot read %s: %w", b.path, err)
	}
	return wire.Answer{Data: buf[:n], EOF: err != nil}, nil
}

// maxContents is how many bytes of small files one answer carries.
const maxContents = 1 << 20

// contents are whole blobs that were named to the host before, as many of the first as one answer holds.
func (s *sharedFiles) contents(ask wire.Ask) (wire.Answer, error) {
	var out wire.Answer
	total := 0
	for _, digest := range ask.Digests {
		one := ask
		one.Digest, one.Offset = digest, 0
		piece, err := s.chunk(one)
		if err == nil && !piece.EOF {
			err = &refusal{fmt.Sprintf("the file %.12s is too large to come with others", digest)}
		}
		if err != nil {
			return wire.Answer{}, err
		}
		total += len(piece.Data)
		if len(out.Contents) > 0 && total > maxContents {
			break
		}
		out.Contents = append(out.Contents, piece.Data)
	}
	return out, nil
}
