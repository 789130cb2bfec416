package compile

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// functions are the names of what templates can call, and how tasks may be written beside their keywords.
const functions = " cycler dict joiner lipsum local_action lookup namespace now q query range undef with_ "

// reserved tells whether keywords or functions of templates have a name. Ansible leaves out what stands only within other keywords.
func reserved(name string) bool {
	k, ok := plan.KeywordNamed(name)
	return ok && name != "vars" && k.On.Has(plan.OnPlay|plan.OnBlock|plan.OnTask) || strings.Contains(functions, " "+name+" ")
}

// warnReserved warns of variables of the play that have a reserved name, in the tagged language in the order in which they stand.
func (p *Play) warnReserved(ctx context.Context) {
	names := slices.DeleteFunc(vars.NewScope(nil, p.shared(), vars.Step{}).Names(ctx), func(name string) bool { return !reserved(name) })
	slices.Sort(names)
	if !p.project.cfg.Level.Tagged() {
		for _, name := range names {
			p.project.warn("Found variable using reserved name: %s", name)
		}
		return
	}
	l := p.project.loader
	at := map[string]syntax.Place{}
	for _, name := range names {
		at[name], _ = l.FindName(name, p.self.place)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(at[a].Line, at[b].Line), cmp.Compare(at[a].Column, at[b].Column))
	})
	for _, name := range names {
		p.project.warn("%s", l.Errorf(at[name], "Found variable using reserved name %s.", value.ReprText(name)).Msg)
	}
}
