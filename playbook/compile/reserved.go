package compile

import (
	"context"
	"slices"
	"strings"

	"hark/playbook/plan"
	"hark/playbook/vars"
)

// functions are the names of what templates can call, and how tasks may be written beside their keywords.
const functions = " cycler dict joiner lipsum local_action lookup namespace now q query range undef with_ "

// reserved tells whether keywords or functions of templates have a name. Ansible leaves out what stands only within other keywords.
func reserved(name string) bool {
	k, ok := plan.KeywordNamed(name)
	return ok && name != "vars" && k.On.Has(plan.OnPlay|plan.OnBlock|plan.OnTask) || strings.Contains(functions, " "+name+" ")
}

// warnReserved warns of variables of the play that have a reserved name.
func (p *Play) warnReserved(ctx context.Context) {
	names := vars.NewScope(nil, p.shared(), vars.Step{}).Names(ctx)
	slices.Sort(names)
	for _, name := range names {
		if reserved(name) {
			p.project.warn("Found variable using reserved name: %s", name)
		}
	}
}
