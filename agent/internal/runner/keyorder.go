package runner

import (
	"slices"
	"strings"

	"hark/agent/internal/result"
	"hark/modules"
	"hark/modules/py/value"
)

// inOrder gives the keys of a module's result in the order in which they come in Ansible. Of the arguments as the module
// understood them those come first that the task gave, then those with a default, then the rest.
func inOrder(res *value.Dict, mod *modules.Module, given *value.Dict) {
	if rank := modules.KeyOrder(mod.Name); rank != nil {
		result.Order(res, rank)
		failed, _ := res.Get("failed")
		if changed, ok := res.Get("changed"); ok && value.IsTrue(failed) && !value.IsTrue(changed) {
			res.Delete(value.Str("changed")) // what fails says nothing of it: Ansible adds it in the end
			res.Set("changed", changed)
		}
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

// inJobOrder puts first what Ansible tells of a job, awaited or only started, before it tells what the module says.
func inJobOrder(res *value.Dict, awaited bool) {
	names := "failed started finished ansible_job_id results_file changed"
	if awaited {
		names = "started finished stdout stderr stdout_lines stderr_lines ansible_job_id results_file"
	}
	rank := map[string]int{}
	for i, name := range strings.Fields(names) {
		rank[name] = i
	}
	result.OrderKeys(res, rank)
}

// keepOrder hands the arguments over as Objects whose order matters to the module.
func keepOrder(mod *modules.Module, args map[string]any, given *value.Dict) error {
	if len(mod.Ordered) == 0 {
		return nil
	}
	for i := range given.Len() {
		k, v := given.At(i)
		name, _ := value.Text(k)
		if _, ok := args[name]; !ok || mod.Ordered[0] != "*" && !slices.Contains(mod.Ordered, name) {
			continue
		}
		o, err := ordered(v)
		if err != nil {
			return err
		}
		args[name] = o
	}
	return nil
}

// ordered is ToGo with Objects for mappings.
func ordered(v value.Value) (any, error) {
	switch v := v.(type) {
	case *value.List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			x, err := ordered(item)
			if err != nil {
				return nil, err
			}
			list[i] = x
		}
		return list, nil
	case *value.Dict:
		o := make(modules.Object, v.Len())
		for i := range v.Len() {
			k, item := v.At(i)
			name, err := value.ToStr(k)
			if err != nil {
				return nil, err
			}
			x, err := ordered(item)
			if err != nil {
				return nil, err
			}
			o[i] = modules.Member{Key: name, Value: x}
		}
		return o, nil
	}
	return value.ToGo(v)
}
