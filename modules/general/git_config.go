package general

import (
	"context"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/tool"
)

type gitConfigArgs struct {
	ListAll bool    `arg:"list_all,default=no" doc:"Tell all settings."`
	Name    *string `arg:"name" doc:"The setting."`
	Repo    *string `arg:"repo,type=path" doc:"The repository, for scope local."`
	File    *string `arg:"file,type=path" doc:"The file, for scope file."`
	Scope   *string `arg:"scope,choices=file|local|global|system" doc:"Whose settings; system by itself."`
	State   string  `arg:"state,default=present,choices=present|absent" doc:"Whether it shall be there."`
	AddMode string  `arg:"add_mode,extra,default=replace-all,choices=add|replace-all" doc:"Whether a value joins those that the setting has, or takes their place."`
	Value   *string `arg:"value" doc:"The value; without one it is told."`
}

// GitConfig is community.general.git_config.
var GitConfig = modules.Define("community.general.git_config", "Read and write git configuration", runGitConfig,
	modules.WithRules(modules.Rules{
		Exclusive: [][]string{{"list_all", "name"}, {"list_all", "value"}, {"list_all", "state"}},
		OneOf:     [][]string{{"list_all", "name"}},
		If: []modules.RequiredIf{
			{Param: "scope", Value: "local", Names: []string{"repo"}},
			{Param: "scope", Value: "file", Names: []string{"file"}},
		},
	}),
	modules.Documented(`- community.general.git_config: {name: user.email, scope: global, value: deploy@example.org}
- community.general.git_config: {list_all: true, scope: local, repo: /srv/app}
`,
		modules.Return{Name: "config_value", Type: "str", When: "no value was given", Doc: "The value."},
		modules.Return{Name: "config_values", Type: "dict", When: "list_all", Doc: "All of them."},
	))

func runGitConfig(ctx context.Context, env *modules.Env, a gitConfigArgs) (modules.Result, error) {
	path, err := tool.Find(env, "git")
	if err != nil {
		return modules.Result{}, err
	}
	argv, dir := a.command(path)
	run := func(argv []string) (tool.Output, error) {
		return tool.Run(ctx, env, modules.Command{Argv: argv, Dir: dir, Env: []string{"LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "LC_CTYPE=C"}})
	}
	out, err := run(argv)
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Data: map[string]any{"msg": ""}}
	old := strings.TrimRight(out.Stdout, " \t\r\n")
	value, unset := text(a.Value), a.State == "absent"
	switch {
	case a.ListAll && a.Scope != nil && out.Rc == 128 && strings.Contains(out.Stderr, "unable to read config file"):
		res.Data["config_values"] = map[string]any{}
		return res, nil
	case out.Rc >= 2:
		return modules.Result{}, tool.Fail(map[string]any{"rc": int64(out.Rc), "cmd": strings.Join(argv, " ")}, "%s", out.Stderr)
	case a.ListAll:
		res.Data["config_values"] = settings(old)
		return res, nil
	case value == "" && !unset:
		res.Data["config_value"] = old
		return res, nil
	case unset && out.Stdout == "":
		res.Msg = "no setting to unset"
		return res, nil
	case !unset && old == value:
		return res, nil
	}
	change := append(slices.Clone(argv), value)
	if unset {
		value = ""
		argv = slices.Insert(argv, len(argv)-1, "--unset")
		change = argv
	}
	if !env.Check {
		out, err := run(change)
		if err == nil && out.Stderr != "" {
			err = tool.Fail(map[string]any{"rc": int64(out.Rc), "cmd": change}, "%s", out.Stderr)
		}
		if err != nil {
			return modules.Result{}, err
		}
	} else if unset {
		argv = slices.DeleteFunc(argv, func(s string) bool { return s == "--unset" })
	}
	header := strings.Join(argv, " ")
	return modules.Result{Changed: true, Msg: "setting changed", Diff: []modules.Diff{{
		Before: old + "\n", After: value + "\n", BeforeHeader: header, AfterHeader: header,
	}}}, nil
}

// command is git config for the settings that are meant, and where it runs.
func (a *gitConfigArgs) command(path string) (argv []string, dir string) {
	argv, dir = []string{path, "config", "--includes"}, "/"
	scope := text(a.Scope)
	if a.ListAll {
		argv = append(argv, "-l")
	} else if scope == "" {
		scope = "system"
	}
	if scope == "file" {
		argv = append(argv, "-f", text(a.File))
	} else if scope != "" {
		argv = append(argv, "--"+scope)
	}
	if text(a.Name) != "" {
		argv = append(argv, *a.Name)
	}
	if repo := text(a.Repo); repo != "" && (scope == "local" || a.ListAll) {
		dir = repo
	}
	return argv, dir
}

// settings reads name=value lines; the last of a name counts.
func settings(list string) map[string]any {
	out := map[string]any{}
	for _, line := range strings.Split(list, "\n") {
		if name, value, ok := strings.Cut(line, "="); ok {
			out[name] = value
		}
	}
	return out
}
