package compile

import (
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// reach are variables that hosts may get while the play runs, from files whose names are not known yet: late entries of
// vars_files, include_vars. Every file that the name could mean is read, to see what its variables refer to.
type reach struct {
	dicts []*value.Dict
	// unknown says that not even that can be found out.
	unknown bool
}

// reachOf examines the play's vars_files and its include_vars tasks.
func (p *Play) reachOf(sections [][]*block) *reach {
	r := &reach{}
	for _, f := range p.varsFiles {
		if f.Late {
			for _, name := range f.Names {
				r.add(p, p.self.search(), name)
			}
		}
	}
	for _, list := range sections {
		for _, b := range list {
			r.block(p, b)
		}
	}
	return r
}

func (r *reach) block(p *Play, b *block) {
	for _, list := range [][]item{b.body, b.rescue, b.always} {
		for _, it := range list {
			if it.block != nil {
				r.block(p, it.block)
			} else if p.project.cfg.Modules.Has(it.task.action, modules.LoadsVariables) {
				r.includeVars(p, it.task)
			}
		}
	}
}

func (r *reach) includeVars(p *Play, t *task) {
	name := firstText(t.src.Args, "_raw_params", "file")
	if dir := firstText(t.src.Args, "dir"); dir != "" {
		name = filepath.Join(dir, "*")
	}
	if name == "" || t.src.ArgsExpr != "" {
		r.unknown = true
		return
	}
	r.add(p, t.o.search(), name)
}

// expression matches a template's expression.
var expression = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{.*?\}\}`) })

// maxReach is how many files are read for one name.
const maxReach = 200

// add reads the files that a name with templates could mean.
func (r *reach) add(p *Play, dirs []string, name string) {
	pattern := expression().ReplaceAllString(name, "*")
	if strings.Contains(pattern, "{%") || strings.HasPrefix(pattern, "*") && !strings.Contains(pattern, ".") {
		r.unknown = true
		return
	}
	var files []string
	for _, dir := range append(dirs, string(p.base)) {
		for _, place := range []string{filepath.Join(dir, "vars", pattern), filepath.Join(dir, pattern)} {
			if filepath.IsAbs(pattern) {
				place = pattern
			}
			found, err := filepath.Glob(place)
			if err != nil {
				r.unknown = true
			}
			files = append(files, found...)
		}
	}
	sort.Strings(files)
	if len(files) > maxReach {
		r.unknown = true
		return
	}
	for i, file := range files {
		if i > 0 && files[i-1] == file {
			continue
		}
		d, err := p.project.VarsFile(file)
		if err != nil { // a file that is no variables file is not read later either
			continue
		}
		r.dicts = append(r.dicts, d)
	}
}

// layers returns all known dicts in which a step may find a variable.
func (w *survey) layers() []*value.Dict {
	role := w.c.unit.roles[w.s.Role]
	if role == nil {
		role = &plan.Role{}
	}
	play := &w.c.unit.Plan.Play
	layers := []*value.Dict{
		w.s.Vars.Dict, w.s.IncludeVars.Dict, role.Params.Dict, role.Vars.Dict, role.Defaults.Dict,
		play.Extra.Dict, play.RoleVars.Dict, play.Vars.Dict, play.RoleDefaults.Dict,
	}
	for _, f := range play.VarsFiles {
		layers = append(layers, f.Vars.Dict)
	}
	return append(layers, w.c.unit.reach.dicts...)
}
