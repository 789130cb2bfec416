package builtin

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestDebconfAnswersQuestions(t *testing.T) {
	for _, c := range []struct {
		args  map[string]any
		told  string
		want  string
		check bool
	}{
		{args: map[string]any{"name": "tz"}, want: `{"changed":false,"current":{"tz/area":"Etc","tz/ok":"true"},"msg":""}`},
		{args: map[string]any{"name": "tz", "question": "tz/ok", "vtype": "boolean", "value": true}, want: `{"changed":false,"current":{"tz/area":"Etc","tz/ok":"true"},"msg":""}`},
		{args: map[string]any{"name": "tz", "question": "tz/area", "vtype": "select", "value": "Asia", "unseen": true}, told: "-u: tz tz/area select Asia\n",
			want: `{"changed":true,"current":{"tz/area":"Asia"},"diff":{"after":{"tz/area":"Asia"},"before":{"tz/area":"Etc"}},"msg":"","previous":{"tz/area":"Etc"}}`},
		{args: map[string]any{"name": "tz", "question": "tz/new", "vtype": "boolean", "value": false}, told: ": tz tz/new boolean false\n",
			want: `{"changed":true,"current":{"tz/new":"false"},"diff":{"after":{"tz/area":"Etc","tz/new":"false","tz/ok":"true"},` +
				`"before":{"tz/area":"Etc","tz/new":"","tz/ok":"true"}},"msg":"","previous":{"tz/area":"Etc","tz/new":"","tz/ok":"true"}}`},
		{args: map[string]any{"name": "tz", "question": "tz/area", "vtype": "select", "value": "Asia"}, check: true,
			want: `{"changed":true,"current":{"tz/area":"Asia"},"diff":{"after":{"tz/area":"Asia"},"before":{"tz/area":"Etc"}},"msg":"","previous":{"tz/area":"Etc"}}`},
		{args: map[string]any{"name": "tz", "question": "tz/area"}, want: `{"changed":false,"failed":true,"msg":"parameters are required together: question, vtype, value"}`},
		{args: map[string]any{"name": "gone"}, want: `{"changed":false,"failed":true,"msg":"no\n"}`},
	} {
		told := ""
		env := factsEnv(t, nil, "debconf-show", "debconf-set-selections")
		env.Check, env.Diff = c.check, true
		env.Exec = func(_ context.Context, cmd modules.Command) (modules.Output, error) {
			switch {
			case filepath.Base(cmd.Argv[0]) == "debconf-set-selections":
				told = strings.Join(cmd.Argv[1:], " ") + ": " + string(cmd.Stdin)
				return modules.Output{}, nil
			case cmd.Argv[1] == "gone":
				return modules.Output{Rc: 1, Stderr: []byte("no\n")}, nil
			}
			return modules.Output{Stdout: []byte("* tz/area: Etc\n  tz/ok: true\n")}, nil
		}
		r := Debconf.Run(context.Background(), env, modtest.Args(c.args))
		if raw := modtest.ResultJSON(t, r); raw != c.want || told != c.told {
			t.Errorf("%v told %q and gave\n%s, want\n%s", c.args, told, raw, c.want)
		}
	}
}
