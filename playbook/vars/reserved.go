package vars

import (
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// functions are the names of what templates can call, and how tasks may be written beside their keywords.
const functions = " cycler dict joiner lipsum local_action lookup namespace now q query range undef with_ "

// IsReserved reports whether keywords or functions of templates have a name. Ansible leaves out words that stand only
// within other keywords.
func IsReserved(name string) bool {
	k, ok := plan.KeywordNamed(name)
	return ok && name != "vars" && k.On.Has(plan.OnPlay|plan.OnBlock|plan.OnTask) ||
		strings.Contains(functions, " "+name+" ")
}

// ReservedIn returns the reserved names in a layer.
func ReservedIn(layer *value.Dict) []string {
	var names []string
	layer.Each(func(k, _ value.Value) bool {
		if name, ok := value.Text(k); ok && IsReserved(name) {
			names = append(names, name)
		}
		return true
	})
	return names
}

// Given returns the layers of a step on a host that are neither magic nor set by earlier tasks, lowest precedence
// first.
func Given(h *Host, sh *Shared, st Step) []*value.Dict {
	role := st.Role
	if role == nil {
		role = &plan.Role{}
	}
	const others = 10
	layers := append(make([]*value.Dict, 0, others+len(sh.VarsFiles)), sh.RoleDefaults, role.Defaults.Dict, h.Inventory,
		sh.Vars)
	for i, file := range sh.VarsFiles {
		if file.Late {
			layers = append(layers, h.Late[i])
		} else {
			layers = append(layers, file.Vars.Dict)
		}
	}
	layers = append(layers, sh.RoleVars, role.Vars.Dict, st.Vars, role.Params.Dict, st.IncludeVars, sh.Extra)
	return slices.DeleteFunc(layers, func(d *value.Dict) bool { return d.Len() == 0 })
}
