package builtin

import (
	"context"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/py/value"
)

// copyTree copies a directory: files first, then directories and links, as Ansible does.
func (c *copyWork) copyTree(ctx context.Context) (modules.Result, error) {
	c.tree = true
	dest := c.Dest
	if !strings.HasSuffix(dest, "/") {
		dest += "/"
	}
	prefix := ""
	if !strings.HasSuffix(c.Source.Path, "/") {
		prefix = filepath.Base(c.Source.Path)
	}
	t := c.sortEntries()
	follow := c.Follow && len(t.dirs) == 0
	changed := false
	var last *modules.Result
	note := func(res *modules.Result, err error) error {
		if err == nil && res != nil {
			last, changed = res, changed || res.Changed
		}
		return err
	}
	c.expect(ctx, t.files, dest, prefix)
	for _, e := range t.files {
		it := &copyItem{path: filepath.Join(c.Source.Path, e.Rel), rel: filepath.Join(prefix, e.Rel), mode: uint32(e.Mode),
			size: e.Size, digest: modules.Text(e.Digest), open: c.opener(modules.Text(e.Digest))}
		it.label = it.path
		if err := note(c.copyFile(ctx, it, dest, follow)); err != nil {
			return modules.Result{}, err
		}
	}
	for _, e := range t.dirs {
		if err := note(c.treeDir(dest + filepath.Join(prefix, e.Rel))); err != nil {
			return modules.Result{}, err
		}
	}
	for _, e := range t.links {
		if err := note(c.treeLink(dest+filepath.Join(prefix, e.Rel), e.Link, len(t.dirs) == 0)); err != nil {
			return modules.Result{}, err
		}
	}
	if changed && !c.env.Check {
		fsx.SyncTree(dest)
	}
	if last != nil && len(t.files) == 1 {
		res := *last
		res.Changed = changed
		if path, ok := res.Data.Get("path"); ok && !res.Data.Has("dest") {
			res.Set("dest", path)
		}
		return res, nil
	}
	return modules.Result{Changed: changed, Plain: true,
		Data: value.DictOf("dest", dest, "src", c.Source.Path, "changed", modules.Here)}, nil
}

// smallFile is up to how many bytes a file comes together with others.
const smallFile = 64 << 10

// expect says which small files will be opened, as far as that is to be seen without reading anything.
func (c *copyWork) expect(ctx context.Context, files []entryArgs, dest, prefix string) {
	if c.env.Expect == nil || c.env.Check && !c.env.Diff {
		return
	}
	var digests []string
	for _, e := range files {
		if e.Size > smallFile || e.Digest == nil {
			continue
		}
		there, err := hostfs.Stat(dest + filepath.Join(prefix, e.Rel))
		if err == nil && (!c.Force || there.Size() == e.Size) {
			continue
		}
		digests = append(digests, *e.Digest)
	}
	c.env.Expect(ctx, digests)
}

// sourceTree is the content of a source directory.
type sourceTree struct{ files, dirs, links []entryArgs }

// sortEntries parts the source's entries. Without local_follow a link is a link and what it leads to is left out;
// with it only links that lead nowhere or in a circle are.
func (c *copyWork) sortEntries() sourceTree {
	follow := c.LocalFollow == nil || *c.LocalFollow
	var t sourceTree
	linked := map[string]bool{} // links to directories that stay links
	for _, e := range c.Source.Entries {
		if !follow && underAny(linked, e.Rel) {
			continue
		}
		switch {
		case e.Link != "" && (!follow || !e.Dir && e.Digest == nil || e.Circle):
			t.links = append(t.links, e)
			linked[e.Rel] = e.Dir
		case e.Dir:
			t.dirs = append(t.dirs, e)
		default:
			t.files = append(t.files, e)
		}
	}
	return t
}

// underAny reports whether a path lies under one of the marked directories.
func underAny(marked map[string]bool, rel string) bool {
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		if marked[dir] {
			return true
		}
	}
	return false
}

func (c *copyWork) treeDir(path string) (*modules.Result, error) {
	state := "directory"
	w := &fileWork{fileArgs: fileArgs{Path: path, State: &state, Follow: true, Force: c.Force, FileArgs: c.FileArgs},
		check: c.env.Check}
	w.Mode = c.DirectoryMode
	if err := w.resolvePath(); err != nil {
		return nil, err
	}
	res, err := w.ensureDirectory()
	return &res, err
}

func (c *copyWork) treeLink(path, target string, follow bool) (*modules.Result, error) {
	state := "link"
	w := &fileWork{fileArgs: fileArgs{Path: path, State: &state, Src: &target, Follow: follow, Force: true,
		FileArgs: c.FileArgs}, check: c.env.Check}
	if preserves(w.Mode) {
		w.Mode = nil
	}
	if err := w.resolvePath(); err != nil {
		return nil, err
	}
	res, err := w.ensureLink(c.env)
	return &res, err
}
