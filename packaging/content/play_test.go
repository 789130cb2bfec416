//go:build content

package content

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hark/modules"
	"hark/modules/py/value"
)

// hark is our program, as `make links` leaves it.
const hark = "../../bin/links/ansible-playbook"

// otherPython is an interpreter that a module runs itself again in.
const otherPython = "/usr/bin/python3"

// telling is what came of one play: the lines of the callback "told", and what the program printed.
type telling struct {
	events  []string
	printed string
	kept    string // by the cache of facts
}

// play plays the project with a program, in a copy of its own.
func (a ansible) play(t *testing.T, program, python string) telling {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/project")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "library", "plain_script.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-e", "other_python="+otherPython, "-l", "localhost", "site.yml")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TOLD="+filepath.Join(dir, "told"), "ANSIBLE_CACHE_PLUGIN_CONNECTION="+filepath.Join(dir, "cache"),
		"ANSIBLE_NOCOLOR=1", "ANSIBLE_INJECT_INVOCATION=1", "ANSIBLE_PYTHON_INTERPRETER="+python, "ANSIBLE_LOCALHOST_WARNING=0", "PYTHONDONTWRITEBYTECODE=1", "VIRTUAL_ENV="+a.prefix)
	if a.prefix == "" {
		cmd.Env = append(cmd.Env, "VIRTUAL_ENV=")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s", program, err, out.String())
	}
	return telling{lines(t, filepath.Join(dir, "told")), out.String(), keptFacts(dir)}
}

func keptFacts(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "cache", "*localhost"))
	if len(files) != 1 {
		return fmt.Sprintf("%d files", len(files))
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		return err.Error()
	}
	var facts struct{ Kept json.RawMessage }
	if err := json.Unmarshal(raw, &facts); err != nil {
		return err.Error()
	}
	return string(facts.Kept)
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = ordinary(t, line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// wordings are what ansible-core 2.19 says more of an error than it did before, and hark with it.
var wordings = regexp.MustCompile(`^(?:Task failed: |Module failed: |Action failed: |Unexpected failure during module execution: |` +
	`Finalization of task args for '[^']*' failed: |Error while resolving value for '[^']*': |The (?:filter|lookup) plugin '[^']*' failed: )+`)

// ordinary is an event without what differs from version to version, or from run to run; "" for one that says nothing
// else.
func ordinary(t *testing.T, line string) string {
	t.Helper()
	v, err := value.ParseJSON(line, value.KindStr)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	words := plainly(v)
	switch {
	case words[0] == "stats":
		counts, _ := words[1].(map[string]any)["localhost"].(map[string]any)
		delete(counts, "ok") // an include counts since 2.19
	case len(words) > 4 && words[3] == "include_role":
		return ""
	case len(words) > 4:
		ordinaryResult(words[2], words[4].(map[string]any))
	}
	return modules.PyJSON(words)
}

// plainly is a line of the callback as Go's values.
func plainly(v value.Value) []any {
	plain, _ := value.ToGo(v)
	words, _ := plain.([]any)
	return words
}

func ordinaryResult(task any, result map[string]any) {
	msg, _ := result["msg"].(string)
	msg = wordings.ReplaceAllString(msg, "")
	switch {
	case msg == "Unknown error.", strings.HasPrefix(msg, "MODULE FAILURE"): // before 2.19 this is left to module_stderr
		delete(result, "msg")
	case msg != "":
		result["msg"] = strings.TrimSuffix(msg, ".")
	}
	switch task {
	case "raise", "act runs a module that raises", "noexit": // 2.19 tells of it in other words
		delete(result, "msg")
		delete(result, "rc")
	case "act raises":
		delete(result, "stdout")
	}
	if task == "not a number" { // what JSON cannot hold is text in what views are told; what is registered is the number
		delete(result, "a")
		delete(result, "nan")
	}
	if result["changed"] == false { // since 2.19 errors that no module tells of have it too
		delete(result, "changed")
	}
	for _, key := range []string{"warnings", "start", "end", "delta"} {
		delete(result, key)
	}
}

// TestPlaysAreAnsibles plays modules and plug-ins of all kinds beside the installed Ansible, and compares what a
// callback is told of them. Modules run in each interpreter of HARK_PYTHONS, or in /usr/bin/python3.
func TestPlaysAreAnsibles(t *testing.T) {
	a := installed(t)
	pythons := strings.Fields(os.Getenv("HARK_PYTHONS"))
	if len(pythons) == 0 {
		pythons = []string{"/usr/bin/python3"}
	}
	ours, err := filepath.Abs(hark)
	if err != nil {
		t.Fatal(err)
	}
	for _, python := range pythons {
		t.Run(python, func(t *testing.T) {
			want, got := a.play(t, a.program("ansible-playbook"), python), a.play(t, ours, python)
			if len(want.events) == 0 {
				t.Fatalf("Ansible tells nothing:\n%s", want.printed)
			}
			if diff := cmp.Diff(want.events, got.events); diff != "" {
				t.Errorf("what callbacks are told (-ansible +hark):\n%s\n%s", diff, got.printed)
			}
			if want.kept != got.kept {
				t.Errorf("kept facts: ansible %s, hark %s", want.kept, got.kept)
			}
		})
	}
}
