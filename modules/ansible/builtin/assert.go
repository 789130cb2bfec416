package builtin

import (
	"context"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/py/value"
	"hark/modules/result"
)

// Assert fails unless all its conditions hold.
var Assert = modules.Define("ansible.builtin.assert", "Asserts given expressions are true.", runAssert, modules.IsPure,
	modules.With(func(m *modules.Module) {
		m.AnyArgs, m.Unrendered, m.Bare = true, []string{"that"}, []string{"that"}
		m.Examples = "- ansible.builtin.assert:\n    that: [\"memory > 512\", \"'web' in group_names\"]\n    fail_msg: This host is too small\n"
	}))

type assertArgs struct {
	That    any            `arg:"that" doc:"A condition or a list of them, as in when."`
	FailMsg any            `arg:"fail_msg" doc:"Message if one does not hold; a text or a list."`
	Msg     any            `arg:"msg" doc:"The same."`
	Success any            `arg:"success_msg" doc:"Message if all hold; a text or a list."`
	Quiet   any            `arg:"quiet" doc:"Show no result."`
	Extra   map[string]any `arg:"*"`
}

func runAssert(ctx context.Context, env *modules.Env, a assertArgs) (modules.Result, error) {
	if err := action.ValidOptions(env, a.Extra); err != nil {
		return modules.Result{}, err
	}
	if a.That == nil {
		return modules.Result{}, modules.Raise(`conditional required in "that" string`)
	}
	failMsg := a.FailMsg
	if failMsg == nil {
		failMsg = a.Msg
	}
	failMsg, err := message(failMsg, "Assertion failed", "fail_msg or msg", "fail_msg or msg list")
	if err != nil {
		return modules.Result{}, err
	}
	success, err := message(a.Success, "All assertions passed", "success_msg", "success_msg list")
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

// message checks the type of a message: a text or a list of texts.
func message(v any, otherwise, name, listName string) (any, error) {
	switch m := v.(type) {
	case nil:
		return otherwise, nil
	case string:
		return m, nil
	case []any:
		for _, x := range m {
			if _, ok := x.(string); !ok {
				return nil, modules.Raise("Type of one of the elements in %s is not string type", listName)
			}
		}
		return m, nil
	}
	return nil, modules.Raise("Incorrect type for %s, expected a string or list and got %s", name, modules.TypeName(v))
}

// conditionsOf are the conditions: a text may be a template that gives a list of them.
func conditionsOf(ctx context.Context, env *modules.Env, that any) ([]any, error) {
	if text, ok := that.(string); ok {
		v, err := env.Render(ctx, text, nil)
		if err != nil {
			return nil, modules.Raise("%v", err)
		}
		that = v
	}
	if list, ok := that.([]any); ok {
		return list, nil
	}
	return []any{that}, nil
}

// holds evaluates one condition; nil if it holds, else what it came to.
func holds(ctx context.Context, env *modules.Env, that any) (any, error) {
	text, ok := that.(string)
	if !ok {
		switch v := that.(type) {
		case bool:
			if !v {
				return false, nil
			}
		case int64:
			if v == 0 {
				return v, nil
			}
		case float64:
			if v == 0 {
				return v, nil
			}
		}
		return nil, nil
	}
	if text == "" {
		return nil, nil
	}
	yes, err := env.Condition(ctx, text)
	if err != nil {
		return nil, modules.Raise("%v", err)
	}
	if !yes {
		return false, nil
	}
	return nil, nil
}
