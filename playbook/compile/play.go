package compile

import (
	"context"
	"path/filepath"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/roles"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// Play is one play, read with all its roles and imports. Its content no longer changes.
type Play struct {
	project *Project
	src     *syntax.Play
	self    object // its own keywords
	// base is playbook_dir: the directory of its playbook.
	base       search.Dir
	collection string // of the playbook, if it lies in one
	vars       *value.Dict
	// conditional are the conditions of the import_playbook that imported it.
	conditional []value.Value

	roles            []*role
	pre, tasks, post []*block
	handlers         []*block
	importedHandlers []*block // of roles that tasks import

	varsFiles []plan.VarsFile
	lateFiles map[int]*value.Dict // of those that depend on hosts, as far as they can be read before

	roleCache map[string]*role

	// These belong to one batch.
	name  string
	world World
	hosts Batch
}

func (p *Play) finder() *roles.Finder { return p.project.finder }

// own returns a keyword of the play itself.
func (p *Play) own(name string) value.Value { return p.self.own(name) }

// Place returns the play's position: file:line:column.
func (p *Play) Place() string { return p.self.place.String() }

// Dir returns playbook_dir: the directory of the play's playbook.
func (p *Play) Dir() string { return string(p.base) }

// load reads everything that a play names.
func (p *Project) load(src *syntax.Play, path, collection string, imported *value.Dict) (*Play, error) {
	play := &Play{
		project: p, src: src, base: search.Dir(filepath.Dir(path)), collection: collection,
		vars: overlay(imported, src.Vars), roleCache: map[string]*role{},
	}
	play.self = object{
		place: src.Place, attrs: src.Attrs, tags: src.Tags,
		collections: withFallback(src.Collections, collection),
	}
	errs := []error{play.defaults().check(src.Attrs)}
	// An error of vars_files is an error of the run: earlier plays may write them.
	_, _ = play.readVarsFiles()
	load := play.loader()
	for _, entry := range src.Roles {
		r, err := load.role(roleCall{entry: entry, collections: play.self.collections, validate: true})
		errs = append(errs, err)
		if r != nil {
			play.roles = append(play.roles, r)
		}
	}
	// Roles that roles import come after those that the play names.
	in := within{collections: play.self.collections}
	for _, section := range []struct {
		from     []syntax.Entry
		to       *[]*block
		handlers bool
	}{{src.Handlers, &play.handlers, true}, {src.PreTasks, &play.pre, false}, {src.PostTasks, &play.post, false},
		{src.Tasks, &play.tasks, false}} {
		in.handlers = section.handlers
		blocks, err := load.blocks(section.from, in)
		*section.to, errs = blocks, append(errs, err)
	}
	return play, syntax.Join(errs...)
}

// readVarsFiles reads the present vars_files, as far as their names are the same for all hosts. What can be read is
// there even if it returns an error. missing is for missing files: Ansible reports them only when a play has hosts.
func (p *Play) readVarsFiles() (missing, err error) {
	p.varsFiles, p.lateFiles = nil, map[int]*value.Dict{}
	var absent, errs []error
	written := p.own("vars_files")
	if written == nil || value.IsNone(written) {
		return nil, nil
	}
	for i, entry := range items(written) {
		vf, strange := plan.VarsFile{}, error(nil)
		for _, name := range items(entry) {
			s, ok := value.Text(name)
			if !ok {
				strange = p.strangeName(i, name)
				break
			}
			vf.Names = append(vf.Names, s)
			vf.Late = vf.Late || !p.constant(name)
		}
		names, err := p.renderNames(vf.Names)
		if err != nil {
			p.skipped(i, err)
		}
		rendered := err == nil
		d, found, err := p.readVarsFile(names)
		errs = append(errs, err)
		if strange != nil && !found {
			return nil, strange
		}
		if vf.Late {
			if rendered {
				p.lateFiles[i] = d
			}
		} else {
			vf.Vars = plan.Dict{Dict: d}
			if !found && !p.project.cfg.Level.Has(dialect.VarsFilesAbsent) {
				absent = append(absent, missingVarsFile(entry))
			}
		}
		p.varsFiles = append(p.varsFiles, vf)
	}
	return syntax.Join(absent...), syntax.Join(errs...)
}

// strangeName returns the error of a file's name that is no text.
func (p *Play) strangeName(entry int, name value.Value) error {
	if !p.project.cfg.Level.Has(dialect.VarsFilesWords) {
		return &Error{Msg: "Invalid vars_files entry found: " + value.Printed(name) + "\n" +
			"vars_files entries should be either a string type or a list of string types after template expansion",
			Place: p.self.attrs["vars_files"].Place}
	}
	at := p.project.loader.FindItem("vars_files", entry, p.self.place)
	const help = "A `vars_files` value should either be a string or list of strings."
	text, sep := "Invalid `vars_files` value of type "+value.ReprText(modules.PlainTypeName(name))+".", "\n\n"
	if value.IsNone(name) {
		at, sep = syntax.Place{}, " "
	}
	err := p.project.loader.Errorf(at, "%s", text)
	err.Msg += sep + help
	return err
}

func missingVarsFile(entry value.Value) error {
	return &Error{Msg: "vars file " + value.Printed(entry) +
		" was not found\nCould not find file on the Ansible Controller.\n" +
		"If you are using a module and expect the file to exist on the remote, see the remote_src option"}
}

// constant reports whether a name is the same for all hosts: it reads only extra variables and files and programs of
// the controller.
func (p *Play) constant(name value.Value) bool {
	if !templar.IsTemplate(name) {
		return true
	}
	read := templar.Read(name)
	if !read.Complete {
		return false
	}
	for _, n := range read.Names {
		switch n {
		case "playbook_dir", "lookup", "query", "q", "omit", "now", "range", "dict":
			continue
		}
		if v, ok := p.project.cfg.Extra.Get(n); !ok || templar.IsTemplate(v) {
			return false
		}
	}
	return true
}

// skipped warns of an entry of vars_files that must wait for a host's variables, as ansible-core 2.19 does.
func (p *Play) skipped(entry int, err error) {
	if p.project.cfg.Level.Has(dialect.VarsFilesWords) && templar.IsUndefined(err) {
		at := p.project.loader.FindItem("vars_files", entry, p.self.place)
		p.project.warn("%s", p.project.loader.Errorf(at, "skipping vars_files item due to an undefined variable").Msg)
	}
}

// renderNames renders the names if they can be rendered without a host.
func (p *Play) renderNames(names []string) ([]string, error) {
	out := make([]string, len(names))
	for i, name := range names {
		text, err := p.text(name, nil)
		if err != nil {
			return nil, err
		}
		out[i] = text
	}
	return out, nil
}

// readVarsFile reads the first of the files that exists.
func (p *Play) readVarsFile(names []string) (d *value.Dict, found bool, err error) {
	for _, name := range names {
		path, _, ok := p.base.Stack([]string{filepath.Dir(p.self.place.File)}, "vars", name)
		if !ok {
			continue
		}
		d, err := p.project.VarsFile(path)
		return d, true, err
	}
	return nil, false, nil
}

// Data reads a YAML or JSON file, which may be encrypted.
func (p *Project) Data(path string) (value.Value, error) { return p.loader.Value(path) }

// VarsFile reads an entry of vars_files: a mapping, or a list of mappings of which later ones override earlier ones.
func (p *Project) VarsFile(path string) (*value.Dict, error) {
	n, err := p.loader.Node(path)
	if err != nil {
		return nil, err
	}
	v := n.Value
	if value.IsNone(v) {
		return nil, nil
	}
	var out *value.Dict
	for i, item := range items(v) {
		d, ok := item.(*value.Dict)
		if !ok && p.cfg.Level.Has(dialect.VarsFilesWords) {
			return nil, strangeVars(p.loader, path, n, i)
		}
		if !ok {
			return nil, &Error{Msg: "variable files must contain either a dictionary of variables, or a list of " +
				"dictionaries. Got: " +
				value.Printed(v) + " (" + syntax.Class(v) + ")"}
		}
		out = overlay(out, d)
	}
	return out, nil
}

// strangeVars returns the error of ansible-core 2.19 for an item of a variables file that is no mapping.
func strangeVars(l *syntax.Loader, path string, n *syntax.Node, item int) error {
	if len(n.Items) > item {
		n = n.Items[item]
	}
	err := l.Errorf(syntax.Place{File: path, Line: n.Mark.Line, Column: n.Mark.Column}, "Invalid variable file contents.")
	err.Msg += "\n\nVariable files must contain either a dictionary of variables, or a list of dictionaries."
	return err
}

// render renders a play's own keyword; nil if neither the play nor flags or settings set it.
func (p *Play) render(ctx context.Context, t *templar.Templar, name string) (value.Value, error) {
	v := p.own(name)
	if v == nil {
		v, _ = p.project.cfg.Keywords.Get(name)
	}
	if v == nil {
		return nil, nil
	}
	out, err := t.Template(ctx, v)
	switch {
	case err != nil && p.project.cfg.Level.Has(dialect.PlayNames):
		place := p.self.place
		if at := p.self.attrs[name].Place; at.Line > 0 {
			place = at
		}
		return nil, p.project.loader.Errorf(place, "Error processing keyword %s: %s", value.ReprText(name), err)
	case templar.IsUndefined(err) && name == "name":
		return v, nil
	case templar.IsUndefined(err):
		return nil, p.project.loader.Errorf(p.self.place,
			"The field '%s' has an invalid value, which includes an undefined variable. The error was: %s", name, err)
	case err != nil:
		return nil, p.at(p.self.place, err)
	}
	if templar.IsOmit(out) {
		out, _ = p.project.cfg.Keywords.Get(name)
	}
	if out == nil || value.IsNone(out) {
		return nil, nil
	}
	return out, nil
}
