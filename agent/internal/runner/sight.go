package runner

import (
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/vars"
)

// takeFacts makes the facts of a result visible to its conditions and to the items that follow: those of
// set_fact and include_vars as they are, those of other modules as facts become variables.
func (x *execution) takeFacts(res *value.Dict) {
	v, _ := res.Get("ansible_facts")
	facts, ok := v.(*value.Dict)
	if !ok || x.t.does(modules.ShowsOnly) {
		x.register(res)
		return
	}
	if x.t.does(modules.SetsVariables | modules.LoadsVariables) {
		facts.Each(func(k, v value.Value) bool { return x.local.SetKey(k, v) })
		x.register(res)
		return
	}
	known := x.e.r.vars.Facts
	if had, ok := x.local.Get(factsSoFar); ok {
		known, _ = had.(*value.Dict)
	}
	all := vars.Combine(known, facts, false)
	x.local.Set(factsSoFar, all)
	x.local.Set("ansible_facts", vars.NamespaceFacts(all))
	if x.e.r.shared.InjectFacts {
		vars.CleanFacts(facts).Each(func(k, v value.Value) bool { return x.local.SetKey(k, v) })
	}
	x.register(res)
}

// factsSoFar keeps the facts of earlier items beside those of the host.
const factsSoFar = "_ansible_facts_so_far"
