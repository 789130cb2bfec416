// Package register holds what reviewers and users found to differ from Ansible: one small project for each finding,
// with the answers of the real ansible-core. The tests play the projects at the levels that have an answer; no Ansible
// is needed. A case passes, or it is an accepted difference: then it says why, and docs/differences.md shows it.
//
// A case is a txtar archive under cases/. Its comment says what it is about, and how it is run:
//
//	# Text for people; the accepted ones are on the page.
//	run: ansible-playbook -i hosts site.yml   a line for the shell; without one, -i inventory (if there is one) site.yml
//	levels: 2.14 2.19                         the levels it is played at (both, if none are named)
//	stderr: compare                           what is said on standard error counts too
//	root: yes                                 only root can play it
//	needs: ansible                            it runs plug-ins in Python, which take the Ansible of the level
//	accepted 2.19: reason                     hark does something else at this level, and why
//
// Its files are the project; answer/2.19 is what ansible-core 2.19 printed, with its exit codes.
//
// REGISTER_ORACLES='2.14=/usr/bin 2.19=/opt/ansible/bin' go test ./packaging/register -update asks the real ones again.
package register

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"hark/controller/cli"
	"hark/packaging/leash"
	languages "hark/playbook/level"
)

var update = flag.Bool("update", false, "ask REGISTER_ORACLES for the answers, write docs/differences.md")

const page = "../../docs/differences.md"

// leashed runs the tests on a leash.
type leashed struct{ m *testing.M }

func (l leashed) Run() int { return leash.Main(l.m) }

// TestMain lets cases call the commands by their names.
func TestMain(m *testing.M) {
	run := func() {
		if code, inner := cli.Inner(os.Args, os.Stdin, os.Stdout, os.Stderr); inner {
			os.Exit(code)
		}
		s := cli.ThisSystem()
		s.NoTTY = true
		os.Exit(cli.Main(context.Background(), s))
	}
	commands := map[string]func(){}
	for _, name := range []string{"ansible", "ansible-playbook", "ansible-inventory", "ansible-config", "ansible-vault", "ansible-doc"} {
		commands[name] = run
	}
	testscript.Main(leashed{m}, commands)
}

// testCase is one finding.
type testCase struct {
	path, name string
	about      []string
	lines      []string
	levels     []string
	accepted   map[string]string // reasons by level
	settings   map[string]string
	archive    *txtar.Archive
}

func readCases(t *testing.T) []testCase {
	t.Helper()
	paths, err := filepath.Glob("cases/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found (%v)", err)
	}
	var out []testCase
	for _, path := range paths {
		out = append(out, readCase(t, path))
	}
	return out
}

func readCase(t *testing.T, path string) testCase {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := testCase{
		path: path, name: strings.TrimSuffix(filepath.Base(path), ".txt"), archive: archive,
		levels: []string{"2.14", "2.19"}, accepted: map[string]string{}, settings: map[string]string{},
	}
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if text, isText := strings.CutPrefix(line, "#"); isText {
			c.about = append(c.about, strings.TrimSpace(text))
			continue
		}
		key, val, ok := strings.Cut(line, ": ")
		level, isAccepted := strings.CutPrefix(key, "accepted ")
		switch {
		case line == "":
		case !ok:
			t.Fatalf("%s: %q is no setting", path, line)
		case isAccepted:
			c.accepted[level] = val
		case key == "run":
			c.lines = append(c.lines, val)
		case key == "levels":
			c.levels = strings.Fields(val)
		case key == "stderr", key == "root", key == "needs":
			c.settings[key] = val
		default:
			t.Fatalf("%s: %q is no setting", path, key)
		}
	}
	if c.lines == nil {
		c.lines = []string{"ansible-playbook " + c.inventory() + "site.yml"}
	}
	return c
}

func (c testCase) inventory() string {
	if slices.ContainsFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == "inventory" }) {
		return "-i inventory "
	}
	return ""
}

// answer is what the real one printed, "" if it was not asked.
func (c testCase) answer(of string) string {
	for _, f := range c.archive.Files {
		if f.Name == "answer/"+of {
			return string(f.Data)
		}
	}
	return ""
}

func TestCases(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.name, func(t *testing.T) {
			if c.settings["root"] != "" && os.Getuid() != 0 {
				t.Skip("only root can play it")
			}
			t.Parallel()
			for _, level := range c.levels {
				t.Run(level, func(t *testing.T) {
					if !*update {
						c.compare(t, level)
					} else if dir := oracles()[level]; dir != "" {
						c.ask(t, level, dir)
					}
				})
			}
		})
	}
}

// compare plays a case at a level.
func (c testCase) compare(t *testing.T, level string) {
	want := c.answer(level)
	if want == "" {
		t.Fatal("the case has no answer of this level: see -update")
	}
	if c.settings["needs"] != "" && oracles()[level] == "" {
		t.Skipf("no ansible-core %s is here: REGISTER_ORACLES names none", level)
	}
	got := c.play(t, "", "HARK_ANSIBLE="+level)
	reason, accepted := c.accepted[level]
	if got == want && accepted {
		t.Errorf("there is no difference any more, but one is accepted: %s", reason)
	}
	if got != want && !accepted {
		t.Errorf("-ansible +hark:\n%s", cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

// ask has the real one play the case, and keeps what it says.
func (c testCase) ask(t *testing.T, level, dir string) {
	name, text := "answer/"+level, []byte(c.play(t, dir))
	i := slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		c.archive.Files = append(c.archive.Files, txtar.File{Name: name})
		i = len(c.archive.Files) - 1
	}
	c.archive.Files[i].Data = text
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// oracles are the directories of the real commands by level.
func oracles() map[string]string {
	out := map[string]string{}
	if core := languages.CoreIn("/usr/lib/python3/dist-packages/ansible"); strings.HasPrefix(core, "2.14.") {
		out["2.14"] = "/usr/bin"
	}
	for _, pair := range strings.Fields(os.Getenv("REGISTER_ORACLES")) {
		level, dir, _ := strings.Cut(pair, "=")
		out[level] = dir
	}
	return out
}

// play runs the lines of a case in a directory of its own and gives what was printed, line by line. The commands are
// those of dir, or hark's.
func (c testCase) play(t *testing.T, dir string, env ...string) string {
	t.Helper()
	work := t.TempDir()
	project, home := filepath.Join(work, "project"), filepath.Join(work, "home")
	for _, d := range []string{project, home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range c.archive.Files {
		if !strings.HasPrefix(f.Name, "answer/") {
			write(t, filepath.Join(project, f.Name), f.Data)
		}
	}
	path := os.Getenv("PATH")
	if c.settings["needs"] != "" {
		path += ":" + oracles()[strings.TrimPrefix(strings.Join(env, ""), "HARK_ANSIBLE=")]
	}
	if dir != "" {
		path = dir + ":/usr/bin:/bin"
	}
	var out strings.Builder
	for _, line := range c.lines {
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Dir = project
		cmd.Env = append([]string{
			"HOME=" + home, "HARK_HOME=" + home + "/.hark", "PATH=" + path, "LANG=C.UTF-8", "TERM=dumb", "COLUMNS=80",
			"USER=" + os.Getenv("USER"), "OUT=" + work, "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0",
			"ANSIBLE_INVENTORY_UNPARSED_WARNING=0", "ANSIBLE_TRANSPORT=local", "ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3", "ANSIBLE_FORKS=1",
		}, env...)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "$ %s\n%s", line, stdout.String())
		if c.settings["stderr"] == "compare" {
			fmt.Fprintf(&out, "stderr:\n%s", stderr.String())
		}
		fmt.Fprintf(&out, "exit %d\n", cmd.ProcessState.ExitCode())
		if t.Failed() || testing.Verbose() {
			t.Logf("stderr of %q:\n%s", line, stderr.String())
		}
	}
	return normal(out.String(), work)
}

// volatile is what differs from run to run of the same engine.
var volatile = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`"(start|end|delta)": "[-0-9: .]+"`), `"$1": "TIME"`},
	{regexp.MustCompile(`[ \t]+(\n|$)`), `$1`}, // so that editors may take blanks at the ends of lines away
}

// unwrapped has each warning on one line.
func unwrapped(text string) string {
	var out []string
	within := false
	for line := range strings.SplitSeq(text, "\n") {
		starts := strings.HasPrefix(line, "[WARNING]: ") || strings.HasPrefix(line, "[DEPRECATION WARNING]: ")
		ends := line == "" || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "exit ")
		if within && !ends {
			out[len(out)-1] += " " + line
			continue
		}
		within = starts
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func normal(text, work string) string {
	// Ansible wraps warnings, also within a path that has a hyphen, so where lines end depends on the length of work.
	var broken strings.Builder
	for _, char := range work {
		broken.WriteString(regexp.QuoteMeta(string(char)) + `\n?`)
	}
	text = regexp.MustCompile(strings.TrimSuffix(broken.String(), `\n?`)).ReplaceAllLiteralString(text, "WORK")
	text = unwrapped(text)
	for _, v := range volatile {
		text = v.re.ReplaceAllString(text, v.to)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(string(text), "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, text, mode); err != nil {
		t.Fatal(err)
	}
}

const pageHead = `<!-- Made from packaging/register: go test ./packaging/register -run TestPageIsFresh -update -->

# Known differences from Ansible

Each is a small project that real ansible-core and hark play differently, and the reason. The projects lie under
` + "`packaging/register/cases`" + ` with Ansible's answers. Differences between language levels are in [levels.md](levels.md).

| project | level | what | why |
|---|---|---|---|
`

// TestPageIsFresh: users see every accepted difference.
func TestPageIsFresh(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	cell := strings.NewReplacer("|", `\|`).Replace
	for _, c := range readCases(t) {
		for _, level := range c.levels {
			if reason := c.accepted[level]; reason != "" {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.name, level, cell(strings.Join(c.about, " ")), cell(reason))
			}
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != b.String() {
		t.Errorf("docs/differences.md is stale (%v): go test ./packaging/register -run TestPageIsFresh -update makes it anew", err)
	}
}
