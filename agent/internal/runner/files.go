package runner

import (
	"context"
	"path/filepath"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/foreign"
	"hark/modules/py/value"
	"hark/modules/treesync"
	"hark/playbook/plan"
)

// files are the controller's files as a step finds them.
type files struct {
	g  *playState
	s  *plan.Step
	id plan.ID
}

func (e *eval) files() files { return files{e.g, e.s, e.id} }

// source finds a file: among those that came with the plan, or by asking.
func (f files) source(ctx context.Context, dir, name string, decrypt bool) (*modules.Source, error) {
	if came, ok := f.s.Files[name]; ok {
		f.g.blobs.keep(came)
		return sourceOf(wire.Source{File: came}), nil
	}
	if pack, ok := f.g.blobs.pack(f.id); ok && dir == foreign.SourceDir {
		return sourceOf(wire.Source{File: pack}), nil
	}
	a, err := f.g.line.ask(ctx, wire.Ask{Kind: wire.AskFile, Step: f.id, Dir: dir, Name: wire.Escaped(name),
		Decrypt: decrypt})
	if err != nil {
		return nil, err
	}
	if a.Err != "" || a.File == nil {
		return nil, &fault{text: a.Err}
	}
	f.g.blobs.keep(a.File.File)
	if dir == foreign.SourceDir {
		f.g.blobs.keepPack(f.id, a.File.File)
	}
	return sourceOf(*a.File), nil
}

// tree lists a path of the controller.
func (f files) tree(ctx context.Context, name string, q treesync.Query) (*treesync.Tree, error) {
	a, err := f.g.line.ask(ctx, wire.Ask{Kind: wire.AskTree, Step: f.id, Name: name, Tree: &q})
	if err != nil {
		return nil, err
	}
	if a.Err != "" || a.Tree == nil {
		return nil, &fault{text: a.Err}
	}
	return a.Tree, nil
}

// place names a place on the controller to which the step may upload.
func (f files) place(ctx context.Context, p modules.Place) (string, error) {
	a, err := f.g.line.ask(ctx, wire.Ask{Kind: wire.AskPlace, Step: f.id, Place: &wire.Place{
		Root: wire.Escaped(p.Root), File: p.File, Archive: p.Archive, Only: wire.Escaped(p.Only),
		Tail: wire.Escaped(p.Tail), Options: p.Options,
	}})
	if err != nil {
		return "", err
	}
	if a.Err != "" || len(a.Paths) == 0 {
		return "", &fault{text: a.Err}
	}
	return a.Paths[0], nil
}

func sourceOf(s wire.Source) *modules.Source {
	out := &modules.Source{Path: wire.Unescaped(s.Path), Digest: s.Digest, Sha1: s.Sha1, Size: s.Size, Mode: s.Mode,
		Dir: s.Dir}
	for _, en := range s.Entries {
		out.Entries = append(out.Entries, modules.SourceEntry{
			Rel: wire.Unescaped(en.Rel), Mode: en.Mode, Size: en.Size, Digest: en.Digest, Sha1: en.Sha1, Dir: en.Dir,
			Link: wire.Unescaped(en.Link), Circle: en.Circle,
		})
	}
	return out
}

// load reads a template that another one includes: by the search path, then beside the including file.
func (e *eval) load(ctx context.Context, name string) (value.Source, bool, error) {
	src, err := e.files().source(ctx, "templates", name, true)
	if err != nil && e.g.line.broken() == nil && e.base != "" && !filepath.IsAbs(name) {
		src, err = e.files().source(ctx, "templates", filepath.Join(filepath.Dir(e.base), name), true)
	}
	if e.g.line.broken() != nil {
		return value.Source{}, false, e.g.line.broken()
	}
	if err != nil {
		return value.Source{}, false, nil
	}
	text, err := e.g.blobs.template(ctx, src)
	return text, err == nil, err
}
