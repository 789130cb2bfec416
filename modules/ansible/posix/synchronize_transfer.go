package posix

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
	"hark/modules/treesync"
)

// transfer is a call between the controller and this host.
type transfer struct {
	ctx     context.Context
	env     *modules.Env
	args    synchronizeArgs
	options treesync.Options
	far     *treesync.Tree // the controller's side
	source  *treesync.Tree // what is copied
	renamed bool           // its only file gets another name
	place   place
	out     strings.Builder
	dirty   bool // something changes
}

// place is where entries are put: a directory, and whether it has to be made.
type place struct {
	root string
	made bool
}

// missingSource and the code of the failure are rsync's.
func missingSource(path string) error {
	return tool.Fail(value.DictOf("rc", int64(23)), "link_stat %q failed: No such file or directory (2)", path)
}

// push makes of dest on this host what src on the controller is.
func (t *transfer) push() (modules.Result, error) {
	t.source = t.far
	dest := expandHome(t.args.Dest, t.env)
	if t.source.Kind == "" && len(t.source.Entries) == 0 {
		return modules.Result{}, missingSource(t.far.Path)
	}
	kind, err := kindAt(dest)
	if err == nil {
		err = t.resolveDest(dest, kind)
	}
	if err != nil {
		return modules.Result{}, err
	}
	if t.place.made && !t.env.Check {
		if err := os.Mkdir(t.place.root, 0o777); err != nil {
			return modules.Result{}, writeError(err, t.place.root)
		}
	}
	have := treesync.Lookup{}
	var root *os.Root
	if !t.place.made || !t.env.Check {
		if root, err = os.OpenRoot(t.place.root); err != nil {
			return modules.Result{}, writeError(err, t.place.root)
		}
		defer root.Close()
		if have, err = t.look(root); err != nil {
			return modules.Result{}, writeError(err, t.place.root)
		}
	}
	changes, err := t.compare(have, treesync.OwnRights())
	if err == nil && !t.env.Check {
		err = t.write(root, changes)
	}
	if err != nil {
		return modules.Result{}, err
	}
	return t.result()
}

func (t *transfer) look(root *os.Root) (treesync.Lookup, error) {
	have, err := treesync.Look(root, t.source, t.options)
	if t.place.made {
		delete(have, ".") // it was not there
	}
	return have, err
}

// kindAt returns what is at a path, links followed; "" if nothing is.
func kindAt(path string) (treesync.Kind, error) {
	tree, err := treesync.Scan(path, treesync.Query{Place: true}, nil)
	if err != nil {
		return "", err
	}
	return tree.Kind, nil
}

// resolveDest finds where entries are put: in dest if it is a directory or becomes one, beside it if it is a file or
// becomes one.
func (t *transfer) resolveDest(dest string, kind treesync.Kind) error {
	entries := t.source.Entries
	single := len(entries) == 1 && entries[0].Kind != treesync.Dir
	slash := strings.HasSuffix(dest, "/")
	clean := filepath.Clean(dest)
	switch {
	case kind == treesync.Dir:
		t.place = place{root: clean}
	case kind != "" && !single:
		return tool.Fail(value.DictOf("rc", int64(3)), "destination must be a directory when copying more than 1 file")
	case single && !slash:
		t.renamed, entries[0].Shown, entries[0].Rel = true, entries[0].Rel, filepath.Base(clean)
		t.place = place{root: filepath.Dir(clean)}
	default:
		t.place = place{root: clean, made: true}
		if entries != nil {
			t.out.WriteString("created directory " + clean + "\n")
		}
	}
	return nil
}

// compare finds the changes and reports them.
func (t *transfer) compare(have treesync.Lookup, rights treesync.Rights) ([]treesync.Change, error) {
	changes, lines, err := treesync.Compare(t.source, have, rights, t.options)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		t.out.WriteString(line + "\n")
	}
	t.dirty = len(changes) > 0
	return treesync.Settle(changes, t.source, t.options), nil
}

func (t *transfer) write(root *os.Root, changes []treesync.Change) error {
	w := treesync.NewWriter(root)
	for i := range changes {
		if err := t.writeOne(w, &changes[i]); err != nil {
			return writeError(err, filepath.Join(t.place.root, changes[i].Entry.Rel))
		}
	}
	if err := w.Close(); err != nil {
		return writeError(err, t.place.root)
	}
	return nil
}

func (t *transfer) writeOne(w *treesync.Writer, c *treesync.Change) error {
	if !c.HasContent() {
		return w.Do(c, nil)
	}
	content, err := t.env.Open(t.ctx, c.Entry.Digest)
	if err != nil {
		return err
	}
	defer content.Close()
	return w.Do(c, content)
}

// writeError is the failure to write, with rsync's code for it.
func writeError(err error, path string) error {
	text := err.Error()
	if errors.As(err, new(*os.PathError)) || errors.As(err, new(*os.LinkError)) {
		text = oserr.Path(err, path)
	}
	return tool.Fail(value.DictOf("rc", int64(11)), "cannot write %s: %s", path, text)
}

// pull makes of dest on the controller what src on this host is.
func (t *transfer) pull() (modules.Result, error) {
	src := expandHome(t.args.Src, t.env)
	var err error
	t.source, err = treesync.Scan(src, treesync.Query{Options: t.options}, nil)
	if err != nil {
		return modules.Result{}, tool.Fail(value.DictOf("rc", int64(23)), "cannot read %s: %s", src, oserr.Path(err, src))
	}
	if t.source.Kind == "" && len(t.source.Entries) == 0 {
		return modules.Result{}, missingSource(src)
	}
	dest := t.far.Path
	if !strings.HasSuffix(t.args.Dest, "/") {
		dest = strings.TrimRight(dest, "/")
	}
	if err := t.resolveDest(dest, t.far.Kind); err != nil {
		return modules.Result{}, err
	}
	have := treesync.LookupOf(t.far.Entries)
	if t.options.Checksum {
		if err := t.sum(have, src); err != nil {
			return modules.Result{}, err
		}
	}
	changes, err := t.compare(have, t.far.Rights)
	if err == nil && !t.env.Check && (len(changes) > 0 || t.place.made) {
		err = t.send(changes, src)
	}
	if err != nil {
		return modules.Result{}, err
	}
	return t.result()
}

// sum sums the files that the controller may have already.
func (t *transfer) sum(have treesync.Lookup, src string) error {
	for i := range t.source.Entries {
		e := &t.source.Entries[i]
		there := have[e.Rel]
		if e.Kind != treesync.File || there == nil || there.Size != e.Size {
			continue
		}
		var err error
		if e.Digest, err = treesync.Sum(t.at(src, e)); err != nil {
			return tool.Fail(value.DictOf("rc", int64(23)), "cannot read %s: %s", e.Rel, oserr.Path(err, e.Rel))
		}
	}
	return nil
}

// at returns where an entry of the source is on this host.
func (t *transfer) at(src string, e *treesync.Entry) string {
	rel := e.Rel
	if e.Shown != "" {
		rel = e.Shown
	}
	if strings.HasSuffix(src, "/") || strings.HasSuffix(src, "/.") {
		return filepath.Join(src, rel)
	}
	return filepath.Join(filepath.Dir(filepath.Clean(src)), rel)
}

// send has the controller make the changes.
func (t *transfer) send(changes []treesync.Change, src string) error {
	mode := uint32(unix.S_IFDIR)
	if t.renamed {
		mode = unix.S_IFREG
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := t.env.Upload(t.ctx, t.args.Place, mode, r)
		r.CloseWithError(err)
		done <- err
	}()
	err := treesync.Pack(w, changes, func(e *treesync.Entry) (io.ReadCloser, error) { return os.Open(t.at(src, e)) })
	w.CloseWithError(err)
	if sent := <-done; sent != nil {
		err = sent
	}
	if err != nil {
		return tool.Fail(value.DictOf("rc", int64(11)), "%s", err)
	}
	return nil
}

func (t *transfer) result() (modules.Result, error) {
	return synchronized(t.env, t.out.String(), t.dirty, nil), nil
}
