package answer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/playbook/plan"
)

// missingError is a file that is not where Ansible looks.
type missingError struct {
	name     string
	searched []string
}

func (e *missingError) Error() string {
	text := dialect.FileNotFound.Text(e.name)
	if len(e.searched) > 0 {
		text += "\n" + dialect.FileSearched.Text("\n\t"+strings.Join(e.searched, "\n\t"))
	} else {
		text += " on the Ansible Controller"
	}
	return text + ".\nIf you are using a module and expect the file to exist on the remote, see the remote_src option"
}

// blob is content that was named to hosts.
type blob struct {
	path  string
	data  []byte // of a vault, opened, or of a module's pack
	vault bool   // data was in a vault: hosts do not keep it
	hosts map[string]bool
}

const (
	// ChunkSize is how much of a blob one answer carries.
	ChunkSize = wire.PieceSize
	// inlineSize is up to where a file travels in the answer that names it.
	inlineSize = 16 << 10
	// maxVault is the largest vault that is opened, in bytes: it is held in memory.
	maxVault = 512 << 20
)

// file finds a controller-side file or directory for a step and returns what it holds.
func (a *Answerer) file(b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if ask.Dir == moduleDir {
		return a.module(step, ask)
	}
	ask.Name = wire.Unescaped(ask.Name)
	path, searched, ok := b.Dir.Stack(step.Search, ask.Dir, ask.Name)
	if !ok {
		if strings.HasPrefix(ask.Name, "/") || strings.HasPrefix(ask.Name, "~") {
			searched = nil
		}
		return wire.Answer{}, &missingError{ask.Name, searched}
	}
	st, err := os.Stat(path)
	if err != nil {
		return wire.Answer{}, &missingError{ask.Name, nil}
	}
	if st.IsDir() {
		return a.directory(ask, path, st)
	}
	f, in, err := a.digest(ask.Host, path, st, ask.Decrypt)
	if err == nil && f.Size <= inlineSize {
		f.Inline, err = in.all()
	}
	f.Path = wire.Escaped(f.Path)
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Answer{File: &wire.Source{File: f}}, nil
}

// directory lists all that lies under a directory, links followed unless they lead back up.
func (a *Answerer) directory(ask wire.Ask, root string, st fs.FileInfo) (wire.Answer, error) {
	src := &wire.Source{Dir: true}
	src.Path, src.Mode = root, uint32(st.Mode().Perm())
	w := &manifest{a: a, host: ask.Host, decrypt: ask.Decrypt}
	if _, err := w.list(root, "", nil); err != nil {
		return wire.Answer{}, err // it names the file
	}
	src.Entries = w.entries
	sort.Slice(src.Entries, func(i, j int) bool { return src.Entries[i].Rel < src.Entries[j].Rel })
	src.Path = wire.Escaped(src.Path)
	for i := range src.Entries {
		src.Entries[i].Rel, src.Entries[i].Link = wire.Escaped(src.Entries[i].Rel), wire.Escaped(src.Entries[i].Link)
	}
	return wire.Answer{File: src}, nil
}

type manifest struct {
	a       *Answerer
	host    string
	decrypt bool
	entries []wire.SourceEntry
}

// list adds what is in a directory; circle says that it is one of those above, and was not entered.
func (m *manifest) list(dir, rel string, above []string) (circle bool, err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, err
	}
	for _, d := range above {
		if d == real {
			return true, nil
		}
	}
	above = append(above[:len(above):len(above)], real)
	list, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	// Files come before directories: of several that cannot be read Ansible names the first in this order.
	sort.SliceStable(list, func(i, j int) bool { return !list[i].IsDir() && list[j].IsDir() })
	for _, entry := range list {
		if err := m.entry(filepath.Join(dir, entry.Name()), filepath.Join(rel, entry.Name()), above); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (m *manifest) entry(path, rel string, above []string) error {
	e := wire.SourceEntry{Rel: rel}
	if link, err := os.Readlink(path); err == nil {
		e.Link = link
	}
	st, err := os.Stat(path)
	switch {
	case err != nil && e.Link != "": // leads nowhere
	case err != nil:
		return err
	case st.IsDir():
		e.Dir, e.Mode = true, uint32(st.Mode().Perm())
		m.entries = append(m.entries, e)
		at := len(m.entries) - 1
		m.entries[at].Circle, err = m.list(path, rel, above)
		return err
	case st.Mode().IsRegular():
		f, _, err := m.a.digest(m.host, path, st, m.decrypt)
		if err != nil {
			return err
		}
		e.Mode, e.Size, e.Digest, e.Sha1 = f.Mode, f.Size, f.Digest, f.Sha1
	default:
		return nil // sockets and devices are not copied
	}
	m.entries = append(m.entries, e)
	return nil
}

// digest names a file's content to a host, which may then pull it. A vault is opened if decrypt is set.
func (a *Answerer) digest(host, path string, st fs.FileInfo, decrypt bool) (plan.File, *blob, error) {
	f := plan.File{Path: path, Size: st.Size(), Mode: uint32(st.Mode().Perm())}
	if a.Private.holds(path) {
		return f, nil, refusePrivate(path)
	}
	held, err := a.sums.of(path, st)
	if err != nil {
		return f, nil, err
	}
	in := &blob{path: path, hosts: map[string]bool{host: true}}
	f.Digest, f.Sha1 = held.sha256, held.sha1
	if decrypt && held.vault {
		if in.data, err = a.open(path, st.Size()); err != nil {
			return f, nil, err
		}
		in.vault, f.Size = true, int64(len(in.data))
		opened := fileOf(in.data)
		f.Digest, f.Sha1 = opened.Digest, opened.Sha1
	}
	a.hand(f.Digest, in)
	return f, in, nil
}

func (a *Answerer) open(path string, size int64) ([]byte, error) {
	if size > maxVault {
		return nil, fmt.Errorf("cannot open the vault %s: it is larger than %d bytes", path, maxVault)
	}
	if a.Secrets == nil || len(a.Secrets.List) == 0 {
		return nil, errNoPassword(path)
	}
	return a.read(path)
}

// errNoPassword says that there is no secret at all for a vault that is a file to copy, or to look into.
func errNoPassword(path string) error {
	//lint:ignore ST1005 the words that users see
	return errors.New(dialect.VaultNoneGiven.Text(path))
}

func (b *blob) all() ([]byte, error) {
	if b.data != nil {
		return b.data, nil
	}
	return os.ReadFile(b.path)
}

// hand makes a blob available to the hosts that it names.
func (a *Answerer) hand(digest string, in *blob) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := a.blobs[digest]
	if old == nil {
		a.blobs[digest] = in
		return
	}
	for h := range in.hosts {
		old.hosts[h] = true
	}
}

// share lets the host of a call pull the files that the call reads.
func (a *Answerer) share(host string, digests []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range digests {
		if b := a.blobs[d]; b != nil {
			b.hosts[host] = true
		}
	}
}

// Hand makes a file that was sent ahead in a plan available to the hosts of the batch.
func (a *Answerer) Hand(f plan.File, hosts []string) {
	in := &blob{path: f.Path, hosts: map[string]bool{}}
	for _, h := range hosts {
		in.hosts[h] = true
	}
	a.hand(f.Digest, in)
}

// maxContents is how many bytes of small files one answer carries.
const maxContents = 1 << 20

// contents are whole blobs that were named to the host before, as many of the first as one answer holds.
func contents(a *Answerer, ask wire.Ask) (wire.Answer, error) {
	var out wire.Answer
	total := 0
	for _, digest := range ask.Digests {
		one := ask
		one.Digest, one.Offset = digest, 0
		piece, err := a.chunk(one)
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

// chunk returns a piece of a blob that was named to the host before.
func (a *Answerer) chunk(ask wire.Ask) (wire.Answer, error) {
	a.mu.Lock()
	b := a.blobs[ask.Digest]
	allowed := b != nil && b.hosts[ask.Host]
	a.mu.Unlock()
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
