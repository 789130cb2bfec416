//go:build content

package content

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// calls are what plugins.py chooses to try.
type calls struct {
	Book  json.RawMessage     `json:"book"`
	Names map[string][]string `json:"names"`
}

func (a ansible) plugins(t *testing.T) calls {
	t.Helper()
	count, err := strconv.Atoi(os.Getenv("HARK_PLUGINS"))
	if err != nil {
		count = 3
	}
	cmd := exec.Command(a.python(), "plugins.py", strconv.Itoa(count), a.collections())
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "ANSIBLE_COLLECTIONS_PATH="+a.collections(), "ANSIBLE_COLLECTIONS_PATHS="+a.collections())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var c calls
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Names["filter"]) == 0 {
		t.Skip("needs collections beside ansible-core, as the package ansible brings them; CI has none, packaging/content/run plays this by hand")
	}
	return c
}

// TestPluginsAreAnsibles calls plug-ins of collections beside the installed Ansible: HARK_PLUGINS says how many of
// each kind.
func TestPluginsAreAnsibles(t *testing.T) {
	a := installed(t)
	c := a.plugins(t)
	ours, err := filepath.Abs(hark)
	if err != nil {
		t.Fatal(err)
	}
	theirs := a.program("ansible-playbook")
	t.Run("calls", func(t *testing.T) {
		want, printed := a.call(t, theirs, c.Book)
		if len(want) == 0 {
			t.Fatalf("Ansible tells nothing:\n%s", printed)
		}
		got, _ := a.call(t, ours, c.Book)
		compareCalls(t, want, got)
	})
	for _, name := range c.Names["inventory"] {
		t.Run("inventory "+name, func(t *testing.T) {
			files := map[string]string{"given.yml": "plugin: " + name + "\n", "plugin." + name[strings.LastIndexByte(name, '.')+1:] + ".yml": "plugin: " + name + "\n"}
			for file := range files {
				a.same(t, files, nil, a.program("ansible-inventory"), filepath.Join(filepath.Dir(ours), "ansible-inventory"), "-i", file, "--list", "-e", "ansible_enable=1")
			}
		})
	}
	book := map[string]string{"site.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n  - set_fact: {a: 1, cacheable: true}\n  - command: /bin/true\n    name: ok\n" +
		"  - {name: fails, command: /bin/false, ignore_errors: true}\n  - {name: loop, debug: {msg: '{{ item }}'}, loop: [1, 2]}\n  - {name: not, debug: , when: false}\n"}
	for kind, set := range map[string]string{"cache": "ANSIBLE_CACHE_PLUGIN", "callback": "ANSIBLE_CALLBACKS_ENABLED", "vars": "ANSIBLE_VARS_ENABLED"} {
		for _, name := range c.Names[kind] {
			t.Run(kind+" "+name, func(t *testing.T) {
				a.same(t, book, []string{set + "=" + name}, theirs, ours, "-i", "localhost,", "-c", "local", "site.yml")
			})
			if kind == "callback" {
				t.Run("screen "+name, func(t *testing.T) {
					a.same(t, book, []string{"ANSIBLE_STDOUT_CALLBACK=" + name}, theirs, ours, "-i", "localhost,", "-c", "local", "site.yml")
				})
			}
		}
	}
}

// same runs both programs with the files and compares all that they print.
func (a ansible) same(t *testing.T, files map[string]string, environ []string, theirs, ours string, args ...string) {
	t.Helper()
	said := map[string]string{}
	dir := filepath.Join(t.TempDir(), "project") // the same for both: long lines are wrapped by its length
	for _, program := range []string{theirs, ours} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "timeout", append([]string{"120", program}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(a.environ(), environ...)
		var out, err strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &err
		_ = cmd.Run() // what failed is told
		said[program] = volatile().ReplaceAllString(strings.ReplaceAll(out.String()+"\n--\n"+err.String(), dir, "..."), "...") + "\n" + cmd.ProcessState.String()
	}
	if said[theirs] != said[ours] {
		t.Errorf("ansible:\n%s\nhark:\n%s", said[theirs], said[ours])
	}
}

// environ is that of both programs.
func (a ansible) environ() []string {
	return append(os.Environ(), "ANSIBLE_NOCOLOR=1", "ANSIBLE_INJECT_INVOCATION=1", "ANSIBLE_DEPRECATION_WARNINGS=0", "ANSIBLE_LOCALHOST_WARNING=0",
		"ANSIBLE_PYTHON_INTERPRETER="+a.python(), "PYTHONDONTWRITEBYTECODE=1", "VIRTUAL_ENV="+a.prefix)
}

// compareCalls compares what callbacks were told of each call.
func compareCalls(t *testing.T, want, got map[string]string) {
	t.Helper()
	equal := 0
	for task, text := range want {
		if got[task] == text {
			equal++
			continue
		}
		t.Errorf("%s:\nansible %s\nhark    %s", task, text, got[task])
	}
	t.Logf("%d of %d calls are equal", equal, len(want))
}
