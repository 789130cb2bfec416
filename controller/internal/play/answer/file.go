package answer

import (
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
	f, in, err := a.files.digest(ask.Host, path, st, ask.Decrypt)
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
	w := &manifest{files: a.files, host: ask.Host, decrypt: ask.Decrypt}
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
	files   *sharedFiles
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
		f, _, err := m.files.digest(m.host, path, st, m.decrypt)
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
