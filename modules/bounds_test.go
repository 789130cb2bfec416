package modules_test

import (
	"context"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// A module that is bound starts no program, by whichever way it asks for one.
func TestNoProgramIsStartedWhereThePolicyForbidsIt(t *testing.T) {
	started := 0
	env := &modules.Env{
		Bounds: modules.Bounds{NoPrograms: "this operator may look and not change"},
		Exec: func(context.Context, modules.Command) (modules.Output, error) {
			started++
			return modules.Output{}, nil
		},
		Warn: func(string, ...any) {},
	}
	for name, c := range map[string]modules.Command{
		"git": {Argv: []string{"/usr/bin/git", "ls-remote"}}, "sh": {Shell: "id"},
		"bash": {Shell: "id", Executable: "/bin/bash"},
	} {
		m := modules.Define("test.t.starts", "",
			func(ctx context.Context, env *modules.Env, _ struct{}) (modules.Result, error) {
				_, err := env.Exec(ctx, c)
				return modules.Result{}, err
			})
		res := m.Run(t.Context(), env, modtest.Args(nil))
		if !res.Failed || !strings.Contains(res.Msg, "to start "+name+": this operator may look and not change") {
			t.Errorf("%s: %+v", name, res)
		}
	}
	if started != 0 {
		t.Errorf("%d programs were started", started)
	}
}
