package inventory

import (
	"errors"
	"fmt"
	"path/filepath"

	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// VarsPlugins are vars plug-ins other than hark's own, which reads group_vars and host_vars. One goroutine at a time
// calls it.
type VarsPlugins interface {
	// Vars returns the variables of groups or hosts (kind group_vars, host_vars) from plug-ins for a directory, an
	// inventory's or the playbook's, at a stage: those that files of variables there override, and those that override the
	// files. Nil is none.
	Vars(dir, kind string, names []string, stage Stage) (under, over *value.Dict, err error)
}

// Stage is when vars plug-ins run.
type Stage string

// The stages. A plug-in runs at one of the first two or at both (AnyStage). When an inventory is shown, all run
// except those for the first only.
const (
	AtInventory Stage = "inventory" // once, after the sources were read: their variables then belong to hosts and groups
	AtTasks     Stage = "task"
	AnyStage    Stage = "all"
	NoStage     Stage = "none"
)

// includes reports whether something with a stage of its own runs at another one.
func (own Stage) includes(stage Stage) bool {
	if own == "" {
		own = AtTasks
	}
	return own == AnyStage || own == stage || stage == AnyStage && own != NoStage
}

// varsFiles reads the directories of variables of hosts and groups, files and vars plug-ins together.
type varsFiles struct {
	loader     *syntax.Loader
	extensions []string    // how the names of files may end
	stage      Stage       // when files are read
	plugins    VarsPlugins // nil for none
	merge      merging
}

func newVarsFiles(o *Options) varsFiles {
	return varsFiles{loader: o.Loader, extensions: extensions(o.VarsExtensions), stage: o.FilesStage,
		plugins: o.VarsPlugins, merge: merging(o.HashMerge)}
}

// extensions returns the extensions that names may have: the user's, or Ansible's, beside none.
func extensions(set []string) []string {
	if set == nil {
		set = []string{".yml", ".yaml", ".json"}
	}
	return append([]string{""}, set...)
}

// anyAt reports whether anything is read at a stage.
func (f varsFiles) anyAt(stage Stage) bool { return f.plugins != nil || f.stage.includes(stage) }

// lay puts the variables of groups or hosts from directories over out: for each directory those of plug-ins, of files,
// and of plug-ins that come after files.
func (f varsFiles) lay(out *value.Dict, dirs []*varsDir, stage Stage, names ...string) error {
	for _, dir := range dirs {
		var under, over *value.Dict
		if f.plugins != nil && len(names) > 0 {
			var err error
			if under, over, err = f.plugins.Vars(dir.root, dir.kind, names, stage); err != nil {
				return err
			}
		}
		f.merge.combine(out, under)
		if f.stage.includes(stage) {
			for _, name := range names {
				d, err := f.read(dir, name)
				if err != nil {
					return err
				}
				f.merge.combine(out, d)
			}
		}
		f.merge.combine(out, over)
	}
	return nil
}

// read returns the variables of a name in a directory; nil if it has none. A name may hold slashes, but not leave the
// directory: add_host may have it from another host's results.
func (f varsFiles) read(dir *varsDir, name string) (*value.Dict, error) {
	if len(dir.entries) == 0 || !filepath.IsLocal(name) {
		return nil, nil
	}
	if v, ok := dir.vars[name]; ok {
		return v, nil
	}
	var out *value.Dict
	for _, file := range dir.files(name, f.extensions) {
		v, err := f.loader.Value(file)
		if err != nil {
			return nil, asParserError(err)
		}
		if out == nil {
			out = value.NewDict()
		}
		vars, ok := v.(*value.Dict)
		switch {
		case ok:
			f.merge.combine(out, vars)
		case !value.Falsy(v):
			return nil, notADict(out, v)
		}
	}
	dir.vars[name] = out
	return out, nil
}

// asParserError makes every reason why a vars file cannot be read, also a missing vault password, an error of the
// project's files.
func asParserError(err error) error {
	var known *syntax.Error
	if errors.As(err, &known) {
		return err
	}
	return &syntax.Error{Msg: err.Error()}
}

func notADict(before *value.Dict, v value.Value) error {
	class := v.Type()
	if _, ok := v.(*value.List); ok {
		class = "AnsibleSequence"
	}
	was, _ := value.Dumps(before, value.JSONOptions{ASCII: true})
	is, _ := value.Dumps(v, value.JSONOptions{ASCII: true}) // both come from YAML, which can be encoded
	return &syntax.Error{Msg: fmt.Sprintf("failed to combine variables, expected dicts but got a 'dict' and a '%s': "+
		"\n%s\n%s", class, was, is)}
}
