package runner

import (
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/vars"
)

// warnOfGiven warns of variables with reserved names that the task receives, as ansible-core does since 2.19; once for
// each layer.
func (t *task) warnOfGiven() {
	if !t.base.has(dialect.ReservedNames) {
		return
	}
	for _, layer := range vars.Given(t.g.vars, t.g.shared, vars.StepOf(t.g.roles, t.s)) {
		if t.g.looked[layer] {
			continue
		}
		t.g.looked[layer] = true
		for _, name := range vars.ReservedIn(layer) {
			t.base.notices.reserved(name, spot{name: name})
		}
	}
}

// warnOfSet warns of reserved names among the variables that the task sets.
func (t *task) warnOfSet(res *result.Result) {
	if !t.base.has(dialect.ReservedNames) {
		return
	}
	if name := t.s.Register; vars.IsReserved(name) {
		t.base.notices.reserved(name, spot{key: "register", value: true})
	}
	if !t.does(modules.SetsVariables|modules.LoadsVariables) || res.Status() != wire.OK && res.Status() != wire.Changed {
		return
	}
	for _, item := range res.Each() {
		v, _ := item.Get("ansible_facts")
		facts, _ := v.(*value.Dict)
		for _, name := range vars.ReservedIn(facts) {
			at := spot{name: name}
			switch {
			case t.does(modules.SetsVariables):
				at = spot{key: name}
			case t.s.Args.Text("name") == name:
				at = spot{key: "name", value: true}
			}
			t.base.notices.reserved(name, at)
		}
	}
}

// reserved notes that a variable has a reserved name.
func (ns *notices) reserved(name string, at spot) {
	ns.note(link{msg: "Found variable using reserved name " + value.ReprText(name) + ".", spot: at}, "")
}
