package builtin

import (
	"context"
	"slices"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// Assert fails unless all its conditions hold.
var Assert = modules.Define("ansible.builtin.assert", "Asserts given expressions are true.", runAssert, modules.IsPure,
	modules.Is(modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs, m.Unrendered, m.Kept, m.Bare = true, []string{"that"}, []string{"that"}, []string{"that"}
		m.Examples = "- ansible.builtin.assert:\n    that: [\"memory > 512\", \"'web' in group_names\"]\n" +
			"    fail_msg: This host is too small\n"
	}))

type assertArgs struct {
	That    value.Value `arg:"that" doc:"A condition or a list of them, as in when."`
	FailMsg value.Value `arg:"fail_msg" doc:"Message if one does not hold; a text or a list."`
	Msg     value.Value `arg:"msg" doc:"The same."`
	Success value.Value `arg:"success_msg" doc:"Message if all hold; a text or a list."`
	Quiet   value.Value `arg:"quiet" doc:"Show no result."`
	Extra   *value.Dict `arg:"*"`
}

func runAssert(ctx context.Context, env *modules.Env, a assertArgs) (modules.Result, error) {
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	if a.That == nil && env.Has(dialect.ModuleArguments) {
		return modules.Fail("missing required arguments: that")
	}
	if a.That == nil {
		return modules.Result{}, modules.Raise(`conditional required in "that" string`)
	}
	failMsg := a.FailMsg
	if failMsg == nil {
		failMsg = a.Msg
	}
	failMsg, err := message(env, failMsg, "Assertion failed", "fail_msg", "fail_msg or msg")
	if err != nil {
		return modules.Result{}, err
	}
	success, err := message(env, a.Success, "All assertions passed", "success_msg", "success_msg")
	if err != nil {
		return modules.Result{}, err
	}
	data, marks := value.NewDict(), result.Marks{}
	if !modules.LenientBool(a.Quiet, false) {
		marks.Verbose = result.Yes
	}
	conditions, err := conditionsOf(ctx, env, a.That)
	if err != nil {
		return modules.Result{}, err
	}
	for _, that := range conditions {
		held, err := holds(ctx, env, that)
		if err != nil {
			return modules.Result{}, err
		}
		if held != nil {
			data.Put("evaluated_to", held)
			data.Put("assertion", that)
			data.Put("msg", failMsg)
			return modules.Result{Failed: true, Data: data, Marks: marks}, nil
		}
	}
	data.Put("msg", success)
	return modules.Result{Data: data, Marks: marks}, nil
}

// message checks the type of a message, a text or a list of texts: that of the argument name, which errors of level
// 2.14 call names.
func message(env *modules.Env, v value.Value, otherwise, name, names string) (value.Value, error) {
	if v == nil {
		return value.UnsafeStr(otherwise), nil
	}
	if value.IsText(v) {
		return v, nil
	}
	items, isList := value.Items(v)
	texts := isList && !slices.ContainsFunc(items, func(x value.Value) bool { return !value.IsText(x) })
	switch {
	case texts:
		return v, nil
	case env.Has(dialect.ModuleArguments):
		return nil, modules.ActionFail("",
			"argument '%s' is of type %s and we were unable to convert to str_or_list_of_str: a string or list of strings is "+
				"required",
			name, modules.PlainTypeName(v))
	case isList:
		return nil, modules.Raise("Type of one of the elements in %s list is not string type", names)
	}
	return nil, modules.Raise("Incorrect type for %s, expected a string or list and got %s", names, modules.TypeName(v))
}

// conditionsOf returns the conditions: a text may be a template that gives a list of them.
func conditionsOf(ctx context.Context, env *modules.Env, that value.Value) ([]value.Value, error) {
	if value.IsText(that) {
		v, err := env.Render(ctx, that)
		if err != nil {
			return nil, modules.Raise("%v", err)
		}
		that = v
	}
	if items, ok := value.Items(that); ok {
		return items, nil
	}
	return []value.Value{that}, nil
}

// holds evaluates one condition; nil if it holds, else what it came to.
func holds(ctx context.Context, env *modules.Env, that value.Value) (value.Value, error) {
	text, ok := value.Text(that)
	if !ok {
		if n, isNumber := value.AsFloat(that); isNumber && n == 0 {
			return that, nil
		}
		return nil, nil
	}
	if text == "" {
		return nil, nil
	}
	yes, err := env.Condition(ctx, that)
	if err != nil {
		return nil, modules.Raise("%v", err)
	}
	if !yes {
		return value.Bool(false), nil
	}
	return nil, nil
}
