package compile

import (
	"context"
	"slices"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/vars"
)

// warnReserved warns of variables of the play with a reserved name. At level 2.19 and later each task warns of the
// others that it sees.
func (p *Play) warnReserved(ctx context.Context) {
	if !p.project.cfg.Level.Has(dialect.ReservedNames) {
		names := slices.DeleteFunc(vars.NewScope(nil, p.shared(), vars.Step{}).Names(ctx),
			func(name string) bool { return !vars.IsReserved(name) })
		slices.Sort(names)
		for _, name := range names {
			p.project.warn("Found variable using reserved name: %s", name)
		}
		return
	}
	own := *p.shared()
	own.RoleDefaults, own.RoleVars = nil, nil
	for _, layer := range vars.Given(&vars.Host{}, &own, vars.Step{}) {
		for _, name := range vars.ReservedIn(layer) {
			p.project.warn("Found variable using reserved name %s.\n%s", value.ReprText(name),
				p.project.loader.NameOrigin(name, p.self.place, p.project.cfg.Extra))
		}
	}
}
