//go:build hostile

package hostile

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/playbook/level"
)

// Canaries: text that comes from elsewhere, and that would start a program of its own if anybody took it for a
// template or an expression. The program of canary 12 is called c12 and leaves a mark of its name. Sources
// (canary_sources_test.go) bring such texts into a play; sinks (canary_sinks_test.go, canary_modules_test.go) put
// them wherever a playbook can put a value. Both are made of the tables of the language and of the declarations of
// the modules. No canary may ever sing.

// spellings are the ways in which a text may ask for its program: %d is its number.
var spellings = []struct{ name, text string }{
	{"braces", "{{lookup('pipe','c%d')}}"},
	{"bare", "lookup('pipe','c%d')"},
}

// sink is a place for a foreign text in a playbook.
type sink struct {
	name string
	// tasks are the items of a list of tasks: TEXT stands for an expression that gives the text, ID for the name of
	// the case. It is ended by plays if it is alone: sinks that end a run, or are no tasks, are.
	tasks string
	// alone sinks have a playbook of their own, in which tasks are the plays after the one that brings the texts.
	alone bool
}

// singing is one canary: a sink with a text in one spelling.
type singing struct {
	sink
	spelling string
	number   int
}

func (s singing) String() string {
	return fmt.Sprintf("%s (%s, canary %d)", s.name, s.spelling, s.number)
}

// cases are the canaries of some sinks, in both spellings.
func cases(sinks []sink) []singing {
	var all []singing
	for _, one := range sinks {
		for _, s := range spellings {
			all = append(all, singing{one, s.name, len(all)})
		}
	}
	return all
}

// texts are what the canaries say, by their numbers.
func texts(all []singing) []string {
	out := make([]string, len(all))
	for i, c := range all {
		at := slices.IndexFunc(spellings, func(s struct{ name, text string }) bool { return s.name == c.spelling })
		out[i] = fmt.Sprintf(spellings[at].text, i)
	}
	return out
}

// cage is where canaries are let loose: a controller without broker whose hosts are this machine.
type cage struct {
	*site
	level string
}

// perches makes the programs of the canaries, for all cages.
func perches(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "sing")
	text := "#!/bin/sh\n: >\"$CANARIES/${0##*/}\"\necho sung\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := os.Symlink("sing", filepath.Join(dir, "c"+strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// longPlay is how long a play of canaries may take: it has up to 2,000 tasks, and a busy machine takes long.
const longPlay = 10 * time.Minute

// newCage makes a cage of a level.
func newCage(t *testing.T, perches, level string) *cage {
	t.Helper()
	bin := os.Getenv("HARK_BIN")
	if bin == "" {
		bin = "../../bin"
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, bin: bin, dir: t.TempDir(), patience: longPlay}
	s.owner = s.newOperator("owner")
	s.env = []string{
		"PATH=" + perches + ":" + os.Getenv("PATH"), "HARK_ANSIBLE=" + level, "ANSIBLE_RETRY_FILES_ENABLED=0",
		"ANSIBLE_CACHE_PLUGIN=jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION=./cache",
	}
	return &cage{site: s, level: level}
}

// sung is what came of letting canaries loose.
type sung struct {
	outcome
	marks []int
}

// caged are the files of a project for a source and its canaries: the play that brings the texts, the cases that
// are played, which are all if none is given, and innocent plays after it.
func caged(from source, all []singing, played ...singing) project {
	if played == nil {
		played = all
	}
	said := texts(all)
	listed, _ := json.Marshal(said)
	keyed := make([]map[string]int, len(said))
	for i, text := range said {
		keyed[i] = map[string]int{text: i}
	}
	keys, _ := json.Marshal(keyed)
	p := project{
		"inventory":  "here\nother\n[all:vars]\nansible_connection=local\nansible_python_interpreter=/usr/bin/python3\n",
		"texts":      strings.Join(said, "\n") + "\n",
		"texts.json": string(listed) + "\n",
		"keys.json":  string(keys) + "\n",
	}
	maps.Copy(p, pieces())
	if from.files != nil {
		maps.Copy(p, from.files(said))
	}
	var plays strings.Builder
	plays.WriteString(from.before)
	fmt.Fprintf(&plays, "- hosts: here\n  gather_facts: false\n  ignore_unreachable: true\n  vars: %s\n  tasks:\n%s", orEmpty(from.vars), indented(from.tasks))
	fmt.Fprintf(&plays, "  - {name: probe, debug: {msg: \"{{ %s }}\"}}\n", from.expr(0))
	var after strings.Builder
	for _, c := range played {
		text := strings.NewReplacer("TEXT", from.expr(c.number), "ID", fmt.Sprintf("case %d", c.number)).Replace(c.tasks)
		if c.alone {
			after.WriteString(text)
			continue
		}
		plays.WriteString(indented(text))
	}
	p["site.yml"] = plays.String() + handlers + after.String() + innocents
	return p
}

func orEmpty(vars string) string {
	if vars == "" {
		return "{}"
	}
	return vars
}

func indented(tasks string) string {
	var b strings.Builder
	for line := range strings.Lines(tasks) {
		b.WriteString("  " + line)
	}
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteString("\n")
	}
	return b.String()
}

// handlers end the play of the cases.
const handlers = `  handlers:
  - {name: plain handler, debug: {msg: handled}}
`

// innocents are plays in which nobody names a foreign text: what became of one earlier is met again.
const innocents = `- hosts: all
  gather_facts: false
  ignore_unreachable: true
  tasks:
  - {name: innocent when, debug: {msg: hello}, when: "'db' not in group_names", ignore_errors: true}
  - {name: innocent names, debug: {msg: "{{ groups }} {{ group_names }} {{ inventory_hostname }}"}, ignore_errors: true}
  - {name: innocent keys, debug: {msg: "{{ item }}"}, loop: "{{ groups | list }}", ignore_errors: true}
  - {name: innocent loop, debug: {msg: "{{ item }}"}, loop: "{{ ansible_play_hosts }}", ignore_errors: true}
- hosts: here
  gather_facts: false
  tasks:
  - {name: innocent hostvars, debug: {msg: "{{ hostvars['here'] | to_json | length }}"}, ignore_errors: true}
  - {name: the end, debug: {msg: the end}}
`

// loose plays a project and gives what it came to.
func (c *cage) loose(from source, p project, flags ...string) sung {
	c.t.Helper()
	marks := c.t.TempDir()
	env := c.env
	c.env = append(slices.Clone(env), "CANARIES="+marks)
	if len(p["texts"]) < 100<<10 { // what the environment of a program may hold
		c.env = append(c.env, "FOREIGN="+p["texts"])
	}
	defer func() { c.env = env }()
	if from.flags != nil {
		flags = append(flags, from.flags(strings.Split(strings.TrimSuffix(p["texts"], "\n"), "\n"))...)
	}
	s := sung{outcome: c.play(p, append([]string{"--level", c.level}, flags...)...)}
	s.marks = marksIn(c.t, marks)
	return s
}

func marksIn(t *testing.T, dir string) []int {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var marks []int
	for _, f := range found {
		n, err := strconv.Atoi(strings.TrimPrefix(f.Name(), "c"))
		if err != nil {
			t.Fatalf("a mark of nobody: %s", f.Name())
		}
		marks = append(marks, n)
	}
	slices.Sort(marks)
	return marks
}

var caseName = regexp.MustCompile(`\[(?:\S+ : )?case (\d+)`)

// reached are the cases that were played.
func (s sung) reached() map[int]bool {
	all := map[int]bool{}
	for _, m := range caseName.FindAllStringSubmatch(s.out, -1) {
		n, _ := strconv.Atoi(m[1])
		all[n] = true
	}
	return all
}

// mute demands that no canary sang.
func (s sung) mute(t *testing.T, all []singing) {
	t.Helper()
	for _, n := range s.marks {
		t.Errorf("a foreign text was run: %s: %s", all[n], strings.TrimSuffix(all[n].tasks, meet))
	}
}

// brought reports whether the source brought the first text.
func (s sung) brought(all []singing) bool {
	text := texts(all)[0]
	return strings.Contains(s.out, text) || strings.Contains(s.out, strings.ReplaceAll(text, "'", "\\'"))
}

// silent demands that every case was played and no canary sang.
func (s sung) silent(t *testing.T, all []singing) {
	t.Helper()
	s.mute(t, all)
	reached := s.reached()
	var missed []singing
	for _, c := range all {
		if !c.alone && !reached[c.number] {
			missed = append(missed, c)
		}
	}
	if len(missed) > 0 {
		t.Errorf("%d cases were not played, the first is %s: %s\n%s", len(missed), missed[0], missed[0].tasks, s.tail())
	}
	if !s.brought(all) {
		t.Errorf("the source brings no text:\n%.2000s%s", s.out, s.errs)
	}
}

// tail is the end of what was shown.
func (s sung) tail() string {
	end := func(text string) string { return text[max(0, len(text)-2000):] }
	return end(s.out) + end(s.errs)
}

// eachLevel plays something at every level, at the same time.
func eachLevel(t *testing.T, play func(t *testing.T, level string)) {
	for _, l := range level.Names() {
		t.Run(l, func(t *testing.T) {
			t.Parallel()
			play(t, l)
		})
	}
}

// everything reports whether all that can be combined is: every source with every sink at every level. Otherwise
// every source meets every sink at the oldest level and at one of the others.
func everything() bool { return os.Getenv("HOSTILE_CANARIES") == "all" }

func oldest() string { return level.Names()[0] }
func newest() string { return level.Names()[len(level.Names())-1] }

// chosen reports whether case i of a kind is played at a level.
func chosen(i int, at string) bool {
	later := level.Names()[1:]
	return everything() || at == oldest() || at == later[i%len(later)]
}

// No plug-in that expressions call runs a foreign text, whether it is its argument or comes out of it.
func TestPluginsRunNoForeignTexts(t *testing.T) {
	all := cases(ofPlugins())
	dir := perches(t, len(all))
	eachLevel(t, func(t *testing.T, level string) {
		if everything() || level == oldest() || level == newest() {
			c := newCage(t, dir, level)
			from := sources()[0]
			c.loose(from, caged(from, all)).silent(t, all)
		}
	})
}

// No foreign text is run, from wherever it comes and wherever a task puts it.
func TestForeignTextsAreNeverRun(t *testing.T) {
	beside, _ := sinksOfTasks()
	all := cases(beside)
	dir := perches(t, len(all))
	eachLevel(t, func(t *testing.T, level string) {
		for i, from := range sources() {
			if from.foreign(level) && chosen(i, level) {
				t.Run(from.name, func(t *testing.T) {
					c := newCage(t, dir, level)
					c.loose(from, caged(from, all)).silent(t, all)
				})
			}
		}
	})
}

// Nor is one where what it is put into ends the run, or is no task.
func TestForeignTextsAreNotRunWhereRunsEnd(t *testing.T) {
	_, alone := sinksOfTasks()
	all := cases(alone)
	dir := perches(t, len(all))
	from := []source{
		{name: "stdout", tasks: stdout, at: "hostvars.here.said.stdout_lines[NUM]"},
		{name: "lookup file", at: "lookup('file', 'texts').splitlines()[NUM]"},
	}
	eachLevel(t, func(t *testing.T, level string) {
		c := newCage(t, dir, level)
		old := 0
		if level == oldest() {
			old = 1
		}
		for i, one := range all {
			if everything() || chosen(i/4, level) && (i/2+i+old)%2 == 0 {
				s := c.loose(from[i/2%2], caged(from[i/2%2], all, one))
				s.mute(t, all)
				if !s.brought(all) && s.code == 0 {
					t.Errorf("%s: the source brings no text, and nothing is refused:\n%s", one, s.outcome)
				}
			}
		}
	})
}
