package foreign

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

// pack makes a pack of one script.
func pack(t *testing.T, style, script string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	m, _ := json.Marshal(manifest{Style: style, Entry: "module", Version: "2.14.18"})
	for name, text := range map[string][]byte{"manifest.json": m, "module": []byte(script)} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// runPack runs a script as a foreign module in a home of its own, which must be empty afterwards.
func runPack(t *testing.T, style, script string, args map[string]any) (*value.Dict, []string) {
	t.Helper()
	home := t.TempDir()
	environ := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var warnings []string
	env := &modules.Env{
		Name: "mine", Environ: environ, Exec: modules.HostExec(environ, nil), Verbosity: 1, NoLog: true,
		Source: func(_ context.Context, dir, name string, _ bool) (*modules.Source, error) {
			if dir != SourceDir || name != "mine" {
				t.Errorf("asked for %s/%s", dir, name)
			}
			return &modules.Source{Digest: "d1"}, nil
		},
		Open: func(_ context.Context, digest string) (io.ReadCloser, error) {
			if digest != "d1" {
				t.Errorf("opened %s", digest)
			}
			return io.NopCloser(bytes.NewReader(pack(t, style, script))), nil
		},
		Warn: func(format string, _ ...any) { warnings = append(warnings, format) },
	}
	module := All()[0]
	given := modtest.Args(args)
	if err := module.Resolve(t.Context(), env, given); err != nil {
		t.Fatal(err)
	}
	res := module.Run(t.Context(), env, given).Dict()
	left, err := os.ReadDir(home + "/.ansible/tmp")
	if err != nil || len(left) != 0 {
		t.Errorf("left in the home: %v, %v", left, err)
	}
	return res, warnings
}

func TestStylesGetTheirArguments(t *testing.T) {
	cases := map[string]struct{ script, want string }{
		"old":       {"#!/bin/sh\n. \"$1\"\nprintf '{\"changed\": true, \"msg\": \"%s, %s, %s\"}' \"$name\" \"$_ansible_check_mode\" \"$_ansible_no_log\"\n", "it's you, False, True"},
		"want_json": {"#!/bin/sh\n# WANT_JSON\ngrep -o '\"name\": \"[^\"]*\"' \"$1\" | sed 's/.*:/{\"changed\": true, \"msg\": /; s/$/}/'\n", "it's you"},
		"json_args": {"#!/bin/sh\ncat <<'E' | grep -o '\"name\": \"[^\"]*\"' | sed 's/.*:/{\"changed\": true, \"msg\": /; s/$/}/'\n<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>\nE\n", "it's you"},
		"binary":    {"#!/bin/sh\ngrep -q '\"_ansible_version\": \"2.14.18\"' \"$1\" && echo '{\"changed\": true, \"msg\": \"versioned\"}'\n", "versioned"},
	}
	for style, c := range cases {
		t.Run(style, func(t *testing.T) {
			got, _ := runPack(t, style, c.script, map[string]any{"name": "it's you"})
			if diff := cmp.Diff(map[string]any{"changed": true, "msg": c.want}, modtest.Plain(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutputIsReadAsAnsibleReadsIt(t *testing.T) {
	cases := map[string]struct {
		script, want string
		warns        bool
	}{
		"junk around":   {`echo hello; echo '{"changed": false, "n": 1, "f": 1.0}'; echo bye`, `{"changed":false,"n":1,"f":1.0}`, true},
		"several lines": {`printf '{"a":\n [1,\n2]\n}\n'`, `{"a":[1,2],"changed":false}`, false},
		"internals":     {`printf '%s' '{"invocation": {"module_args": {}}, "_ansible_x": 1, "stdout": "a\nb"}'`, `{"stdout":"a\nb","changed":false}`, false},
		"interpreters": {
			`echo '{"ansible_facts": {"discovered_interpreter_x": 1, "ansible_discovered_interpreter_y": 2, "my_interpreter": 3}}'`,
			`{"ansible_facts":{"my_interpreter":3},"changed":false}`, false,
		},
		"not numbers": {`echo '{"a": NaN, "b": [-Infinity, "NaN", Infinity]}'; exit 0`, `{"a":"nan","b":["-inf","NaN","inf"],"changed":false}`, false},
		"types": {
			`echo '{"warnings": [{"event": {"msg": "careful", "__ansible_type": "Event"}, "__ansible_type": "WarningSummary"}], ` +
				`"deprecations": [{"event": {"msg": "old"}, "deprecator": {"resolved_name": "a.b", "type": {"value": "module", "__ansible_type": "PluginType"}, ` +
				`"__ansible_type": "PluginInfo"}, "version": "9.9", "__ansible_type": "DeprecationSummary"}], "n": [{"value": 3, "tags": [], "__ansible_type": "_AnsibleTaggedInt"}]}'`,
			`{"warnings":["careful"],"deprecations":[{"msg":"old","collection_name":"a.b","version":"9.9","deprecator":{"resolved_name":"a.b","type":"module"}}],` +
				`"n":[3],"changed":false}`, false,
		},
		"raised": {
			`echo '{"failed": true, "exception": {"event": {"msg": "dead.", "formatted_traceback": "T2", "chain": {"msg_reason": "m", "traceback_reason": "Because:", ` +
				`"event": {"msg": "lost", "formatted_traceback": "T1"}}}, "__ansible_type": "ErrorSummary"}}'`,
			`{"failed":true,"exception":"T1\nBecause:\n\nT2","msg":"Task failed: Module failed: dead: lost","changed":false}`, false,
		},
		"failed":    {`echo '{"failed": true, "msg": "no"}'; exit 3`, `{"failed":true,"msg":"no","changed":false}`, false},
		"nothing":   {`echo oops >&2; exit 3`, `{"module_stdout":"","module_stderr":"oops\n","rc":3,"failed":true,"msg":"MODULE FAILURE\nSee stdout/stderr for the exact error","changed":false}`, false},
		"traceback": {`echo Traceback >&2; exit 1`, `{"module_stdout":"","module_stderr":"Traceback\n","rc":1,"exception":"Traceback\n","failed":true,"msg":"MODULE FAILURE\nSee stdout/stderr for the exact error","changed":false}`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			res, warnings := runPack(t, "old", "#!/bin/sh\n"+c.script+"\n", map[string]any{})
			got := value.PlainJSON(res)
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if (len(warnings) > 0) != c.warns {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
}

func TestArgumentsKeepTheirKinds(t *testing.T) {
	given := map[string]any{"f": 2.0, "i": int64(2), "n": math.NaN(), "m": math.Inf(-1), "l": []any{1.0}, "o": value.DictOf("x", 1.0)}
	got, _ := runPack(t, "want_json", "#!/bin/sh\n# WANT_JSON\nprintf '{\"changed\": false, \"msg\": \"'; grep -o '\"[a-z]\": [^,}]*' \"$1\" | tr -d '\"\\n'; echo '\"}'\n", given)
	if want := "f: 2.0i: 2l: [1.0]m: -Infinityn: NaNo: {x: 1.0"; got.Text("msg") != want {
		t.Errorf("got %v, want %s", got.Text("msg"), want)
	}
}

func TestMissingInterpreterIsNamed(t *testing.T) {
	res, _ := runPack(t, "old", "#!/no/such/interpreter\n", map[string]any{})
	if msg := res.Text("msg"); !strings.Contains(msg, "you probably need to set the interpreter") {
		t.Errorf("result %v", res)
	}
}

// TestBrokenModulesAreToldInTheWordsOfTheirAnsible: since 2.19 a module that prints no result has another message.
func TestBrokenModulesAreToldInTheWordsOfTheirAnsible(t *testing.T) {
	for _, tc := range []struct {
		out          modules.Output
		older, newer string
	}{
		{modules.Output{Stdout: []byte("hello")}, "MODULE FAILURE\nSee stdout/stderr for the exact error", "Module result deserialization failed: No start of json char found"},
		{modules.Output{Stdout: []byte("{\"a\": 1")}, "MODULE FAILURE\nSee stdout/stderr for the exact error", "Module result deserialization failed: No end of json char found"},
		{modules.Output{Rc: 127, Stderr: []byte("/bin/sh: 1: /no/python: not found")},
			"The module failed to execute correctly, you probably need to set the interpreter.\nSee stdout/stderr for the exact error", "The module interpreter '/no/python' was not found."},
	} {
		for _, now := range []struct {
			internals []string
			want      string
		}{{nil, tc.older}, {[]string{"tracebacks_for"}, tc.newer}} {
			c := &call{env: &modules.Env{}, program: "/no/python", m: manifest{Internals: now.internals}}
			if r := c.result(tc.out); r.Msg != now.want || !r.Failed || Broken(r.Msg) != "" != (now.internals != nil) {
				t.Errorf("%s: %q (%q), want %q", tc.out.Stdout, r.Msg, Broken(r.Msg), now.want)
			}
		}
	}
}
