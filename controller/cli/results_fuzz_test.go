package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// oddResult returns what a module may print: members that mean something with values that do not fit, and depths, sizes,
// keys, numbers and bytes round the limits.
func oddResult(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	if r.IntN(12) == 0 {
		return pick("", "null", "[1, 2]", `"text"`, "3", "{}", "{", `{"a":1} {"b":2}`, "noise\n{\"changed\":true}", "NaN")
	}
	var members []string
	for range r.IntN(5) {
		key := pick("changed", "failed", "skipped", "rc", "msg", "exception", "warnings", "deprecations", "results", "diff",
			"invocation", "ansible_facts", "stdout", "stdout_lines", "attempts", "_ansible_no_log", "_ansible_verbose_always",
			"item", "ansible_job_id", "started", "finished", "unreachable", "censored", "", " ", "!u", "{{ x }}", "a b",
			"é\\u0000", "__ansible_unsafe", "__ansible_vault", "__ansible_type", "false", "1")
		members = append(members, strconv.Quote(key)+":"+oddValue(r, 0))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func oddValue(r *rand.Rand, depth int) string {
	nest := func(n int, open, shut string) string {
		return strings.Repeat(open, n) + "1" + strings.Repeat(shut, n)
	}
	limits := []int{1, 20, 199, 200, 265, 266, 267, 299, 300, 400, 797, 798, 799, 800, 896, 897, 898, 899, 900, 1000, 3000}
	at := limits[r.IntN(len(limits))]
	switch n := r.IntN(26); {
	case n < 4:
		return []string{"true", "false", "null", "1"}[n]
	case n < 12:
		return []string{`"yes"`, `"no"`, `""`, "0", "[]", "{}", "-1", `"text"`}[n-4]
	case n < 16:
		return []string{"NaN", "Infinity", "1e999", "123456789012345678901234567890"}[n-12]
	case n == 16:
		return "\"\xff\xfe\\u0000\\ud800\""
	case n == 17:
		return `"{{ 7 * 7 }}{% raw %}"`
	case n == 18:
		return `"` + strings.Repeat("x", 1<<r.IntN(20)) + `"`
	case n == 19:
		return nest(at, "[", "]")
	case n == 20:
		return nest(at, `{"a":`, "}")
	case n == 21:
		return nest(at, `{"a b{{":`, "}")
	case depth > 3:
		return "2"
	case n < 24:
		return "[" + oddValue(r, depth+1) + "," + oddValue(r, depth+1) + "]"
	}
	return `{"k":` + oddValue(r, depth+1) + `,"{{":` + oddValue(r, depth+1) + "}"
}

const oddPlays = `- hosts: all
  gather_facts: false
  connection: local
  tasks:
    - odd: {path: "{{ odd }}"}
      register: r
      ignore_errors: true
      ignore_unreachable: true
    - debug:
        msg: "VAR {{ r is failed }} {{ r is changed }} {{ r is skipped }} {{ r is unreachable }}"
    - debug:
        msg: "SEEN {{ hostvars[inventory_hostname].r is failed }} {{ hostvars[inventory_hostname].r is changed }}
          {{ hostvars[inventory_hostname].r is skipped }} {{ hostvars[inventory_hostname].r is unreachable }}"
- hosts: all
  gather_facts: false
  connection: local
  tasks:
    - odd: {path: "{{ odd }}"}
      register: r
    - command: echo after
`

// oddHosts makes a project in dir, with a host for each of n results.
func oddHosts(t *testing.T, dir string, seed uint64, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	var hosts strings.Builder
	files := map[string]string{"site.yml": oddPlays,
		"ansible.cfg": "[defaults]\ninterpreter_python = /usr/bin/false\n",
		"library/odd": "#!/bin/sh\n. \"$1\"\ncat \"$path\"\n"}
	for i := range n {
		name := fmt.Sprintf("h%02d", i)
		files["data/"+name] = oddResult(r)
		fmt.Fprintf(&hosts, "%s odd=%s\n", name, filepath.Join(dir, "data", name))
	}
	files["hosts"] = hosts.String()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// oddStory is what a screen says of a host.
type oddStory struct {
	first, second string // how the odd task came out: ok, changed, fatal, skipping
	vars          [2]string
	after         bool
	recap         string
}

// oddStories reads the screen of the plays.
func oddStories(screen string) map[string]*oddStory {
	all := map[string]*oddStory{}
	of := func(host string) *oddStory {
		if all[host] == nil {
			all[host] = &oddStory{}
		}
		return all[host]
	}
	line := regexp.MustCompile(`^(ok|changed|fatal|skipping|failed): \[(h\d\d)\]`)
	recap := regexp.MustCompile(`^(h\d\d) +: (.*)`)
	said := regexp.MustCompile(`"msg": "(VAR|SEEN) (.*)"`)
	play, task, host := 0, "", ""
	for _, l := range strings.Split(screen, "\n") {
		switch {
		case strings.HasPrefix(l, "PLAY ["):
			play++
		case strings.HasPrefix(l, "TASK ["):
			task = strings.Trim(strings.TrimPrefix(l, "TASK "), "[]* ")
		}
		if m := line.FindStringSubmatch(l); m != nil {
			host = m[2]
			s := of(host)
			switch {
			case task == "odd" && play == 1:
				s.first = m[1]
			case task == "odd":
				s.second = m[1]
			case task == "command":
				s.after = true
			}
		}
		if m := said.FindStringSubmatch(l); m != nil {
			of(host).vars[map[string]int{"VAR": 0, "SEEN": 1}[m[1]]] = m[2]
		}
		if m := recap.FindStringSubmatch(l); m != nil {
			of(m[1]).recap = m[2]
		}
	}
	return all
}

// agrees says what in a story does not belong together, "" if nothing.
func (s *oddStory) agrees() string {
	var f, c, k, u bool
	if n, _ := fmt.Sscanf(strings.ToLower(s.vars[0]), "%t %t %t %t", &f, &c, &k, &u); n != 4 || s.vars[1] != s.vars[0] {
		return fmt.Sprintf("the variable is %q, and for others %q", s.vars[0], s.vars[1])
	}
	bad := f || u
	counted := strings.Contains(s.recap, "failed=1") || strings.Contains(s.recap, "unreachable=1")
	switch {
	case (s.first == "fatal") != bad:
		return fmt.Sprintf("the screen says %s, and the variable that it failed: %t", s.first, bad)
	case s.first == "skipping" && !k:
		return "the screen says skipping, and the variable does not"
	case !bad && s.first != "skipping" && (s.first == "changed") != c:
		return fmt.Sprintf("the screen says %s, and the variable that it changed: %t", s.first, c)
	case s.second != s.first:
		return fmt.Sprintf("first it was %s, then %s", s.first, s.second)
	case s.after == bad:
		return fmt.Sprintf("it failed: %t, and the host went on: %t", bad, s.after)
	case counted != bad:
		return "the recap says " + s.recap
	}
	return ""
}

// around is the part of a text that cannot be read as JSON.
func around(text []byte, err error) []byte {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return nil
	}
	return text[max(0, syntax.Offset-100):min(int64(len(text)), syntax.Offset+100)]
}

// asCommand returns a call of this program under one of its names.
func asCommand(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0], cmd.Dir = name, dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "HARK_HOME="+filepath.Join(dir, ".hark"), "ANSIBLE_NOCOLOR=1",
		"HARK_ANSIBLE=2.14")
	return cmd
}

// FuzzResultsAgree: whatever modules print, the screen, the registered variable, the variable as others see it, whether
// the host goes on, the recap, the exit code, the record and the view in JSON agree.
func FuzzResultsAgree(f *testing.F) {
	for _, seed := range []uint64{1, 1011, 1014, 1020} { // the later ones have found something
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		dir := t.TempDir()
		oddHosts(t, dir, seed, 30)
		out, err := asCommand(dir, "ansible-playbook", "-i", "hosts", "site.yml").Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		stories, failed := oddStories(string(out)), 0
		if len(stories) != 30 {
			t.Fatalf("%d hosts were told of (%v):\n%.4000s\n%s", len(stories), err, out, exit.Stderr)
		}
		for host, s := range stories {
			if s.first == "fatal" {
				failed++
			}
			if why := s.agrees(); why != "" {
				text, _ := os.ReadFile(filepath.Join(dir, "data", host))
				t.Errorf("seed %d, %s: %s, for %.300s", seed, host, why, text)
			}
		}
		if (err != nil) != (failed > 0) {
			t.Errorf("%d hosts failed, and the exit code is %v", failed, err)
		}
		again, err := asCommand(dir, "hark", "runs", "show", "last").Output()
		if err != nil || !sameButFacts(again, out) {
			t.Errorf("seed %d: the record shows another screen (%v)", seed, err)
		}
		oddJSON(t, dir, stories)
	})
}

// sameButFacts reports whether screens are equal but for the facts of modules, which no record has.
func sameButFacts(a, b []byte) bool {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if strings.Contains(x[i]+y[i], `"ansible_facts"`) {
			x[i], _, _ = strings.Cut(x[i], "=>")
			y[i], _, _ = strings.Cut(y[i], "=>")
		}
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// oddJSON plays again for the view in JSON, and compares what that says.
func oddJSON(t *testing.T, dir string, stories map[string]*oddStory) {
	cmd := asCommand(dir, "ansible-playbook", "-i", "hosts", "site.yml")
	cmd.Env = append(cmd.Env, "ANSIBLE_STDOUT_CALLBACK=json")
	out, _ := cmd.Output() // the exit code is that of the first time
	var page struct {
		Stats map[string]struct{ Failures, Unreachable int }
		Plays []struct {
			Tasks []struct{ Hosts map[string]map[string]any }
		}
	}
	text := regexp.MustCompile(`-?\b(NaN|Infinity)\b`).ReplaceAll(out, []byte("0"))
	if err := json.Unmarshal(text, &page); err != nil || len(page.Plays) != 2 {
		t.Fatalf("the view in JSON cannot be read: %v: %s", err, around(text, err))
	}
	for host, s := range stories {
		bad := page.Stats[host].Failures+page.Stats[host].Unreachable > 0
		if bad != (s.second == "fatal") {
			t.Errorf("%s: JSON says that it failed: %t, the screen %s", host, bad, s.second)
		}
		if page.Plays[0].Tasks[0].Hosts[host] == nil {
			t.Errorf("%s is not in the view in JSON", host)
		}
	}
}
