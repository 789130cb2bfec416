package runner

import (
	"context"
	"slices"
	"strings"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// completed adds what Ansible adds to the result of a module that ran on a host.
func (c *caller) completed(ctx context.Context, res *result.Result) *result.Result {
	last := res.Len() > 0 && isChanged(res.Dict, res.Len()-1)
	for _, name := range []string{"stdout", "stderr"} {
		v, ok := res.Get(name)
		if !ok || res.Has(name+"_lines") {
			continue
		}
		if !value.IsText(v) {
			v = value.UnsafeStr("")
		}
		res.Set(name+"_lines", value.NewLines(v))
	}
	for _, name := range []string{"warnings", "deprecations"} {
		if v, ok := res.Get(name); ok && !value.IsTrue(v) {
			res.Delete(value.Str(name))
		}
	}
	if c.e.has(dialect.TextWarnings) {
		textWarnings(res)
	}
	byAction := c.failure.staged || c.mod.Has(modules.IsAction) && res.FailedBy != "Module"
	res.Parsed = c.e.has(dialect.SkippedResults) && !byAction
	c.onTerminal(ctx, res)
	toEnd(res.Dict, last)
	return res
}

// textWarnings converts warnings of a result that are not texts, as ansible-core does since 2.19.
func textWarnings(res *result.Result) {
	have, _ := res.Get("warnings")
	list, _ := have.(*value.List)
	if list == nil || !slices.ContainsFunc(list.Items, func(w value.Value) bool { return !value.IsText(w) }) {
		return
	}
	texts := value.NewList()
	for _, w := range list.Items {
		if !value.IsText(w) {
			w = value.UnsafeStr(value.Printed(w))
		}
		texts.Items = append(texts.Items, w)
	}
	res.Set("warnings", texts)
}

// isChanged reports whether the entry at a place is "changed". At the end, it is what Ansible adds to the result of a
// module that does not say.
func isChanged(res *value.Dict, at int) bool {
	k, _ := res.At(at)
	name, _ := value.Text(k)
	return name == "changed"
}

// toEnd moves "changed" to the end, if it was there before more was added.
func toEnd(res *value.Dict, was bool) {
	if v, ok := res.Get("changed"); ok && was && !isChanged(res, res.Len()-1) {
		res.Delete(value.Str("changed"))
		res.Put("changed", v)
	}
}

// discovered is the fact in which Ansible remembers the Python that it found on a host.
const discovered = "discovered_interpreter_python"

// discover adds the Python of a host to the result of the first module that runs there, as Ansible does
// (executor/interpreter_discovery.py): playbooks read the fact.
func (c *caller) discover(made wire.Call, env *modules.Env, res *result.Result) {
	if made.Async > 0 || c.e.g.cfg.Modules.Has(made.Module, modules.StartsNoPython) ||
		made.Interpreter != "" && !strings.HasPrefix(made.Interpreter, "auto") {
		return
	}
	if c.view.known(c.e.g.vars).Has(discovered) {
		return
	}
	path := env.Python()
	if path == "" {
		return
	}
	v, _ := res.Get("ansible_facts")
	facts, ok := v.(*value.Dict)
	if !ok {
		facts = value.NewDict()
		res.Set("ansible_facts", facts)
	}
	facts.Set(discovered, value.UnsafeStr(path))
}
