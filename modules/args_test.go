package modules

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

type sub struct {
	Flags []string `arg:"flags"`
	Count int      `arg:"count,default=2"`
	Kind  string   `arg:"kind,choices=a|b"`
}

type common struct {
	Attributes *string `arg:"attributes,alias=attr"`
}

type argsUnderTest struct {
	Path   string      `arg:"path,required,type=path,alias=dest|name"`
	State  string      `arg:"state,default=file,choices=file|absent|touch"`
	Follow bool        `arg:"follow,default=no"`
	Depth  *int        `arg:"depth"`
	Names  []string    `arg:"names" default:"a,b"`
	Ratio  float64     `arg:"ratio"`
	Opts   sub         `arg:"opts"`
	List   []sub       `arg:"list"`
	Env    *value.Dict `arg:"env"`
	Mode   value.Value `arg:"mode"`
	Pass   string      `arg:"password,nolog"`
	Peek   bool        `arg:"peek,hidden"`
	common
}

func define(opts ...Option) *Module {
	return Define("ansible.builtin.probe", "A probe.", func(_ context.Context, _ *Env, a argsUnderTest) (Result, error) {
		return Result{Data: value.DictOf("echo", "got "+a.Pass, "a", a.Depth != nil)}, nil
	}, opts...)
}

// dictOf are arguments sorted by their names.
func dictOf(args map[string]any) *value.Dict { return plainly(args).(*value.Dict) }

func TestArgumentsKeepTheirOrder(t *testing.T) {
	var got *value.Dict
	type args struct {
		Opts *value.Dict `arg:"opts"`
		Rest *value.Dict `arg:"*"`
	}
	m := Define("a.b.c", "", func(_ context.Context, _ *Env, a args) (Result, error) {
		got = value.DictOf("rest", a.Rest, "opts", a.Opts)
		return Result{}, nil
	}, With(func(m *Module) { m.AnyArgs = true }))
	given := value.DictOf("z", 1, "opts", value.DictOf("y", 2, "x", []any{value.DictOf("b", 3, "a", 4)}), "c", 5)
	res := m.Run(t.Context(), &Env{Invocation: true}, given)
	if want := "{'rest': {'z': 1, 'c': 5}, 'opts': {'y': 2, 'x': [{'b': 3, 'a': 4}]}}"; Repr(got) != want {
		t.Errorf("%s, want %s", Repr(got), want)
	}
	if want := "{'z': 1, 'opts': {'y': 2, 'x': [{'b': 3, 'a': 4}]}, 'c': 5}"; Repr(res.Invocation) != want {
		t.Errorf("invocation %s, want %s", Repr(res.Invocation), want)
	}
	if want := 3; given.Len() != want {
		t.Errorf("the arguments that were handed in became %s", Repr(given))
	}
}

func TestFieldsThatAreNoValuesOfArgumentsAreMistakes(t *testing.T) {
	for name, declare := range map[string]func() []Param{
		"any": paramsOf[struct {
			X any `arg:"x"`
		}],
		"map[string]any": paramsOf[struct {
			X map[string]any `arg:"x"`
		}],
		"chan": paramsOf[struct {
			X chan int `arg:"x"`
		}],
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a field of type %s passes", name)
				}
			}()
			declare()
		}()
	}
}

func TestTextIsReadAsDictionary(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`:                              `{'a': 1}`,
		`{'a': None, 3: (1, -2.5), 'b': b'x',}`: `{'a': None, '3': [1, -2.5], 'b': 'x'}`,
		`{'a': {'b': [True, u'\u00e9']}}`:       `{'a': {'b': [True, 'é']}}`,
		`{}`:                                    `{}`,
		`a=1, b='2 3'`:                          `{'a': '1', 'b': '2 3'}`,
		`{'a': foo}`:                            "unable to evaluate string as dictionary",
		`{'a': f.x(1)}`:                         "unable to evaluate string as dictionary",
		`{'a', 'b'}`:                            "unable to evaluate string as dictionary",
		`{['a']: 1}`:                            "unable to evaluate string as dictionary",
		`{'a': 1`:                               "unable to evaluate string as dictionary",
		`a`:                                     "dictionary requested, could not parse JSON or key=value",
	} {
		v, err := coerce("dict", value.Str(text), Reading{})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = Repr(v)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestMessagesOfWrongArgumentsAreAnsibles(t *testing.T) {
	m := define(WithRules(Rules{
		Exclusive: [][]string{{"depth", "ratio"}},
		Together:  [][]string{{"env", "mode"}},
		If:        []RequiredIf{{Param: "state", Value: "touch", Names: []string{"mode"}}},
		By:        map[string][]string{"ratio": {"env"}},
	}))
	type args = map[string]any
	for _, c := range []struct {
		args args
		want string
	}{
		{args{}, "missing required arguments: path"},
		{args{"path": "x", "state": "foo"}, "value of state must be one of: file, absent, touch, got: foo"},
		{args{"path": "x", "state": nil}, "value of state must be one of: file, absent, touch, got: None"},
		{args{"path": "x", "state": true}, "value of state must be one of: file, absent, touch, got: True"},
		{args{"path": "x", "depth": "y"},
			"argument 'depth' is of type <class 'str'> and we were unable to convert to int: <class 'str'> cannot be " +
				"converted to an int"},
		{args{"path": "x", "depth": 2.5},
			"argument 'depth' is of type <class 'float'> and we were unable to convert to int: <class 'float'> cannot be " +
				"converted to an int"},
		{args{"path": "x", "names": args{"a": 1}},
			"argument 'names' is of type <class 'dict'> and we were unable to convert to list: <class 'dict'> cannot be " +
				"converted to a list"},
		{args{"path": "x", "env": "abc"},
			"argument 'env' is of type <class 'str'> and we were unable to convert to dict: dictionary requested, could not " +
				"parse JSON or key=value"},
		{args{"path": "x", "foo": 1, "bar": 2},
			"Unsupported parameters for (probe) module: bar, foo. Supported parameters include: attributes, depth, env, " +
				"follow, list, mode, names, opts, password, path, ratio, state (attr, dest, name)."},
		{args{"path": "x", "depth": 1, "ratio": 2}, "parameters are mutually exclusive: depth|ratio"},
		{args{"path": "x", "env": "a=b"}, "parameters are required together: env, mode"},
		{args{"path": "x", "state": "touch"}, "state is touch but all of the following are missing: mode"},
		{args{"path": "x", "ratio": 1}, "missing parameter(s) required by 'ratio': env"},
		{args{"path": "x", "opts": args{"kind": "z"}}, "value of kind must be one of: a, b, got: z found in opts"},
		{args{"path": "x", "opts": args{"cnt": 1}},
			"Unsupported parameters for (probe) module: opts.cnt. Supported parameters include: count, flags, kind."},
		{args{"path": "x", "list": []any{"x"}}, "dictionary requested, could not parse JSON or key=value"},
		{args{"path": "x", "opts": []any{int64(1)}}, "Value '1' in the sub parameter field 'opts' must by a dict, not 'int'"},
		{args{"path": "x", "names": []any{args{}}, "list": nil, "env": []any{}},
			"argument 'env' is of type <class 'list'> and we were unable to convert to dict: <class 'list'> cannot be " +
				"converted to a dict"},
		{args{"path": "x", "follow": "maybe"},
			"argument 'follow' is of type <class 'str'> and we were unable to convert to bool: The value 'maybe' is not a " +
				"valid boolean.  Valid booleans include: 0, 1, '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', " +
				"'yes'"},
	} {
		_, err := m.Parse("probe", dictOf(c.args), Reading{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v:\n got %v\nwant %s", c.args, err, c.want)
		}
	}
}

func TestArgumentsAreConvertedAsAnsibleDoes(t *testing.T) {
	m := define()
	p, err := m.Parse("probe", value.DictOf(
		"name", "~/a/$B", "follow", "Yes", "depth", " 12 ", "names", "x, y", "ratio", 2,
		"opts", value.DictOf("flags", 3), "env", "B='2 3' A=1", "mode", 420,
	), Reading{Environ: []string{"HOME=/home/u", "B=b"}})
	if err != nil {
		t.Fatal(err)
	}
	var a argsUnderTest
	if err := fill(m.Params(), p.Params, reflect.ValueOf(&a).Elem()); err != nil {
		t.Fatal(err)
	}
	depth := 12
	want := argsUnderTest{Path: "/home/u/a/b", State: "file", Follow: true, Depth: &depth, Names: []string{"x", " y"},
		Ratio: 2,
		Opts:  sub{Flags: []string{"3"}, Count: 2}, Env: value.DictOf("B", "2 3", "A", "1"), Mode: value.Int(420)}
	if d := cmp.Diff(want, a, cmp.AllowUnexported(argsUnderTest{}, common{}, value.Dict{})); d != "" {
		t.Error(d)
	}
}

func TestNumbersOfJSONArgumentsStayInts(t *testing.T) {
	got, err := coerce("dict", value.Str(`{"b": [2.5, 9007199254740993], "a": 1.0, "c": 18446744073709551616}`), Reading{})
	if want := "{'b': [2.5, 9007199254740993], 'a': 1.0, 'c': 18446744073709551616}"; err != nil || Repr(got) != want {
		t.Errorf("%v, %v", Repr(got), err)
	}
}

func TestSecretsDoNotLeaveTheModule(t *testing.T) {
	res := define().Run(t.Context(), &Env{Verbosity: 3}, value.DictOf("path", "x", "password", "hush"))
	if res.Data.Text("echo") != "got ********" {
		t.Errorf("echo is %v", res.Data.Text("echo"))
	}
	if res.Invocation.Text("password") != Censored {
		t.Errorf("invocation shows %v", res.Invocation.Text("password"))
	}
	if res.Invocation.Has("peek") {
		t.Error("invocation shows a hidden argument")
	}
	if v, ok := res.Invocation.Get("mode"); !ok || !value.IsNone(v) {
		t.Error("invocation lacks an argument that was not given")
	}
}

func TestSecretsAreHiddenInAllThatModulesSay(t *testing.T) {
	type secret struct {
		Pass string `arg:"password,nolog"`
	}
	var warned []string
	env := &Env{Warn: func(format string, a ...any) { warned = append(warned, fmt.Sprintf(format, a...)) }}
	run := func(f func(*Env, string) Result) string {
		m := Define("a.b.c", "", func(_ context.Context, env *Env, a secret) (Result, error) { return f(env, a.Pass), nil })
		warned = nil
		res := m.Run(t.Context(), env, value.DictOf("password", "hush"))
		return fmt.Sprintf("%+v %q", res, warned)
	}
	for name, said := range map[string]string{
		"warning": run(func(env *Env, p string) Result { env.Warn("%d%% of %s", 5, p); return Result{} }),
		"panic":   run(func(_ *Env, p string) Result { panic("no " + p) }),
		"diff": run(func(_ *Env,
			p string) Result {
			return Result{Diff: []Diff{{BeforeHeader: p, AfterHeader: "not " + p}}}
		}),
		"deprecation": run(func(_ *Env, p string) Result {
			return Result{Deprecations: []map[string]any{{"msg": p + " is old", "version": "2.20"}}}
		}),
	} {
		if strings.Contains(said, "hush") || !strings.Contains(said, "********") && !strings.Contains(said, Censored) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestSecretsAreToldAt222: whoever shows the result hides them then.
func TestSecretsAreToldAt222(t *testing.T) {
	type secret struct {
		Pass string `arg:"password,nolog"`
	}
	m := Define("a.b.c", "", func(_ context.Context, _ *Env, a secret) (Result, error) {
		return Result{Msg: "with " + a.Pass, Failed: true}, nil
	})
	for release, want := range map[Release]string{
		dialect.Level221: `{"failed":true,"msg":"with ********","changed":false}`,
		dialect.Level222: `{"failed":true,"msg":"with hush","changed":false,"_ansible_new_secrets":["hush"]}`,
	} {
		res := m.Run(t.Context(), &Env{Release: release}, value.DictOf("password", "hush"))
		if got := string(value.PlainJSON(res.Dict())); got != want {
			t.Errorf("%s: %s", release, got)
		}
	}
}

func TestBothNamesOfAnArgumentWarn(t *testing.T) {
	res := define().Run(t.Context(), &Env{}, value.DictOf("path", "x", "dest", "y"))
	if len(res.Warnings) != 1 || res.Warnings[0] != "Both option path and its alias dest are set." {
		t.Errorf("warnings: %q", res.Warnings)
	}
}

func TestRegistryKnowsShortAndLegacyNames(t *testing.T) {
	r := NewRegistry(define(),
		Define("community.general.ini_file", "", func(context.Context, *Env, struct{}) (Result, error) {
			return Result{}, nil
		}))
	for name, want := range map[string]string{
		"probe": "ansible.builtin.probe", "ansible.legacy.probe": "ansible.builtin.probe",
		"ini_file":                 "community.general.ini_file",
		"ansible.builtin.ini_file": "community.general.ini_file", "nothing": "nothing", "a.b.probe": "a.b.probe",
	} {
		if got := r.FullName(name); got != want {
			t.Errorf("FullName(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzCoerceNeverPanics(f *testing.F) {
	f.Add("a=b 'c", "1K")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, kind := range []string{"str", "path", "bool", "int", "float", "list", "dict", "jsonarg", "bytes", "bits",
			"raw"} {
			for _, v := range []any{a, b, []any{a}, map[string]any{a: b}} {
				if _, err := coerce(kind, plainly(v), Reading{Environ: []string{"HOME=/"}}); err != nil && err.Error() == "" {
					t.Errorf("%s of %q: empty error", kind, v)
				}
			}
		}
	})
}

func TestArgumentsOfLevel219(t *testing.T) {
	m := define()
	type args = map[string]any
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "x", "depth": "y"},
			"argument 'depth' is of type str and we were unable to convert to int: \"'y'\" cannot be converted to an int"},
		{args{"path": "x", "depth": 2.5},
			"argument 'depth' is of type float and we were unable to convert to int: \"2.5\" cannot be converted to an int"},
		{args{"path": "x", "names": args{"a": 1}},
			"argument 'names' is of type dict and we were unable to convert to list: <class 'dict'> cannot be converted to a " +
				"list"},
		{args{"path": "x", "follow": "maybe"},
			"argument 'follow' is of type str and we were unable to convert to bool: The value 'maybe' is not a valid " +
				"boolean. Valid booleans include: 0, 1, '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"},
	} {
		_, err := m.Parse("probe", dictOf(c.args), Reading{Release: dialect.Level219})
		if err == nil || err.Error() != c.want {
			t.Errorf("%v:\n got %v\nwant %s", c.args, err, c.want)
		}
	}
	p, err := m.Parse("probe", dictOf(args{"path": "x", "depth": "2.0"}), Reading{Release: dialect.Level219})
	if err != nil {
		t.Fatal(err)
	}
	if depth := Argument(p.Params, "depth"); depth != value.Int(2) {
		t.Errorf("2.0 is %v", depth)
	}
}
