package builtin

import (
	"context"
	"fmt"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type dpkgSelectionsArgs struct {
	Name      string `arg:"name,required" doc:"The package."`
	Selection string `arg:"selection,required,choices=install|hold|deinstall|purge" doc:"What dpkg shall do with it."`
}

// DpkgSelections is ansible.builtin.dpkg_selections.
var DpkgSelections = modules.Define("ansible.builtin.dpkg_selections", "Holds packages and lets them go",
	runDpkgSelections,
	modules.Operands("name"),
	modules.StartsInCheck("dpkg"),
	modules.Documented(`- ansible.builtin.dpkg_selections: {name: linux-image-amd64, selection: hold}
`,
		modules.Return{Name: "before", Type: "str", When: "always", Doc: "The selection before."},
		modules.Return{Name: "after", Type: "str", When: "always", Doc: "The selection now."},
	))

func runDpkgSelections(ctx context.Context, env *modules.Env, a dpkgSelectionsArgs) (modules.Result, error) {
	dpkg, err := tool.Find(env, "dpkg")
	if err != nil {
		return modules.Result{}, err
	}
	out, err := tool.Exec(ctx, env, modules.Command{Argv: []string{dpkg, "--get-selections", a.Name}})
	if err != nil || out.Rc != 0 {
		return toolFailed(out, err)
	}
	current := "not present"
	if f := strings.Fields(string(out.Stdout)); len(f) > 1 {
		current = f[1]
	}
	res := modules.Result{Changed: current != a.Selection, Data: value.DictOf("before", current, "after", a.Selection)}
	if !res.Changed || env.Check {
		return res, nil
	}
	out, err = tool.Exec(ctx, env,
		modules.Command{Argv: []string{dpkg, "--set-selections"}, Stdin: fmt.Appendf(nil, "%s %s\n", a.Name, a.Selection)})
	if err != nil || out.Rc != 0 {
		return toolFailed(out, err)
	}
	return res, nil
}

// toolFailed returns the failure of a tool that must not fail.
func toolFailed(out modules.Output, err error) (modules.Result, error) {
	return modules.Result{
		Failed: true, Msg: strings.TrimRight(string(out.Stderr), " \t\r\n"),
		Data: value.DictOf("rc", out.Rc, "stdout", string(out.Stdout), "stderr", string(out.Stderr)),
	}, err
}
