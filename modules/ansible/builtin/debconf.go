package builtin

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type debconfArgs struct {
	Name     string  `arg:"name,required,alias=pkg" doc:"The package."`
	Question *string `arg:"question,alias=selection|setting" doc:"The question; without it all answers are told."`
	Type     *string `arg:"vtype,choices=boolean|error|multiselect|note|password|seen|select|string|text|title" doc:"The question's type."`
	Value    *string `arg:"value,alias=answer" doc:"The answer."`
	Unseen   bool    `arg:"unseen,default=no" doc:"Leave the question to be asked."`
}

// Debconf is ansible.builtin.debconf.
var Debconf = modules.Define("ansible.builtin.debconf", "Answers the questions of packages", runDebconf,
	modules.Operands("name"),
	modules.StartsInCheck("debconf-show"),
	modules.WithRules(modules.Rules{Together: [][]string{{"question", "vtype", "value"}}}),
	modules.Documented(`- ansible.builtin.debconf: {name: tzdata, question: tzdata/Areas, value: Europe, vtype: select}
`,
		modules.Return{Name: "current", Type: "dict", When: "a question was set", Doc: "The answers now."},
		modules.Return{Name: "previous", Type: "dict", When: "a question was set", Doc: "The answers before."},
		modules.Return{Name: "msg", Type: "raw", When: "none was set", Doc: "The answers by question."},
	))

func runDebconf(ctx context.Context, env *modules.Env, a debconfArgs) (modules.Result, error) {
	out, err := debconfTool(ctx, env, "", "debconf-show", a.Name)
	if err != nil {
		return modules.Result{}, err
	}
	answers := value.NewDict()
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if key, val, ok := strings.Cut(line, ":"); ok {
			answers.Put(strings.TrimSpace(strings.Trim(key, "*")), strings.TrimSpace(val))
		}
	}
	if a.Question != nil && (a.Type == nil || a.Value == nil) {
		return modules.Fail("when supplying a question you must supply a valid vtype and value")
	}
	if a.Question == nil || !a.differs(answers) {
		return modules.Result{Data: value.DictOf("current", answers, "msg", "")}, nil
	}
	question, val := *a.Question, *a.Value
	if asked := answers.Has(question); *a.Type == "boolean" && (asked || val == "True" || val == "False") {
		val = strings.ToLower(val)
	}
	res := modules.Result{Changed: true, Data: value.DictOf("msg", "")}
	if !env.Check {
		argv := []string{"debconf-set-selections"}
		if a.Unseen {
			argv = append(argv, "-u")
		}
		out, err := debconfTool(ctx, env, strings.Join([]string{a.Name, question, *a.Type, val}, " ")+"\n", argv...)
		if err != nil {
			return modules.Result{}, err
		}
		res.Data.Put("msg", string(out.Stdout))
	}
	previous := answers
	if old, asked := answers.Get(question); asked {
		previous = value.DictOf(question, old)
	} else {
		previous.Put(question, "")
	}
	after := previous.Copy()
	after.Put(question, val)
	res.Data.Put("current", value.DictOf(question, val))
	res.Data.Put("previous", previous)
	res.Diff = []modules.Diff{{Raw: value.NewDict()}}
	if env.Diff {
		res.Diff = []modules.Diff{{Raw: value.DictOf("before", previous, "after", after)}}
	}
	return res, nil
}

// differs reports whether the question has another answer, or none.
func (a *debconfArgs) differs(answers *value.Dict) bool {
	old, asked := answers.Text(*a.Question), answers.Has(*a.Question)
	if asked && *a.Type == "boolean" {
		return !strings.EqualFold(old, *a.Value)
	}
	return !asked || old != *a.Value
}

// debconfTool runs a tool that the host must have and that must not fail.
func debconfTool(ctx context.Context, env *modules.Env, stdin string, argv ...string) (modules.Output, error) {
	path, err := tool.Find(env, argv[0])
	if err != nil {
		return modules.Output{}, err
	}
	out, err := tool.Exec(ctx, env, modules.Command{Argv: append([]string{path}, argv[1:]...), Stdin: []byte(stdin)})
	if err == nil && out.Rc != 0 {
		err = &modules.Ended{Result: modules.Result{Failed: true, Msg: string(out.Stderr)}}
	}
	return out, err
}
