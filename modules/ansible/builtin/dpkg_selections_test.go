package builtin

import (
	"context"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestDpkgSelectionsAreSetOnce(t *testing.T) {
	env := factsEnv(t, nil, "dpkg")
	selections := map[string]string{"bash": "install"}
	env.Exec = func(_ context.Context, c modules.Command) (modules.Output, error) {
		if c.Argv[1] == "--set-selections" {
			f := strings.Fields(string(c.Stdin))
			selections[f[0]] = f[1]
			return modules.Output{}, nil
		}
		state, ok := selections[c.Argv[2]]
		switch {
		case c.Argv[2] == "broken":
			return modules.Output{Rc: 2, Stderr: []byte("dpkg: error: no\n")}, nil
		case !ok:
			return modules.Output{Stderr: []byte("dpkg: no packages found\n")}, nil
		}
		return modules.Output{Stdout: []byte(c.Argv[2] + "\t\t\t" + state + "\n")}, nil
	}
	for _, c := range []struct {
		name, selection string
		check           bool
		want            string
	}{
		{"bash", "hold", true, `{"after":"hold","before":"install","changed":true}`},
		{"bash", "hold", false, `{"after":"hold","before":"install","changed":true}`},
		{"bash", "hold", false, `{"after":"hold","before":"hold","changed":false}`},
		{"none", "purge", true, `{"after":"purge","before":"not present","changed":true}`},
		{"broken", "hold", false, `{"changed":false,"failed":true,"msg":"dpkg: error: no","rc":2,"stderr":"dpkg: error: no\n","stdout":""}`},
	} {
		env.Check = c.check
		r := DpkgSelections.Run(context.Background(), env, modtest.Args(map[string]any{"name": c.name, "selection": c.selection}))
		if raw := modtest.ResultJSON(t, r); raw != c.want {
			t.Errorf("%s %s gave\n%s, want\n%s", c.name, c.selection, raw, c.want)
		}
	}
}
