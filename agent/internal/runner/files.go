package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/mirror"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// source finds a controller-side file: among those that came with the plan, else by asking.
func (e *eval) source(ctx context.Context, dir, name string, decrypt bool) (*modules.Source, error) {
	if f, ok := e.s.Files[name]; ok {
		e.r.blobs.keep(f)
		return sourceOf(wire.Source{File: f}), nil
	}
	a, err := e.r.line.ask(ctx, wire.Ask{Kind: wire.AskFile, Step: e.id, Dir: dir, Name: name, Decrypt: decrypt})
	if err != nil {
		return nil, err
	}
	if a.Err != "" || a.File == nil {
		return nil, &fault{text: a.Err}
	}
	e.r.blobs.keep(a.File.File)
	return sourceOf(*a.File), nil
}

// tree lists a controller-side path.
func (e *eval) tree(ctx context.Context, name string, q mirror.Query) (*mirror.Tree, error) {
	a, err := e.r.line.ask(ctx, wire.Ask{Kind: wire.AskTree, Step: e.id, Name: name, Tree: &q})
	if err != nil {
		return nil, err
	}
	if a.Err != "" || a.Tree == nil {
		return nil, &fault{text: a.Err}
	}
	return a.Tree, nil
}

// place names a place on the controller to which the step's uploads may go.
func (e *eval) place(ctx context.Context, p modules.Place) (string, error) {
	a, err := e.r.line.ask(ctx, wire.Ask{Kind: wire.AskPlace, Step: e.id, Place: &wire.Place{Root: p.Root, File: p.File, Archive: p.Archive, Options: p.Options}})
	if err != nil {
		return "", err
	}
	if a.Err != "" || len(a.Paths) == 0 {
		return "", &fault{text: a.Err}
	}
	return a.Paths[0], nil
}

func sourceOf(s wire.Source) *modules.Source {
	out := &modules.Source{Path: s.Path, Digest: s.Digest, Sha1: s.Sha1, Size: s.Size, Mode: s.Mode, Dir: s.Dir}
	for _, en := range s.Entries {
		out.Entries = append(out.Entries, modules.SourceEntry{
			Rel: en.Rel, Mode: en.Mode, Size: en.Size, Digest: en.Digest, Sha1: en.Sha1, Dir: en.Dir, Link: en.Link, Circle: en.Circle,
		})
	}
	return out
}

// load reads a template that another one includes: by the search path, then beside the including file.
func (e *eval) load(ctx context.Context, name string) (string, bool, error) {
	src, err := e.source(ctx, "templates", name, true)
	if err != nil && e.r.line.broken() == nil && e.base != "" && !filepath.IsAbs(name) {
		src, err = e.source(ctx, "templates", filepath.Join(filepath.Dir(e.base), name), true)
	}
	if e.r.line.broken() != nil {
		return "", false, e.r.line.broken()
	}
	if err != nil {
		return "", false, nil
	}
	text, err := e.r.blobs.text(ctx, src.Digest)
	return string(text), err == nil, err
}

// lateVarsFiles reads the vars_files whose names hold templates, again when their names come out differently:
// often they wait for facts.
func (r *walk) lateVarsFiles(ctx context.Context) error {
	if !r.cfg.Own {
		return r.lateHere(ctx)
	}
	for i, vf := range r.doc.Play.VarsFiles {
		if !vf.Late {
			continue
		}
		names, ok, err := r.lateNames(ctx, vf)
		if err != nil {
			return err
		}
		key := strings.Join(names, "\x00")
		if !ok || key == r.lateSeen[i] {
			continue
		}
		a, err := r.line.ask(ctx, wire.Ask{Kind: wire.AskVarsFile, Names: names})
		if err != nil {
			return err
		}
		if a.Err != "" {
			r.line.emit(wire.Event{Kind: wire.Broken, Text: a.Err})
			return fmt.Errorf("%s", a.Err)
		}
		r.lateSeen[i] = key
		late := map[int]*value.Dict{}
		for k, d := range r.vars.Late {
			late[k] = d
		}
		late[i], _ = a.Value.V.(*value.Dict)
		r.vars.Late = late
	}
	return nil
}

// lateHere has the controller read them anew when their names come out differently, as far as this session can tell.
func (r *walk) lateHere(ctx context.Context) error {
	changed := false
	for i, vf := range r.doc.Play.VarsFiles {
		if !vf.Late {
			continue
		}
		e, key := r.newEval(&plan.Step{}, "", nil), ""
		for _, n := range vf.Names {
			text, err := e.tpl.Text(ctx, value.YAMLStr(n))
			if err != nil {
				text = fmt.Sprint("\x00", r.gathered())
			}
			key += text + "\x00"
		}
		changed = changed || key != r.lateSeen[i]
		r.lateSeen[i] = key
	}
	r.held.fresh()
	if !changed {
		return nil
	}
	return r.renew(ctx)
}

// lateNames renders the candidates of an entry; false means that a variable is not defined yet.
func (r *walk) lateNames(ctx context.Context, vf plan.VarsFile) ([]string, bool, error) {
	e := r.newEval(&plan.Step{}, "", nil)
	var names []string
	for _, n := range vf.Names {
		text, err := e.tpl.Text(ctx, value.YAMLStr(n))
		if err != nil {
			return nil, false, r.lateFault(ctx, e, n, err)
		}
		names = append(names, text)
	}
	return names, true, nil
}

// lateFault is what an entry of vars_files that cannot be rendered means: until facts are gathered, variables may be missing; all else
// ends the run.
func (r *walk) lateFault(ctx context.Context, e *eval, name string, err error) error {
	undefined := templar.IsUndefined(err)
	if undefined && !r.gathered() {
		return r.line.broken()
	}
	err = e.check(ctx, err)
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	text := f.text
	if undefined {
		text = "an undefined variable was found when attempting to template the vars_files item '" + name + "'"
	}
	r.line.emit(wire.Event{Kind: wire.Broken, Text: text})
	return errors.New(text)
}

// gathered tells whether the facts of the host were gathered.
func (r *walk) gathered() bool {
	if r.vars.Facts == nil {
		return false
	}
	_, ok := r.vars.Facts.Get("module_setup")
	return ok
}
