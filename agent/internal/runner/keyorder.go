package runner

import (
	"hark/agent/internal/result"
	"hark/modules"
	"hark/playbook/jinja/value"
)

// inOrder gives the keys of a module's result in the order in which they come in Ansible. Of the arguments as the module
// understood them those come first that the task gave, then those with a default, then the rest.
func inOrder(res *value.Dict, mod *modules.Module, given *value.Dict) {
	if rank := modules.KeyOrder(mod.Name); rank != nil {
		result.Order(res, rank)
	}
	v, _ := res.Get("invocation")
	invocation, ok := v.(*value.Dict)
	if !ok {
		return
	}
	v, _ = invocation.Get("module_args")
	args, ok := v.(*value.Dict)
	if !ok {
		return
	}
	ranks := modules.ArgOrder(mod.Name)
	rank := make(map[string]int, args.Len())
	for i := range args.Len() {
		k, v := args.At(i)
		name, _ := value.Text(k)
		at, ok := ranks[name]
		if !ok {
			at = len(ranks) + i
		}
		at += given.Len()
		if value.IsNone(v) {
			at += len(ranks) + args.Len()
		}
		rank[name] = at
	}
	for i := range given.Len() {
		k, _ := given.At(i)
		if name, _ := value.Text(k); rank[name] != 0 {
			rank[name] = i
		}
	}
	result.OrderKeys(args, rank)
}
