package runner

import (
	"context"
	"strings"

	"hark/agent/internal/outside"
	"hark/modules/py/value"
	"hark/modules/result"
)

// onTerminal puts what a module that broke said on stderr where playbooks look for it: over ssh Ansible runs modules on a terminal, which has
// one stream, unless the connection is pipelined.
func (x *execution) onTerminal(ctx context.Context, res *result.Result) {
	said, _ := res.Get("module_stderr")
	errs, ok := value.Text(said)
	if out, _ := res.Get("module_stdout"); !ok || errs == "" || value.IsTrue(out) {
		return
	}
	if len(x.e.r.start.Reach) == 0 || !x.away() || x.delegated() && outside.IsLocalhost(x.f.delegate) ||
		x.e.r.start.Resident && (x.f.connection == "" || x.f.connection == "smart") {
		return
	}
	for _, name := range []string{"ansible_ssh_pipelining", "ansible_pipelining"} {
		v, err := x.e.variable(ctx, name)
		if on, _ := value.AsBool(value.OrNone(v)); on || err != nil {
			return
		}
	}
	res.Set("module_stdout", value.UnsafeStr(strings.ReplaceAll(errs, "\n", "\r\n")))
	res.Set("module_stderr", value.UnsafeStr(""))
}
