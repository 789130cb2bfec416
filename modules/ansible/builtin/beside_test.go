package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

var (
	besideLive = flag.Bool("beside", false, "play the cases of TestRequestsAreAnsibles beside the installed ansible-core")
	besideKeep = flag.Bool("beside-record", false, "as -beside, and write down what ansible-core answers")
	besideKept = flag.Bool("beside-accept", false, "write down how the accepted calls differ now: read it before you commit it")
)

// besideCase is a call of uri or get_url: what is given, and the environment.
type besideCase struct {
	name, module string
	args         map[string]any
	env          map[string]string
	// twice makes the call once before the one that counts.
	twice bool
}

// httpOutcome is what a call gave: its result, and what the server was asked.
type httpOutcome struct {
	Result   map[string]any `json:"result"`
	Requests []string       `json:"requests"`
}

// TestRequestsAreAnsibles makes calls of uri and get_url to a hostile server, and compares results and requests with
// those of ansible-core 2.14: of testdata/beside/answers.json, or of the installed one (-beside).
// testdata/beside/accepted.txt has the differences that are kept, with their reasons: each must be as it is there.
func TestRequestsAreAnsibles(t *testing.T) {
	answers := map[string]httpOutcome{}
	file := filepath.Join("testdata", "beside", "answers.json")
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &answers); err != nil {
			t.Fatal(err)
		}
	}
	accepted := acceptedDifferences(t)
	dir := t.TempDir()
	s := startHostile(t, dir)
	var real httpCaller
	if *besideLive || *besideKeep {
		real = realCall(modtest.StartPython(t))
	}
	count := 0
	for _, c := range besideCases() {
		if strings.Contains(fmt.Sprint(c.args), "{http6}") && s.names["http6"] == "" {
			continue // no IPv6 here
		}
		count++
		t.Run(c.name, func(t *testing.T) {
			if real != nil {
				answers[c.name] = s.play(t, dir, c, real)
			}
			want, ok := answers[c.name]
			if !ok {
				t.Fatal("no answer of ansible-core is written down: -beside-record")
			}
			got := s.play(t, dir, c, ourCall)
			diff := differences(want, got)
			kept := accepted[strings.ReplaceAll(c.name, " ", "_")]
			if kept != nil && *besideKept {
				kept.differs = diff
			}
			if kept != nil && len(diff) == 0 {
				t.Errorf("is equal now: take it out of accepted.txt (%s)", kept.why)
			}
			if kept != nil {
				if d := cmp.Diff(kept.differs, diff); d != "" {
					t.Errorf("it differs in another way than the accepted one, %s (- accepted, + now):\n%s", kept.why, d)
				}
				return
			}
			for _, d := range diff {
				t.Error(d)
			}
		})
	}
	for name, kept := range accepted {
		if kept.why == "" || kept.differs == nil {
			t.Errorf("accepted.txt: %s has no reason, or nothing that differs", name)
		}
	}
	t.Logf("%d calls, %d accepted differences", count, len(accepted))
	if *besideKept {
		writeAccepted(t, accepted)
	}
	if *besideKeep {
		text, err := json.MarshalIndent(answers, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// acceptedCall is a call that differs: why, and in what.
type acceptedCall struct {
	why     string
	differs []string
}

// acceptedFile has a line for each call that differs, "name | reason", and after it the differences, a line each.
var acceptedFile = filepath.Join("testdata", "beside", "accepted.txt")

func acceptedDifferences(t *testing.T) map[string]*acceptedCall {
	text, err := os.ReadFile(acceptedFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*acceptedCall{}
	var last *acceptedCall
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if difference, ok := strings.CutPrefix(line, "\t"); ok && last != nil {
			last.differs = append(last.differs, difference)
			continue
		}
		name, why, ok := strings.Cut(line, " | ")
		if ok && !strings.HasPrefix(name, "#") {
			last = &acceptedCall{why: why}
			out[name] = last
		}
	}
	return out
}

func writeAccepted(t *testing.T, accepted map[string]*acceptedCall) {
	var b strings.Builder
	b.WriteString("# Calls that differ from ansible-core 2.14, and why: name | reason. -beside-accept writes what differs.\n")
	for _, name := range slices.Sorted(maps.Keys(accepted)) {
		fmt.Fprintf(&b, "%s | %s\n", name, accepted[name].why)
		for _, d := range accepted[name].differs {
			fmt.Fprintf(&b, "\t%s\n", d)
		}
	}
	if err := os.WriteFile(acceptedFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// httpCaller makes a call and returns the module's result as JSON.
type httpCaller func(t *testing.T, c besideCase, dir string) map[string]any

// play makes the call in an empty directory.
func (s *hostileServer) play(t *testing.T, dir string, c besideCase, call httpCaller) httpOutcome {
	t.Helper()
	work := filepath.Join(dir, "area")
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{work, filepath.Join(work, "into"), filepath.Join(work, "home")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"old": "old\n", "body.txt": "a body\n",
		"home/.netrc": "machine 127.0.0.1 login me password sesame\n", "nokey.pem": "no certificate\n"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	filled := c
	filled.args = map[string]any{}
	text, _ := json.Marshal(c.args)
	if err := json.Unmarshal([]byte(s.fill(string(text))), &filled.args); err != nil {
		t.Fatal(err)
	}
	filled.env = map[string]string{"HOME": filepath.Join(work, "empty"), "PATH": os.Getenv("PATH"), "LC_ALL": "C.UTF-8", "SSL_CERT_FILE": filepath.Join(work, "none")}
	for k, v := range c.env {
		filled.env[k] = s.fill(v)
	}
	if c.twice {
		call(t, filled, work)
	}
	s.requests()
	res := call(t, filled, work)
	out := httpOutcome{Result: s.plain(res), Requests: []string{}}
	for _, r := range s.requests() {
		out.Requests = append(out.Requests, volatileText().ReplaceAllString(s.empty(r), ""))
	}
	files, _ := filepath.Glob(filepath.Join(work, "into", "*"))
	for _, f := range append(files, filepath.Join(work, "new"), filepath.Join(work, "old")) {
		if text, err := os.ReadFile(f); err == nil {
			out.Result["file "+s.empty(f)] = fmt.Sprintf("%q", text)
		}
	}
	return out
}

// plain takes out of a result what differs from run to run.
func (s *hostileServer) plain(res map[string]any) map[string]any {
	for _, key := range []string{"invocation", "elapsed", "src", "exception", "warnings", "deprecations", "size", "uid", "gid", "owner", "group", "date"} {
		delete(res, key)
	}
	text, _ := json.Marshal(res)
	var out map[string]any
	_ = json.Unmarshal([]byte(volatileText().ReplaceAllString(s.empty(string(text)), "")), &out)
	if out == nil {
		out = map[string]any{"unreadable": string(text)}
	}
	return out
}

var volatileText = func() func() *regexp.Regexp {
	re := regexp.MustCompile(`\.\d+\.\d{4}-\d\d-\d\d@[\d:]+~|(?i)if-modified-since: [^|]*| ?\(_ssl\.c:\d+\)|ansible-moduletmp-[^/]*/tmp\w+|\.hark-\d+-|boundary=\S+|--+[=0-9a-f]{15,}[-=]*`)
	return func() *regexp.Regexp { return re }
}()

// differences says what differs, a line each.
func differences(want, got httpOutcome) []string {
	var out []string
	if want.Result["crash"] != nil { // the module failed to fail
		if got.Result["failed"] != true {
			all, _ := json.Marshal(got)
			return []string{fmt.Sprintf("it did not fail: %s, want %v", brief(all), want.Result["crash"])}
		}
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(merged(want.Result, got.Result))) {
		w, _ := json.Marshal(want.Result[key])
		g, _ := json.Marshal(got.Result[key])
		if key == "changed" {
			w, g = []byte(fmt.Sprint(want.Result[key] == true)), []byte(fmt.Sprint(got.Result[key] == true))
		}
		if string(w) != string(g) {
			out = append(out, fmt.Sprintf("%s: %s, want %s", key, brief(g), brief(w)))
		}
	}
	w, _ := json.Marshal(want.Requests)
	if g, _ := json.Marshal(got.Requests); string(w) != string(g) {
		out = append(out, fmt.Sprintf("requests: %s, want %s", brief(g), brief(w)))
	}
	return out
}

// brief shortens what is long, so that it still differs if the rest does.
func brief(text []byte) string {
	const most = 600
	if len(text) <= most {
		return string(text)
	}
	return fmt.Sprintf("%s... (%d bytes, %.4x)", strings.ToValidUTF8(string(text[:most]), "?"), len(text), sha256.Sum256(text))
}

func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func ourCall(t *testing.T, c besideCase, dir string) map[string]any {
	t.Chdir(dir)
	env := &modules.Env{Warn: func(string, ...any) {}}
	for k, v := range c.env {
		env.Environ = append(env.Environ, k+"="+v)
	}
	m := &URI
	if c.module == "get_url" {
		m = &GetURL
	}
	text, err := json.Marshal(c.args)
	if err != nil {
		t.Fatal(err)
	}
	args, err := value.ParseJSON(string(text), value.KindStr)
	if err != nil {
		t.Fatal(err)
	}
	res := (*m).Run(context.Background(), env, args.(*value.Dict)).Dict()
	var out map[string]any
	if err := json.Unmarshal(value.PlainJSON(res), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// realCall makes the call with the module of Ansible.
func realCall(p *modtest.Python) httpCaller {
	return func(t *testing.T, c besideCase, dir string) map[string]any {
		args, err := json.Marshal(c.args)
		if err != nil {
			t.Fatal(err)
		}
		printed := p.Call(t, modtest.PythonCall{Module: "ansible.modules." + c.module, Args: args, Env: c.env, Dir: dir})
		var out map[string]any
		if err := json.Unmarshal([]byte(strings.ToValidUTF8(printed, "?")), &out); err != nil {
			return map[string]any{"printed": printed}
		}
		return out
	}
}
