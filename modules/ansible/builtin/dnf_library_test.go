//go:build !e2e

// The stage acceptance runs the tests of this package a second time, with the tag e2e. This one takes a minute.

package builtin

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
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

// dnfAnswer is what Ansible's module answered to a step, from testdata/dnf/record.py.
type dnfAnswer struct {
	Scenario string         `json:"scenario"`
	Step     int            `json:"step"`
	Want     map[string]any `json:"want"`
	Packages []string       `json:"packages"`
}

// dnfBench is a repository of small packages, and the host's dnf.
type dnfBench struct {
	dir   string
	steps map[string][]struct {
		Args  map[string]any `json:"args"`
		Check bool           `json:"check"`
	}
}

// TestDnfAnswersAsAnsiblesModule plays the steps of testdata/dnf with the host's dnf, each scenario in a root of its
// own, and compares results and installed packages with those that Ansible's module left.
func TestDnfAnswersAsAnsiblesModule(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("dnf needs root")
	}
	for _, program := range []string{"dnf", "rpm", "rpmbuild", "createrepo_c", "modifyrepo_c"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("needs %s", program)
		}
		if program == "dnf" && libraryPython(path) == nil {
			t.Skip("needs a dnf 4")
		}
	}
	b := dnfBench{dir: t.TempDir()}
	build := exec.CommandContext(t.Context(), "bash", "testdata/dnf/repository.sh", b.dir)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := json.Unmarshal([]byte(readText(t, "testdata/dnf/steps.json")), &b.steps); err != nil {
		t.Fatal(err)
	}
	var before []dnfAnswer
	for _, release := range []modules.Release{"2.14", "2.19"} {
		var answers []dnfAnswer
		if err := json.Unmarshal([]byte(readText(t, "testdata/dnf/answers-"+string(release)+".json")), &answers); err != nil {
			t.Fatal(err)
		}
		if len(answers) < 100 {
			t.Fatalf("%d answers of %s", len(answers), release)
		}
		for _, name := range scenarios(answers) {
			of := func(list []dnfAnswer) []dnfAnswer {
				return slices.DeleteFunc(slices.Clone(list), func(a dnfAnswer) bool { return a.Scenario != name })
			}
			if cmp.Equal(of(answers), of(before)) {
				continue // played at the level before
			}
			t.Run(string(release)+"/"+name, func(t *testing.T) {
				t.Parallel()
				b.play(t, release, of(answers))
			})
		}
		before = answers
	}
}

func scenarios(answers []dnfAnswer) []string {
	var names []string
	for _, a := range answers {
		if !slices.Contains(names, a.Scenario) {
			names = append(names, a.Scenario)
		}
	}
	return names
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// here puts the paths of this run in the place of their names.
func (b *dnfBench) here(text, root string) string {
	return strings.NewReplacer("$REPO", filepath.Join(b.dir, "repo"), "$ROOT", root, "$DIR", b.dir).Replace(text)
}

func (b *dnfBench) play(t *testing.T, release modules.Release, answers []dnfAnswer) {
	root, home := t.TempDir(), t.TempDir() // Debian's rpm keeps the host's packages in the home
	conf := filepath.Join(home, "dnf.conf")
	text := b.here(readText(t, "testdata/dnf/dnf.conf"), root)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, answer := range answers {
		step := b.steps[answer.Scenario][answer.Step]
		args := map[string]any{"installroot": root, "conf_file": conf, "releasever": "1", "disable_gpg_check": true}
		for name, v := range step.Args {
			args[name] = v
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		given, err := value.ParseJSON(b.here(string(raw), root), value.KindStr)
		if err != nil {
			t.Fatal(err)
		}
		got := playDnf(t, release, given.(*value.Dict), step.Check, home)
		if _, told := answer.Want["changed"]; !told && got["changed"] == false {
			delete(got, "changed") // which is added to each result of a task
		}
		raw, err = json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var want dnfAnswer
		if err := json.Unmarshal([]byte(b.here(string(raw), root)), &want); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("step %d, %v", answer.Step, step)
		if _, raised := want.Want["traceback"]; raised {
			if got["failed"] != true {
				t.Errorf("%s succeeded, where Ansible's module shows a traceback: %v", what, got)
			}
		} else if d := cmp.Diff(plainWarnings(sorted(want.Want)), sorted(got)); d != "" {
			t.Errorf("%s: the result (- of Ansible, + here):\n%s", what, d)
		}
		if d := cmp.Diff(want.Packages, rpmsIn(t, root, home)); d != "" {
			t.Errorf("%s: packages (- with Ansible, + here):\n%s", what, d)
		}
	}
}

// playDnf plays the module, and returns its result as plain data.
func playDnf(t *testing.T, release modules.Release, args *value.Dict, check bool, home string) map[string]any {
	t.Helper()
	for _, k := range args.Keys() {
		if v, _ := args.GetKey(k); v == (value.None{}) {
			args.Delete(k)
		}
	}
	env := &modules.Env{Release: release, Check: check, Environ: append(os.Environ(), "HOME="+home)}
	env.Exec = modules.HostExec(env.Environ, nil)
	var warnings []string
	env.Warn = func(format string, a ...any) { warnings = append(warnings, fmt.Sprintf(format, a...)) }
	res := modules.Result{}
	if err := Dnf.Resolve(t.Context(), env, args); err != nil {
		res = modules.Failure(err)
	} else {
		res = Dnf.Run(t.Context(), env, args)
	}
	res.Warnings = append(warnings, res.Warnings...)
	raw, err := json.Marshal(modtest.Plain(res.Dict()))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// fetchedFile is the temporary place of a package that has an address.
var fetchedFile = regexp.MustCompile(`^Installed \S*/(ansible-moduletmp-|hark-)\S+$`)

// plainWarnings makes texts of the warnings of ansible-core 2.19, which has objects for its controller.
func plainWarnings(result map[string]any) map[string]any {
	list, _ := result["warnings"].([]any)
	for i, w := range list {
		if object, ok := w.(map[string]any); ok {
			list[i] = object["event"].(map[string]any)["msg"]
		}
	}
	return result
}

// sorted puts the packages of a result in one order: dnf has them in sets.
func sorted(result map[string]any) map[string]any {
	if list, ok := result["results"].([]any); ok {
		for i, v := range list {
			if s, ok := v.(string); ok {
				list[i] = fetchedFile.ReplaceAllString(s, "Installed a file that was fetched")
			}
		}
		slices.SortFunc(list, func(x, y any) int { return strings.Compare(sortText(x), sortText(y)) })
	}
	return result
}

func sortText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	m, _ := v.(map[string]any)
	return fmt.Sprint(m["name"], m["repoid"], m["arch"], m["epoch"], m["version"], m["release"], m["repo"])
}

func rpmsIn(t *testing.T, root, home string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "rpm", "--root", root, "-qa")
	cmd.Env = append(os.Environ(), "HOME="+home)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(out))
	slices.Sort(list)
	return append([]string{}, list...)
}
