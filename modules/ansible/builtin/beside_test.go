package builtin

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/py/value"
)

var (
	besideLive = flag.Bool("beside", false, "play the cases of TestRequestsAreAnsibles beside the installed ansible-core")
	besideKeep = flag.Bool("beside-record", false, "as -beside, and write down what ansible-core answers")
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
// testdata/beside/accepted.txt has the differences that are kept, with their reasons.
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
	var real *warmPython
	if *besideLive || *besideKeep {
		real = startPython(t)
	}
	count := 0
	for _, c := range besideCases() {
		if strings.Contains(fmt.Sprint(c.args), "{http6}") && s.names["http6"] == "" {
			continue // no IPv6 here
		}
		count++
		t.Run(c.name, func(t *testing.T) {
			if real != nil {
				answers[c.name] = s.play(t, dir, c, real.call)
			}
			want, ok := answers[c.name]
			if !ok {
				t.Fatal("no answer of ansible-core is written down: -beside-record")
			}
			got := s.play(t, dir, c, ourCall)
			diff := differences(want, got)
			if kept, ok := accepted[strings.ReplaceAll(c.name, " ", "_")]; ok {
				if len(diff) == 0 {
					t.Errorf("is equal now: take it out of accepted.txt (%s)", kept)
				}
				return
			}
			for _, d := range diff {
				t.Error(d)
			}
		})
	}
	t.Logf("%d calls, %d accepted differences", count, len(accepted))
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

// acceptedDifferences reads the names of calls that differ, and why.
func acceptedDifferences(t *testing.T) map[string]string {
	text, err := os.ReadFile(filepath.Join("testdata", "beside", "accepted.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, why, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if ok && !strings.HasPrefix(name, "#") {
			out[name] = why
		}
	}
	return out
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
			return []string{fmt.Sprintf("it did not fail as Ansible's module does: %v", want.Result["crash"])}
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
			out = append(out, fmt.Sprintf("%s: %.300s, want %.300s", key, g, w))
		}
	}
	if w, g := strings.Join(want.Requests, "\n"), strings.Join(got.Requests, "\n"); w != g {
		out = append(out, fmt.Sprintf("requests:\n%s\nwant:\n%s", g, w))
	}
	return out
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

// warmPython is a Python that has the modules of the installed ansible-core.
type warmPython struct {
	in  io.Writer
	out *bufio.Reader
}

func startPython(t *testing.T) *warmPython {
	python := os.Getenv("BESIDE_PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	cmd := exec.Command(python, filepath.Join("testdata", "beside", "warm.py"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &warmPython{in, bufio.NewReader(out)}
}

func (p *warmPython) call(t *testing.T, c besideCase, dir string) map[string]any {
	line, err := json.Marshal(map[string]any{"module": "ansible.modules." + c.module, "args": c.args, "env": c.env, "dir": dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	said, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var printed string
	if err := json.Unmarshal([]byte(said), &printed); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(strings.ToValidUTF8(printed, "?")), &out); err != nil {
		return map[string]any{"printed": printed}
	}
	return out
}
