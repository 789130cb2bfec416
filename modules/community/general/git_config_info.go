package general

import (
	"context"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type gitConfigInfoArgs struct {
	Name  *string `arg:"name" doc:"The setting; without it all are told."`
	Path  *string `arg:"path,type=path" doc:"The repository or file, for the scopes local and file."`
	Scope string  `arg:"scope,default=system,choices=global|system|local|file" doc:"Whose settings."`
}

// GitConfigInfo is community.general.git_config_info.
var GitConfigInfo = modules.Define("community.general.git_config_info", "Tell settings of git", runGitConfigInfo,
	modules.WithRules(modules.Rules{If: []modules.RequiredIf{
		{Param: "scope", Value: "local", Names: []string{"path"}},
		{Param: "scope", Value: "file", Names: []string{"path"}},
	}}),
	modules.Documented(`- community.general.git_config_info: {name: core.editor, scope: global}
- community.general.git_config_info: {scope: local, path: /srv/app}
`,
		modules.Return{Name: "config_value", Type: "str", When: "success", Doc: "The first value of the setting, empty if it has none."},
		modules.Return{Name: "config_values", Type: "dict", When: "success", Doc: "All values of the setting, or of all settings, as lists."},
	))

func runGitConfigInfo(ctx context.Context, env *modules.Env, a gitConfigInfoArgs) (modules.Result, error) {
	path, err := tool.Find(env, "git")
	if err != nil {
		return modules.Result{}, err
	}
	g := &gitSettings{ctx: ctx, env: env, argv: []string{path, "config", "--includes", "--null", "--" + a.Scope}, dir: "/"}
	switch a.Scope {
	case "file":
		g.argv = append(g.argv, modules.Text(a.Path))
	case "local":
		g.dir = modules.Text(a.Path)
	}
	what := []string{"--list"}
	if modules.Text(a.Name) != "" {
		what = []string{"--get-all", *a.Name}
	}
	out, argv, err := g.run(what...)
	if err == nil && out.Rc >= 2 && !noGitFile(out) {
		err = tool.Fail(value.DictOf("rc", int64(out.Rc), "cmd", strings.Join(argv, " ")), "%s", out.Stderr)
	}
	if err != nil {
		return modules.Result{}, err
	}
	first, values := "", value.NewDict()
	add := func(name, text string) {
		v, _ := values.Get(name)
		list, _ := value.Items(v)
		values.Put(name, value.NewList(append(slices.Clone(list), value.UnsafeStr(text))...))
	}
	if name := modules.Text(a.Name); name != "" {
		values.Put(name, []any{})
	}
	if said := strings.Trim(out.Stdout, "\x00"); said != "" {
		for i, entry := range strings.Split(said, "\x00") {
			name, text := modules.Text(a.Name), entry
			if name == "" {
				name, text, _ = strings.Cut(entry, "\n") // a setting without a value has no line break
			} else if i == 0 {
				first = entry
			}
			add(name, text)
		}
	}
	return modules.Result{Data: value.DictOf("msg", "", "config_value", first, "config_values", values)}, nil
}
