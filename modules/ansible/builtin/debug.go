package builtin

import (
	"context"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// Debug shows a message or a variable.
var Debug = modules.Define("ansible.builtin.debug", "Print statements during execution.", runDebug, modules.IsPure,
	modules.Is(modules.ShowsOnly|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs, m.Kept, m.Bare = true, []string{"var"}, []string{"var"}
		m.Examples = "- ansible.builtin.debug: {msg: \"{{ inventory_hostname }} runs {{ ansible_distribution }}\"}\n" +
			"- ansible.builtin.debug: {var: \"hostvars[inventory_hostname]\", verbosity: 2}\n"
	}))

type debugArgs struct {
	Msg       value.Value `arg:"msg,default=Hello world!" doc:"What to show."`
	Var       value.Value `arg:"var" doc:"The name of a variable, or an expression, to show instead."`
	Verbosity value.Value `arg:"verbosity" doc:"Show it only from this number of -v on."`
	Extra     *value.Dict `arg:"*"`
}

// greeting is shown by a task that says neither what nor which variable.
const greeting = "Hello world!"

// badVerbosity is the error of a verbosity that is no number.
func badVerbosity(env *modules.Env, v value.Value) error {
	if env.Has(dialect.DebugVar) {
		return modules.ActionFail("", "argument 'verbosity' is of type %s and we were unable to convert to int: "+
			"\"%s\" cannot be converted to an int", modules.PlainTypeName(v), value.PrintedRepr(v))
	}
	return modules.RaiseAs("ValueError", "invalid literal for int() with base 10: %s", modules.Repr(v))
}

func runDebug(ctx context.Context, env *modules.Env, a debugArgs) (modules.Result, error) {
	if a.Msg != nil && modules.Str(a.Msg) != greeting && a.Var != nil {
		return modules.Fail("'msg' and 'var' are incompatible options")
	}
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	threshold := 0
	if a.Verbosity != nil {
		n, err := strconv.Atoi(strings.TrimSpace(modules.Str(a.Verbosity)))
		if err != nil {
			return modules.Result{}, badVerbosity(env, a.Verbosity)
		}
		threshold = n
	}
	if env.Has(dialect.DebugVar) && a.Var != nil && !value.IsText(a.Var) {
		return modules.Result{}, modules.ActionFail("",
			"argument 'var' is of type %s and we were unable to convert to _check_type_str_no_conversion: "+
				"'%s' is not a string and conversion is not allowed", modules.PlainTypeName(a.Var), modules.Str(a.Var))
	}
	data := value.DictOf("changed", modules.AtEnd)
	if threshold > env.Verbosity {
		data.Put("failed", false)
		data.Put("skipped_reason", "Verbosity threshold not met.")
		return modules.Result{Skipped: true, Data: data}, nil
	}
	shown := result.Marks{Verbose: result.Yes}
	if a.Var == nil {
		data.Put("msg", a.Msg)
		data.Put("failed", false)
		return modules.Result{Data: data, Marks: shown}, nil
	}
	key, val, err := evaluated(ctx, env, a.Var)
	if err != nil {
		return modules.Result{}, err
	}
	data.Put(key, val)
	data.Put("failed", false)
	return modules.Result{Data: data, Marks: shown}, nil
}

// evaluated evaluates a name or expression. Only text can be one: Ansible shows the type of anything else.
func evaluated(ctx context.Context, env *modules.Env, v value.Value) (string, any, error) {
	const undefined = "VARIABLE IS NOT DEFINED!"
	reason := ""
	if env.Verbosity > 0 {
		reason = ": "
	}
	text, ok := value.Text(v)
	if !ok {
		key := modules.Str(v)
		switch v.(type) {
		case *value.List, *value.Dict:
			key = modules.TypeName(v)
		}
		return key, undefined + reason, nil
	}
	val, err := env.Evaluate(ctx, v)
	if modules.IsUndefined(err) {
		if reason != "" {
			reason += err.Error()
		}
		return text, undefined + reason, nil
	}
	if err != nil {
		return "", nil, modules.Raise("%v", err)
	}
	return text, val, nil
}
