package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/py/value"
)

// Fail fails.
var Fail = modules.Define("ansible.builtin.fail", "Fail with custom message.", runFail, modules.IsPure,
	modules.Is(modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.fail: {msg: Only Debian will do}\n  when: ansible_os_family != 'Debian'\n"
	}))

type failArgs struct {
	Msg   value.Value `arg:"msg,default=Failed as requested from task" doc:"The message."`
	Extra *value.Dict `arg:"*"`
}

func runFail(_ context.Context, env *modules.Env, a failArgs) (modules.Result, error) {
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	return modules.Result{Failed: true, Data: value.DictOf("failed", true, "msg", a.Msg)}, nil
}
