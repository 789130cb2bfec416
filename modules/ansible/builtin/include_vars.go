package builtin

import (
	"context"
	"fmt"
	"path"
	"sort"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/dialect"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/modules/result"
)

// IncludeVars reads variables from files of the controller.
var IncludeVars = modules.Define("ansible.builtin.include_vars",
	"Load variables from files, dynamically within a task.", runIncludeVars,
	modules.IsPure, modules.Is(modules.LoadsVariables|modules.AsksController|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs, m.FreeForm = true, true
		m.Examples = "- ansible.builtin.include_vars: \"{{ ansible_os_family }}.yml\"\n" +
			"- ansible.builtin.include_vars: {dir: vars/all, ignore_files: [secret.yml], name: site}\n"
		m.Returns = []modules.Return{{Name: "ansible_included_var_files", Type: "list", When: "always",
			Doc: "The files that were read."}}
	}))

type includeVarsArgs struct {
	RawParams  *string     `arg:"_raw_params" doc:"The file."`
	File       *string     `arg:"file" doc:"The file."`
	Dir        *string     `arg:"dir" doc:"A directory whose files are read in the order of their names."`
	Name       *string     `arg:"name" doc:"A variable to hold them all, instead of one each."`
	Depth      value.Value `arg:"depth" doc:"How many directories to read; default all."`
	Matching   *string     `arg:"files_matching" doc:"Read only files whose names match this expression."`
	Ignore     value.Value `arg:"ignore_files" doc:"Names, or expressions for the end of names, to leave out."`
	Extensions value.Value `arg:"extensions" doc:"Extensions of files of variables; default yaml, yml, json."`
	Unknown    value.Value `arg:"ignore_unknown_extensions" doc:"Leave out files with other extensions, instead of failing."`
	Hash       *string     `arg:"hash_behaviour,alias=hash_behavior" doc:"replace or merge mappings that are there."`
	Extra      *value.Dict `arg:"*"`
}

// included is one run.
type included struct {
	includeVarsArgs
	env    *modules.Env
	exts   []string
	ignore []*pyre.Regexp
	vars   *value.Dict // from the session
	paths  []any
	secret bool
	// unread: the last file could not be read.
	unread bool
	stale  []map[string]any // deprecations
}

func runIncludeVars(ctx context.Context, env *modules.Env, a includeVarsArgs) (modules.Result, error) {
	w := &included{includeVarsArgs: a, env: env, paths: []any{}}
	if err := w.checkOptions(); err != nil {
		return modules.Result{}, err
	}
	var failure string
	var err error
	if w.Dir != nil && *w.Dir != "" {
		failure, err = w.readDir(ctx)
	} else {
		failure, err = w.readFile(ctx, w.fileName())
	}
	if err != nil {
		return modules.Result{}, err
	}
	facts := w.vars
	if facts == nil {
		facts = value.NewDict()
	}
	if w.Name != nil && *w.Name != "" {
		named := value.NewDict()
		named.SetKey(value.Str(*w.Name), facts)
		facts = named
	}
	paths := value.FromGo(w.paths, value.KindStr)
	data := value.DictOf("ansible_facts", facts, "ansible_included_var_files", paths)
	if failure != "" {
		data.Put("message", failure)
	}
	return modules.Result{Failed: failure != "", Data: data, Deprecations: w.stale,
		Marks: result.Marks{NoLog: result.FlagOf(w.secret)}}, nil
}

// checkOptions checks which options go together.
func (w *included) checkOptions() error {
	names := w.Extra.Names()
	sort.Strings(names)
	if len(names) > 0 {
		return modules.Raise("%s is not a valid option in include_vars", names[0])
	}
	dirOnly := w.Dir != nil || w.Depth != nil || w.Matching != nil || w.Ignore != nil || w.Extensions != nil ||
		w.Unknown != nil
	if dirOnly && (w.File != nil || w.RawParams != nil) {
		return modules.Raise("You are mixing file only and dir only arguments, these are incompatible")
	}
	w.exts = []string{"yaml", "yml", "json"}
	if v := w.Extensions; v != nil {
		items, isList := value.Items(v)
		if !isList && w.env.Release.Has(dialect.IncludeVarsLists) {
			return modules.Raise("The 'extensions' option must be a list.")
		}
		text, isText := value.Text(v)
		switch w.exts = nil; {
		case isText:
			w.exts = strings.Split(text, "") // as Ansible takes it: each letter
		case !isList:
			return modules.Raise(`Invalid type for "extensions" option, it must be a list`)
		}
		for _, x := range items {
			w.exts = append(w.exts, modules.Str(x))
		}
	}
	return w.parseIgnore()
}

func (w *included) parseIgnore() error {
	text, isText := value.Text(w.Ignore)
	if _, isList := value.Items(w.Ignore); !isList && !isText && !value.Falsy(value.OrNone(w.Ignore)) &&
		w.env.Release.Has(dialect.IncludeVarsLists) {
		return modules.Raise("The 'ignore_files' option must be a list.")
	}
	if text != "" && w.env.Release.Has(dialect.IncludeVarsLists) {
		w.stale = []map[string]any{{"msg": "Specifying 'ignore_files' as a string is deprecated.", "version": "2.24",
			"collection_name": "ansible.builtin"}}
	}
	names := strings.Fields(text)
	items, _ := value.Items(w.Ignore)
	for _, x := range items {
		names = append(names, modules.Str(x))
	}
	for _, name := range names {
		re, err := pyre.Compile(name+"$", pyre.Options{})
		if err != nil {
			return modules.Raise("Invalid regular expression: %s", name)
		}
		w.ignore = append(w.ignore, re)
	}
	return nil
}

func (w *included) fileName() string {
	if w.File != nil && *w.File != "" {
		return *w.File
	}
	if w.RawParams != nil {
		return strings.TrimRight(*w.RawParams, "\n")
	}
	return ""
}

// readFile adds a file's variables; the text is why it could not.
func (w *included) readFile(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "Could not find file on the Ansible Controller.\nIf you are using a module and expect the file to exist on " +
			"the remote, see the remote_src option", nil
	}
	read, err := w.env.Asks.VarsFile(ctx,
		modules.VarsQuery{Name: name, Into: w.vars, Merge: w.Hash != nil && *w.Hash == "merge"})
	if err != nil {
		w.unread = true
		return err.Error(), nil
	}
	if read.Path == "" {
		read.Path = name
	}
	if read.Vars == nil {
		return w.named(read.Path) + " must be stored as a dictionary/hash", nil
	}
	w.vars, w.secret = read.Vars, w.secret || read.Secret
	w.paths = append(w.paths, read.Path)
	return "", nil
}

// named returns a file as messages name it.
func (w *included) named(file string) string {
	if w.env.Release.Has(dialect.IncludeVarsWords) {
		return value.ReprText(file)
	}
	return file
}

// readDir adds the files of a directory.
func (w *included) readDir(ctx context.Context) (string, error) {
	dir := strings.TrimRight(*w.Dir, "/")
	src, err := w.env.Source(ctx, "vars", dir, false)
	if err != nil {
		return w.root(ctx, dir) + " directory does not exist", nil
	}
	if !src.Dir {
		return src.Path + " is not a directory", nil
	}
	var matcher *pyre.Regexp
	if w.Matching != nil && *w.Matching != "" {
		if matcher, err = pyre.Compile(*w.Matching, pyre.Options{}); err != nil {
			return "", modules.Raise("Invalid regular expression: %s", *w.Matching)
		}
	}
	depth, err := action.Int(first(w.Depth, value.Int(0)))
	if err != nil {
		return "", modules.Raise("%v", err)
	}
	for i, d := range byDirectory(src, w.env.Has(dialect.VarsLinks)) {
		if w.env.Has(dialect.VarsLinks) {
			i = d.depth()
		}
		if depth > 0 && i >= depth {
			continue
		}
		before := w.vars
		for _, file := range d.files {
			if why, err := w.maybeRead(ctx, path.Join(src.Path, d.rel, file), matcher); why != "" || err != nil {
				w.vars = before // a directory counts as a whole
				return why, err
			}
		}
	}
	return "", nil
}

func (w *included) maybeRead(ctx context.Context, file string, matcher *pyre.Regexp) (string, error) {
	name := path.Base(file)
	if matcher != nil {
		if ok, err := matcher.Matches(name); err != nil || !ok {
			return "", err
		}
	}
	for _, re := range w.ignore {
		if ok, err := re.Matches(name); err != nil || ok {
			return "", err
		}
	}
	known := false
	for _, ext := range w.exts {
		known = known || ext == strings.TrimPrefix(extension(name), ".")
	}
	if !known {
		if modules.LenientBool(w.Unknown, false) {
			return "", nil
		}
		return fmt.Sprintf("%s does not have a valid extension: %s", w.named(file), strings.Join(w.exts, ", ")), nil
	}
	why, err := w.readFile(ctx, file)
	if why != "" && w.unread && w.env.Has(dialect.VarsLinks) {
		return "", modules.Raise("%s", why)
	}
	return why, err
}

// extension is Python's splitext: a leading dot starts no extension.
func extension(name string) string {
	return path.Ext(strings.TrimLeft(name, "."))
}

// root returns where Ansible would have looked, for the message.
func (w *included) root(ctx context.Context, dir string) string {
	if path.IsAbs(dir) {
		return dir
	}
	if role, ok, err := w.env.Var(ctx, "role_path"); err == nil && ok {
		return path.Join(modules.Str(role), "vars", dir)
	}
	if base, ok, err := w.env.Var(ctx, "playbook_dir"); err == nil && ok {
		return path.Join(modules.Str(base), dir)
	}
	return dir
}

// varsDir is a directory with the names of its files, sorted.
type varsDir struct {
	rel   string
	files []string
}

// depth returns how many directories it lies below the one that was named.
func (d varsDir) depth() int {
	if d.rel == "." {
		return 0
	}
	return 1 + strings.Count(d.rel, "/")
}

// byDirectory lists a source directory by directory, each before those under it, in the order of their paths. Links
// to directories are entered if they are followed.
func byDirectory(src *modules.Source, follow bool) []varsDir {
	files := map[string][]string{".": nil}
	linked := map[string]bool{}
	for _, e := range src.Entries {
		if linked[path.Dir(e.Rel)] {
			linked[e.Rel] = true // below a link, at any depth
			continue
		}
		switch {
		case e.Dir && e.Link != "" && !follow:
			linked[e.Rel] = true
		case e.Dir:
			if _, known := files[e.Rel]; !known {
				files[e.Rel] = nil
			}
		case e.Digest != "":
			files[path.Dir(e.Rel)] = append(files[path.Dir(e.Rel)], path.Base(e.Rel))
		}
	}
	out := make([]varsDir, 0, len(files))
	for rel, names := range files {
		sort.Strings(names)
		out = append(out, varsDir{rel, names})
	}
	sort.Slice(out, func(i, j int) bool { return path.Join(src.Path, out[i].rel) < path.Join(src.Path, out[j].rel) })
	return out
}
