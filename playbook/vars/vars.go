// Package vars holds the variables of a host in a run and Ansible's order of precedence. Nothing is merged
// or copied for a task: a Scope walks the layers from the top and stops at the first that has the name.
// Values are raw; playbook/jinja/templar renders them.
package vars

import (
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// Host holds one host's own layers in a run. It is the same type in an agent's session and in the
// controller's mirror of it. It is not safe for concurrent use.
type Host struct {
	Name      string
	Inventory *value.Dict // group and host variables, merged by precedence, raw
	Facts     *value.Dict // ansible_facts without the prefix; nil before any
	Include   *value.Dict // include_vars
	Set       *value.Dict // set_fact and register
	Magic     *value.Dict // inventory_hostname, group_names, ...
}

// Shared are the layers that all hosts of a play share, as in plan.Play; public includes of roles add to them.
type Shared struct {
	RoleDefaults *value.Dict
	Vars         *value.Dict
	VarsFiles    []*value.Dict
	RoleVars     *value.Dict
	Extra        *value.Dict
	Magic        *value.Dict
	HashMerge    bool
	InjectFacts  bool
}

// Step are the layers that only one step sees. Role, Vars and IncludeVars come from the plan, Local are loop variables and
// what the runner adds for the time of one call (item, ansible_loop, ansible_failed_result).
type Step struct {
	Role        *plan.Role
	Vars        *value.Dict
	IncludeVars *value.Dict
	Local       *value.Dict
}
