package filters

import (
	"strings"

	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// is makes a test without arguments of a question about the value.
func is(f func(v value.Value) bool) jinja.Test {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) { return f(in), nil }
}

// compares makes a test of an operator, with the name of its function in Python.
func compares(op, fn string) jinja.Test {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		switch {
		case len(args.Kw) > 0:
			return false, value.TypeErrorf("_operator.%s() takes no keyword arguments", fn)
		case len(args.Pos) != 1:
			return false, value.TypeErrorf("%s expected 2 arguments, got %d", fn, 1+len(args.Pos))
		}
		return jinja.CompareOp(op, in, args.Pos[0])
	}
}

func within(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
	a, err := args.Bind("test_in", value.Req("seq"))
	if err != nil {
		return false, err
	}
	return jinja.CompareOp("in", in, a[0])
}

// jinjaTests are Jinja's tests.
func jinjaTests() map[string]jinja.Test {
	return map[string]jinja.Test{
		"defined":   is(func(v value.Value) bool { _, undefined := v.(*value.Undefined); return !undefined }),
		"undefined": is(func(v value.Value) bool { _, undefined := v.(*value.Undefined); return undefined }),
		"none":      is(value.IsNone),
		"string":    is(value.IsText),
		"mapping":   is(value.IsMapping),
		"number":    is(value.IsNumber),
		"boolean":   is(func(v value.Value) bool { _, ok := v.(value.Bool); return ok }),
		"true":      is(func(v value.Value) bool { return v == value.Value(value.Bool(true)) }),
		"false":     is(func(v value.Value) bool { return v == value.Value(value.Bool(false)) }),
		"iterable":  iterable,
		"sequence":  sequence,
		"in":        within,
		"eq":        compares("==", "eq"), "equalto": compares("==", "eq"), "==": compares("==", "eq"),
		"ne": compares("!=", "ne"), "!=": compares("!=", "ne"),
		"lt": compares("<", "lt"), "lessthan": compares("<", "lt"), "<": compares("<", "lt"),
		"le": compares("<=", "le"), "<=": compares("<=", "le"),
		"gt": compares(">", "gt"), "greaterthan": compares(">", "gt"), ">": compares(">", "gt"),
		"ge": compares(">=", "ge"), ">=": compares(">=", "ge"),
	}
}

func iterable(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
	_, err := value.Elements(in)
	if _, strict := err.(*value.UndefinedError); strict {
		return false, err
	}
	return err == nil, nil
}

func sequence(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
	_, err := value.Len(in) // any failure says no, that of an undefined value too
	return err == nil, nil
}

// ansibleTests are Ansible's tests.
func ansibleTests() map[string]jinja.Test {
	return map[string]jinja.Test{
		"match":           regexTest("match"),
		"search":          regexTest("search"),
		"regex":           regexTest("regex"),
		"version":         versionTest,
		"version_compare": versionTest,
	}
}

// regexTest returns one of Python's ways to match. The test regex is told which one to use.
func regexTest(kind string) jinja.Test {
	fn, params := kind, []value.Param{value.Opt("pattern", value.Str("")), value.Opt("ignorecase", value.Bool(false)),
		value.Opt("multiline", value.Bool(false))}
	if kind == "regex" {
		params = append(params, value.Opt("match_type", value.Str("search")))
	}
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		a, err := args.Bind(fn, params...)
		if err != nil {
			return false, err
		}
		s, err := value.ToStr(in)
		if err != nil {
			return false, err
		}
		way := kind
		if kind == "regex" {
			if way, err = value.ToStr(a[3]); err != nil {
				return false, err
			}
		}
		anchor, known := map[string]pyre.Anchor{"search": pyre.Anywhere, "match": pyre.AtStart, "fullmatch": pyre.Whole}[way]
		if !known {
			return false, value.TypeErrorf("'str' object is not callable")
		}
		re, err := compileRegex(a[0], a[1], a[2], anchor)
		if err != nil {
			return false, err
		}
		return re.Matches(s)
	}
}

// resultTests returns the tests of results of tasks. Errors name the test that does the work.
func resultTests() map[string]jinja.Test {
	no := func(f func(value.Value) (bool, error)) func(value.Value) (bool, error) {
		return func(d value.Value) (bool, error) { ok, err := f(d); return !ok, err }
	}
	tests := map[string]jinja.Test{}
	for _, t := range []struct {
		names string
		fails string
		test  func(value.Value) (bool, error)
	}{
		{"failed failure", "failed", flag("failed")},
		{"succeeded success successful", "failed", no(flag("failed"))},
		{"changed change", "changed", changed},
		{"skipped skip", "skipped", flag("skipped")},
		{"started", "started", flagOr("started", true)},
		{"finished", "finished", flagOr("finished", true)},
		{"unreachable", "unreachable", flag("unreachable")},
		{"reachable", "unreachable", no(flag("unreachable"))},
		{"timedout", "timedout", timedOut},
	} {
		for _, name := range strings.Fields(t.names) {
			tests[name] = resultTest(t.fails, t.test)
		}
	}
	return tests
}

func resultTest(name string, f func(value.Value) (bool, error)) jinja.Test {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
		if !value.IsMapping(in) {
			return false, value.FilterErrorf("The '%s' test expects a dictionary", name)
		}
		return f(in)
	}
}

func flag(name string) func(value.Value) (bool, error) {
	return func(d value.Value) (bool, error) {
		v, ok, err := value.Item(d, value.Str(name))
		if !ok || err != nil {
			return false, err
		}
		return value.Truth(v)
	}
}

// timedOut looks at what a task says of its timeout.
func timedOut(d value.Value) (bool, error) {
	v, ok, err := value.Item(d, value.Str("timedout"))
	if !ok || err != nil {
		return false, err
	}
	if given, err := value.Truth(v); err != nil || !given {
		return false, err
	}
	if !value.IsMapping(v) {
		return false, value.Errorf("AttributeError", "'%s' object has no attribute 'get'", v.Type())
	}
	return flag("period")(v)
}

func changed(d value.Value) (bool, error) {
	if _, ok, err := value.Item(d, value.Str("changed")); ok || err != nil {
		return flag("changed")(d)
	}
	v, ok, err := value.Item(d, value.Str("results"))
	if !ok || err != nil {
		return false, err
	}
	items, err := value.Elements(v)
	if err != nil {
		return false, nil
	}
	for _, item := range items {
		if ok, err := flag("changed")(item); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
