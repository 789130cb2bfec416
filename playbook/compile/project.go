package compile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/deprecation"
	"hark/playbook/foreign"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/roles"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// Project compiles playbooks. Several goroutines may use it.
type Project struct {
	cfg     Config
	loader  *syntax.Loader
	grammar *syntax.Grammar
	finder  *roles.Finder
	foreign *foreign.Finder
	packer  *foreign.Packer

	actions     *actions
	collections *collections

	// touching and touched say whether task files may change files of the controller.
	touching sync.Once
	touched  bool
}

// New returns a project that reads its files with l.
func New(l *syntax.Loader, cfg Config) *Project {
	if cfg.Modules == nil {
		cfg.Modules = modules.NewRegistry()
	}
	if cfg.Templates.Engine == nil {
		cfg.Templates.Engine = templar.NewEngine()
	}
	p := &Project{cfg: cfg, loader: l}
	p.collections = newCollections(&cfg, p.warn)
	p.finder = p.collections.finder
	p.foreign = foreign.NewFinder(cfg.Library, cfg.Utils, p.collections.find)
	p.actions = &actions{modules: cfg.Modules, foreign: p.foreign}
	p.foreign.Configure("filter", cfg.FilterPlugins)
	p.foreign.Configure("test", cfg.TestPlugins)
	p.foreign.Configure("lookup", cfg.LookupPlugins)
	p.packer = &foreign.Packer{Homes: cfg.PythonDirs, Collections: p.collections.find, Deprecate: p.deprecate}
	p.grammar = &syntax.Grammar{Loader: l, IsAction: p.isAction, Foresee: p.foresee, IsLookup: p.isLookup,
		LenientTasks: cfg.LenientTasks}
	return p
}

// Playbook is a playbook with everything that is known before it runs.
type Playbook struct {
	// Path is as it was asked for, or the path of a playbook that was named by its collection.
	Path  string
	Plays []*Play
}

// Playbook reads a playbook, named by its path or by its full name in a collection, with all that it imports and all
// its roles. The error holds all their errors (syntax.List).
func (p *Project) Playbook(name string) (*Playbook, error) {
	path, collection, ok := p.finder.Playbook(name, "")
	shown := path
	if !ok {
		shown, path = name, search.Clean(name, "")
		collection = p.finder.CollectionOf(path, search.Dir(filepath.Dir(path)))
	}
	if collection != "" {
		p.warn("running playbook inside collection %s", collection)
	}
	plays, err := p.plays(path, collection, nil, 0)
	return &Playbook{Path: shown, Plays: plays}, err
}

// plays reads the plays of a file. imported are the variables that an import passes on.
func (p *Project) plays(path, collection string, imported *value.Dict, depth int) ([]*Play, error) {
	if depth > maxDepth {
		return nil, &syntax.Error{Msg: "playbooks import each other without end: " + path}
	}
	p.Read(filepath.Dir(path))
	pb, err := p.grammar.Playbook(path, collection)
	if pb == nil {
		return nil, err
	}
	var plays []*Play
	var errs []error
	wrong := syntax.List(err)
	for i, e := range pb.Entries {
		if i+1 < len(pb.Entries) { // Ansible would find errors of later plays after those in the roles and files of this one
			var here error
			here, wrong = before(wrong, pb.Entries[i+1].Place(), path)
			errs = append(errs, here)
		} else {
			errs, wrong = append(errs, wrong...), nil
		}
		switch {
		case e.Play != nil:
			play, err := p.load(e.Play, path, collection, imported)
			plays, errs = append(plays, play), append(errs, err)
		case e.Import != nil:
			more, err := p.importPlaybook(e.Import, path, depth)
			plays, errs = append(plays, more...), append(errs, err)
		}
	}
	return plays, syntax.Join(append(errs, wrong...)...)
}

// before divides errors into those before a place in a file, and the others.
func before(errs []error, at syntax.Place, file string) (earlier error, rest []error) {
	var first []error
	for _, err := range errs {
		var e *syntax.Error
		if errors.As(err, &e) && e.Place.File == file && e.Place.Line >= at.Line {
			rest = append(rest, err)
		} else {
			first = append(first, err)
		}
	}
	return syntax.Join(first...), rest
}

// importPlaybook returns the plays of another playbook with the import's vars, tags and conditions.
func (p *Project) importPlaybook(im *syntax.Import, path string, depth int) ([]*Play, error) {
	dir := search.Dir(filepath.Dir(path))
	name, err := p.importedPlaybook(im, &Play{project: p, base: dir, vars: im.Vars})
	if err != nil {
		return nil, err
	}
	file, collection, ok := p.finder.Playbook(name, dir)
	if !ok {
		file = search.Clean(name, string(dir))
		collection = p.finder.CollectionOf(file, dir)
	}
	plays, err := p.plays(file, collection, im.Vars, depth+1)
	when := items(im.Attrs.Get("when"))
	for _, play := range plays {
		play.imported(im, when)
	}
	return plays, err
}

// importedPlaybook returns the playbook that an import names. At level 2.19 its other templates must be renderable too.
func (p *Project) importedPlaybook(im *syntax.Import, top *Play) (string, error) {
	tagged := p.cfg.Level.Has(dialect.PlayNames)
	title := im.Attrs["name"]
	if text, ok := value.Text(title.Value); ok && tagged {
		if _, err := top.text(text, nil); err != nil {
			return "", p.loader.Errorf(title.Place, "Error processing keyword 'name': %s", err)
		}
	}
	if !templar.IsTemplateText(im.File) {
		return im.File, nil
	}
	name, err := top.text(im.File, nil)
	switch {
	case err != nil && tagged:
		return "", p.loader.Errorf(im.FilePlace, "Error processing keyword 'import_playbook': %s", err)
	case err != nil:
		return "", top.at(im.Place, err)
	}
	return name, nil
}

// imported adds an import's vars, tags and conditions to a play.
func (p *Play) imported(im *syntax.Import, when []value.Value) {
	p.vars = overlay(p.vars, im.Vars)
	if v, ok := p.vars.Get("tags"); ok {
		p.vars = without(p.vars, "tags")
		text, _ := value.Text(v)
		for _, tag := range strings.Split(text, ",") {
			p.self.tags = append(p.self.tags, value.Str(tag))
		}
	}
	p.self.tags = append(append([]value.Value(nil), p.self.tags...), im.Tags...)
	if len(when) == 0 {
		return
	}
	p.conditional = when
	for _, list := range [][]*block{p.pre, p.tasks, p.post} {
		for _, b := range list {
			b.o.when = append(append([]value.Value(nil), when...), b.o.when...)
		}
	}
	for _, r := range p.roles {
		r.when = append(append([]value.Value(nil), when...), r.when...)
	}
}

// isAction reports whether a name is that of an action, with these collections in force, and reports names that will be
// removed. The error is that of an action that was removed.
func (p *Project) isAction(name string, collections []string) (bool, error) {
	if _, ok := p.actions.native(name, collections); ok {
		return true, nil
	}
	m, ok := p.actions.notNative(name, collections)
	for _, n := range m.Deprecated {
		p.deprecate(n)
	}
	if why := m.Missing(); why != "" {
		return false, &syntax.Error{Msg: why, General: true}
	}
	if !ok {
		var a foreign.Action
		a, ok = p.actions.actionPlugin(name, collections)
		for _, n := range a.Deprecated {
			p.deprecate(n)
		}
	}
	return ok, nil
}

// foresee notes where the roles of a play are, and those that they depend on: the play's own tasks may use the modules
// in them. Errors of a role are reported when it is read.
func (p *Project) foresee(file string, entries []*syntax.RoleEntry, collections []string) {
	seen := map[string]bool{}
	var walk func(near string, entries []*syntax.RoleEntry)
	walk = func(near string, entries []*syntax.RoleEntry) {
		for _, e := range entries {
			found, err := p.finder.Find(e.Name, search.Dir(filepath.Dir(file)), near, collections)
			if err != nil || seen[found.Path] {
				continue
			}
			seen[found.Path] = true
			if meta, err := roles.ReadMeta(p.grammar, found); err == nil {
				walk(filepath.Dir(found.Path), meta.Dependencies)
			}
			p.foreign.Add(found.Path)
		}
	}
	walk("", entries)
}

// Module returns a module's full name, or the name as written if it is unknown or holds a template; and its file, if it
// is not native.
func (p *Project) Module(name string, collections []string) (string, *plan.Foreign) {
	return p.actions.module(name, collections)
}

// HasModule reports whether a task may name the module: it is native, or is in a library directory or a collection.
func (p *Project) HasModule(name string) bool {
	_, ok := p.actions.resolve(name, nil)
	return ok
}

// Pack returns what a host needs to run the step's module, which is not native.
func (p *Project) Pack(s *plan.Step) ([]byte, error) {
	return p.packer.Pack(foreign.Module{Name: s.Action, Path: s.Foreign.Path, Utils: s.Foreign.Utils})
}

// Read adds a directory of playbooks, which may hold modules, plug-ins and collections.
func (p *Project) Read(dir string) {
	dir = search.Clean(dir, "")
	p.foreign.Add(dir)
	p.collections.read(search.Dir(dir))
}

// Collection returns the directory of a collection, beside one of the playbooks that were read or in the configured
// paths.
func (p *Project) Collection(name string) (string, bool) { return p.collections.find(name) }

func (p *Project) warn(format string, a ...any) {
	if p.cfg.Warn != nil {
		p.cfg.Warn(fmt.Sprintf(format, a...))
	}
}

func (p *Project) deprecate(n deprecation.Notice) {
	if p.cfg.Deprecate != nil {
		p.cfg.Deprecate(n)
	}
}

func (p *Project) verbose(level int, text string) {
	if p.cfg.Verbose != nil {
		p.cfg.Verbose(level, text)
	}
}
