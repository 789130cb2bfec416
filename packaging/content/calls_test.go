//go:build content

package content

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/modules"
	"hark/modules/all"
	"hark/modules/py/value"
	"hark/playbook/foreign"
)

// chosen are about count modules of collections, spread over all that hark does not have itself.
func (a ansible) chosen(t *testing.T, count int) []foreign.Module {
	t.Helper()
	native := modules.NewRegistry(all.Modules()...)
	var list []foreign.Module
	for _, m := range a.modules(t, 1) {
		_, known := native.Get(m.Name)
		_, err := os.Stat(strings.TrimSuffix(m.Path, ".py") + ".ps1")
		if !known && err != nil && !strings.HasPrefix(m.Name, "ansible.builtin.") && !strings.HasPrefix(filepath.Base(m.Path), "_") {
			list = append(list, m)
		}
	}
	var some []foreign.Module
	for i := range count {
		if at := i * len(list) / count; count <= len(list) {
			some = append(some, list[at])
		}
	}
	return some
}

// TestCallsAreAnsibles calls modules of collections beside the installed Ansible: HARK_CALLS says how many, and costs
// it seconds each.
func TestCallsAreAnsibles(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv("HARK_CALLS"))
	if err != nil {
		count = 10
	}
	a := installed(t)
	list := a.chosen(t, count)
	if len(list) == 0 {
		t.Skip("needs collections beside ansible-core, as the package ansible brings them; CI has none, packaging/content/run plays this by hand")
	}
	ours, err := filepath.Abs(hark)
	if err != nil {
		t.Fatal(err)
	}
	for some := range slices.Chunk(list, together) {
		t.Run(some[0].Name, func(t *testing.T) { a.compareModules(t, ours, some) })
	}
	t.Logf("of %d modules", len(list))
}

// together is how many modules are called in one play, and patience how long a program may take for one: Ansible
// takes a second or two for a call.
const (
	together = 10
	patience = 5 * time.Minute
)

func (a ansible) compareModules(t *testing.T, ours string, list []foreign.Module) {
	var lines strings.Builder
	for _, m := range list {
		fmt.Fprintln(&lines, m.Name, m.Path)
	}
	cmd := exec.Command(a.python(), "calls.py")
	cmd.Stdin, cmd.Stderr = strings.NewReader(lines.String()), os.Stderr
	cmd.Env = append(a.environ(), "ANSIBLE_COLLECTIONS_PATH="+a.collections(), "ANSIBLE_COLLECTIONS_PATHS="+a.collections())
	book, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, printed := a.call(t, a.program("ansible-playbook"), book)
	if len(want) == 0 {
		t.Fatalf("Ansible tells nothing:\n%s", printed)
	}
	got, printed := a.call(t, ours, book)
	if len(got) == 0 {
		t.Fatalf("hark tells nothing:\n%s", printed)
	}
	compareCalls(t, want, got)
}

// call plays the calls with a program and gives what callbacks are told, by task.
func (a ansible) call(t *testing.T, program string, book []byte) (told map[string]string, printed string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string][]byte{"calls.yml": book, "ansible.cfg": []byte("[defaults]\ncallbacks_enabled = told\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "callback_plugins"), os.DirFS("testdata/project/callback_plugins")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-i", "localhost,", "-c", "local", "calls.yml")
	cmd.WaitDelay = time.Second
	cmd.Dir = dir
	cmd.Env = append(a.environ(), "TOLD="+filepath.Join(dir, "told"), "TOLD_INVOCATION=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // what failed is told
	if ctx.Err() != nil {
		t.Errorf("%s did not end in %v", program, patience)
	}
	told = map[string]string{}
	raw, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(raw)) {
		v, err := value.ParseJSON(line, value.KindStr)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if words := plainly(v); len(words) > 4 {
			told[fmt.Sprint(words[2])] += volatile().ReplaceAllString(modules.PyJSON(words[4]), "...")
		}
	}
	return told, out.String()
}

// volatile is what differs from run to run.
func volatile() *regexp.Regexp {
	return regexp.MustCompile(`0x[0-9a-f]{6,}|[^" ]*/\.?ansible[-_/][^" ]*|/tmp/[^" ]*|/proc/[^" ]*|"(?:delta|start|end|elapsed)": [^,}]*|\d{4}-\d\d-\d\d[T ][\d:.]+\S*|[0-9a-f]{8}-[0-9a-f-]{27}|File \\"[^,]*, line \d+|Valid booleans include: [^"]*`)
}
