package general

import (
	"context"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
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
	), modules.RunsPrograms)

// gitSettings is git config for the settings that are meant, and where it runs.
type gitSettings struct {
	ctx  context.Context
	env  *modules.Env
	argv []string
	dir  string
}

func (g *gitSettings) run(words ...string) (tool.Output, []string, error) {
	argv := slices.Concat(g.argv, words)
	out, err := tool.Run(g.ctx, g.env, modules.Command{Argv: argv, Dir: g.dir, Env: []string{"LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "LC_CTYPE=C"}})
	return out, argv, err
}

// read is run for what only looks. Without the setting git ends with 1.
func (g *gitSettings) read(words ...string) (tool.Output, error) {
	out, argv, err := g.run(words...)
	if err == nil && out.Rc >= 2 {
		err = tool.Fail(value.DictOf("rc", int64(out.Rc), "cmd", strings.Join(argv, " ")), "%s", out.Stderr)
	}
	return out, err
}

func runGitConfig(ctx context.Context, env *modules.Env, a gitConfigArgs) (modules.Result, error) {
	if !a.ListAll && modules.Text(a.Name) == "" {
		return modules.Fail("missing required arguments: name")
	}
	path, err := tool.Find(env, "git")
	if err != nil {
		return modules.Result{}, err
	}
	scope := modules.Text(a.Scope)
	if scope == "" && !a.ListAll {
		scope = "system"
	}
	g := &gitSettings{ctx: ctx, env: env, argv: []string{path, "config", "--includes"}, dir: "/"}
	if repo := modules.Text(a.Repo); repo != "" && (scope == "local" || a.ListAll) {
		g.dir = repo
	}
	where := []string{"--" + scope}
	switch scope {
	case "file":
		where = []string{"-f", modules.Text(a.File)}
	case "":
		where = nil
	}
	if a.ListAll {
		g.argv = append(append(g.argv, "-l"), where...)
		return g.list(scope != "")
	}
	g.argv = append(g.argv, where...)
	if a.State == "present" && modules.Text(a.Value) == "" {
		out, err := g.read(modules.Text(a.Name))
		return modules.Result{Data: value.DictOf("msg", "", "changed", modules.Here, "config_value", strings.TrimRight(out.Stdout, " \t\r\n"))}, err
	}
	return g.change(a)
}

// list tells all settings. Of a scope that nobody has set anything in there is no file.
func (g *gitSettings) list(scoped bool) (modules.Result, error) {
	out, argv, err := g.run()
	if err == nil && out.Rc >= 2 && !(scoped && noGitFile(out)) {
		err = tool.Fail(value.DictOf("rc", int64(out.Rc), "cmd", strings.Join(argv, " ")), "%s", out.Stderr)
	}
	return modules.Result{Data: value.DictOf("msg", "", "changed", modules.Here, "config_values", settings(strings.TrimRight(out.Stdout, " \t\r\n")))}, err
}

func noGitFile(out tool.Output) bool {
	return out.Rc == 128 && strings.Contains(out.Stderr, "unable to read config file")
}

// change sets or removes the setting, which may have several values.
func (g *gitSettings) change(a gitConfigArgs) (modules.Result, error) {
	name, wanted, unset := modules.Text(a.Name), modules.Text(a.Value), a.State == "absent"
	out, err := g.read("--get-all", name)
	if err != nil {
		return modules.Result{}, err
	}
	var old []string
	for _, line := range modules.Lines(strings.TrimRight(out.Stdout, " \t\r\n")) {
		old = append(old, line.(string))
	}
	after, words := []string{wanted}, []string{"--" + a.AddMode, name, wanted}
	switch {
	case unset && out.Stdout == "":
		return modules.Result{Msg: "no setting to unset", Data: value.DictOf("msg", modules.Here, "changed", modules.Here)}, nil
	case unset:
		after, words = nil, []string{"--unset-all", name}
	case slices.Contains(old, wanted) && (len(old) == 1 || a.AddMode == "add"):
		return modules.Result{Data: value.DictOf("msg", "", "changed", modules.Here)}, nil
	case a.AddMode == "add":
		after = append(slices.Clone(old), wanted)
	}
	if !g.env.Check {
		out, argv, err := g.run(words...)
		if err == nil && out.Stderr != "" {
			err = tool.Fail(value.DictOf("rc", int64(out.Rc), "cmd", argv), "%s", out.Stderr)
		}
		if err != nil {
			return modules.Result{}, err
		}
	}
	header := strings.Join(slices.Concat(g.argv, words), " ")
	data := value.DictOf("msg", modules.Here, "diff", modules.Here, "changed", modules.Here)
	return modules.Result{Changed: true, Msg: "setting changed", Data: data, Diff: []modules.Diff{{Raw: value.DictOf(
		"before_header", header, "before", valuesShown(old), "after_header", header, "after", valuesShown(after),
	)}}}, nil
}

// valuesShown are the values of a setting as a difference shows them.
func valuesShown(values []string) any {
	switch len(values) {
	case 0:
		return "\n"
	case 1:
		return values[0] + "\n"
	}
	return values
}

// settings reads name=value lines; the last of a name counts.
func settings(list string) *value.Dict {
	out := value.NewDict()
	for _, line := range strings.Split(list, "\n") {
		if name, text, ok := strings.Cut(line, "="); ok {
			out.Put(name, text)
		}
	}
	return out
}
