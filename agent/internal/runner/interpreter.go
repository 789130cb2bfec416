package runner

import (
	"context"
	"strings"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
)

// interpreter is the Python that the host or else the settings name; auto, or nothing, leaves it to the host.
func (x *execution) interpreter(ctx context.Context) (string, error) {
	v, err := x.e.variable(ctx, "ansible_python_interpreter")
	if text, ok := value.Text(v); ok {
		return text, err
	}
	return x.e.r.doc.Play.Interpreter, err
}

// discovered is the fact by which Ansible remembers the Python that it found on a host.
const discovered = "discovered_interpreter_python"

// discover tells which Python a host has, in the result of the first module that runs there, as Ansible does:
// playbooks read the fact.
func (x *execution) discover(c wire.Call, env *modules.Env, res *result.Result) {
	if c.Async > 0 || x.e.r.cfg.Modules.Has(c.Module, modules.StartsNoPython) || c.Interpreter != "" && !strings.HasPrefix(c.Interpreter, "auto") {
		return
	}
	if x.sight.known(x.e.r.vars).Has(discovered) {
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
