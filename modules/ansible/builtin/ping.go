package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/py/value"
)

// Ping reports that the host can be reached and can run modules.
var Ping = modules.Define("ansible.builtin.ping",
	"Try to connect to host, verify a usable python and return pong on success.", runPing,
	modules.Is(modules.ReadsInCheck),
	modules.With(func(m *modules.Module) {
		m.Examples = "- ansible.builtin.ping:\n"
		m.Returns = []modules.Return{{Name: "ping", Type: "str", When: "success", Doc: "The data."}}
	}), modules.Is(modules.OnlyLooks))

type pingArgs struct {
	Data string `arg:"data,default=pong" doc:"What to return; crash raises an error."`
}

func runPing(_ context.Context, _ *modules.Env, a pingArgs) (modules.Result, error) {
	if a.Data == "crash" {
		return modules.Result{Failed: true, Msg: "MODULE FAILURE\nSee stdout/stderr for the exact error", Data: value.DictOf(
			"module_stdout", "", "module_stderr", "Exception: boom\n", "exception", "Exception: boom\n", "rc", int64(1),
		)}, nil
	}
	return modules.Result{Data: value.DictOf("ping", a.Data, "changed", modules.AtEnd)}, nil
}
