//go:build e2e

// Package e2e plays the same project under real Ansible and under hark, side by side, and compares the
// screen, the exit code and every file that was left. A case is a txtar archive under cases/: its comment holds
// settings, its files are the project.
//
//	args: -v site.yml        arguments; the inventory is added when the case has a file "inventory"
//	command: ansible         another front end than ansible-playbook
//	run: ansible all -m ping a line for the shell instead of args; there may be many, each with its exit code; a file "inventory" is theirs too
//	modes: local agents      how hark runs it (default both); the oracle uses -c local
//	also: mixed              and in a fleet of which half the hosts have no agent and are reached by testdata/ssh
//	modes: ssh               both use -c ssh, with a client for which every host is this machine (testdata/ssh)
//	env: NAME=value          one more variable of the environment
//	stdout: ignore           compare exit code and files alone
//	stderr: compare          compare stderr too
//	record: other            callbacks of its own print there too: it cannot be shown again as it was
//	accepted 2.19: REASON    hark differs from Ansible at that level
//	sort: items              loops of several hosts: order entries within a task by host and text
//
// The build tag keeps these tests out of `make test`: they need Ansible.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

type testCase struct {
	name     string
	command  string
	args     []string
	lines    []string // for the shell, instead of command and args
	modes    []string
	env      []string
	settings map[string]string
	comment  []byte
	files    []txtar.File
}

// outcome is what one run left behind.
type outcome struct {
	Code   int
	Stdout string
	Stderr string
	Files  map[string]string
}

func TestCases(t *testing.T) {
	const lanes = 2 // cases that are played at the same time; a play waits for programs most of its time
	paths, err := filepath.Glob("cases/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found (%v)", err)
	}
	fleets := make(chan map[string]*fleet, lanes)
	for range lanes {
		fleets <- startFleets(t)
	}
	kept := map[string]answers{}
	for _, level := range playedLevels() {
		kept[level] = readAnswers(t, level)
	}
	for _, path := range paths {
		c := readCase(t, path)
		t.Run(c.name, func(t *testing.T) {
			if !*record { // which writes to one map
				t.Parallel()
			}
			own := <-fleets
			defer func() { fleets <- own }()
			for _, level := range playedLevels() {
				t.Run(level, func(t *testing.T) { c.playLevel(t, level, kept[level], own) })
			}
		})
	}
	if *record {
		for _, level := range playedLevels() {
			kept[level].write(t, level)
		}
	}
}

// engine is one of the two programs under comparison.
type engine struct {
	dir        string // of the commands
	connection string // for all hosts, "" for what their variables say
	env        []string
}

// oracle is the real Ansible whose commands are in dir.
func oracle(t *testing.T, dir string, modes []string) engine {
	t.Helper()
	if dir == "" {
		t.Fatal("real Ansible is not installed: .ci/run installs ansible-core")
	}
	// With more than one worker, what Ansible prints depends on which of them ends first, and so does the order of
	// included files.
	e := engine{dir: dir, connection: "local", env: []string{"ANSIBLE_FORKS=1"}}
	if slices.Contains(modes, "ssh") {
		e.overSSH(t)
	}
	return e
}

// overSSH has the hosts reached by the client in testdata.
func (e *engine) overSSH(t *testing.T) {
	t.Helper()
	client, err := filepath.Abs("testdata/ssh")
	if err != nil {
		t.Fatal(err)
	}
	e.connection = "ssh"
	e.env = append(e.env, "ANSIBLE_SSH_EXECUTABLE="+client, "ANSIBLE_SSH_TRANSFER_METHOD=piped", "FAKE_USER=here")
}

func ours(t *testing.T, mode string) engine {
	t.Helper()
	dir, err := filepath.Abs("../../bin/links")
	if err != nil {
		t.Fatal(err)
	}
	e := engine{dir: dir, env: []string{"ANSIBLE_FORKS=10"}}
	switch mode {
	case "local":
		e.connection = "local"
	case "ssh":
		e.overSSH(t)
	case "mixed":
		e.overSSH(t)
		e.connection, e.env = "", append(e.env, "FAKE_USER=")
	}
	return e
}

func readCase(t *testing.T, path string) testCase {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := testCase{
		name:     strings.TrimSuffix(filepath.Base(path), ".txt"),
		command:  "ansible-playbook",
		modes:    []string{"local", "agents"},
		settings: map[string]string{},
		comment:  archive.Comment,
		files:    archive.Files,
	}
	for _, line := range strings.Split(string(archive.Comment), "\n") {
		key, val, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		switch key {
		case "command":
			c.command = val
		case "args":
			c.args = strings.Fields(val)
		case "run":
			c.lines = append(c.lines, val)
			c.modes = []string{"local"}
		case "modes":
			c.modes = strings.Fields(val)
		case "also":
			c.modes = append(c.modes, val)
		case "env":
			c.env = append(c.env, val)
		default:
			c.settings[key] = val
		}
	}
	return c
}

// prepared is a case that is ready to run in a directory of its own.
type prepared struct {
	work, home string
	cmd        *exec.Cmd
}

// run plays the case in a directory of its own and tells what it left.
func (c testCase) run(t *testing.T, e engine, env []string) outcome {
	t.Helper()
	r := c.prepare(t, e, env)
	var stdout, stderr strings.Builder
	r.cmd.Stdout, r.cmd.Stderr = &stdout, &stderr
	code := runLimited(t, r.cmd)
	norm := normaliser(r.work)
	return outcome{
		Code:   code,
		Stdout: norm(stdout.String()),
		Stderr: norm(stderr.String()),
		Files:  tree(t, filepath.Join(r.work, "out"), norm),
	}
}

// workDirs numbers the directories of plays.
var workDirs atomic.Int64

// workDir makes a directory whose name is as long as that of any other: messages are wrapped with the names in them.
func workDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("case%06d", workDirs.Add(1)))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// prepare writes the project of a case, and makes the command that plays it.
func (c testCase) prepare(t *testing.T, e engine, env []string) prepared {
	t.Helper()
	work := workDir(t)
	project, home := filepath.Join(work, "project"), filepath.Join(work, "home")
	for _, dir := range []string{project, home, filepath.Join(work, "out")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range c.files {
		writeFile(t, filepath.Join(project, f.Name), f.Data)
	}
	var args, asked []string // asked says the same to the commands of lines
	if e.connection != "" {
		args = append(args, "-c", e.connection)
	}
	if _, err := os.Stat(filepath.Join(project, "inventory")); err == nil {
		args = append(args, "-i", "inventory")
		asked = append(asked, "ANSIBLE_INVENTORY=inventory")
		if e.connection != "" {
			asked = append(asked, "ANSIBLE_TRANSPORT="+e.connection)
		}
	}
	args = append(args, c.args...)
	if c.command == "ansible-playbook" || c.command == "ansible" {
		args = append(args, "-e", "out="+filepath.Join(work, "out"))
	}
	cmd := exec.Command(filepath.Join(e.dir, c.command), args...)
	if c.lines != nil {
		cmd = exec.Command("/bin/sh", "-c", script(c.lines))
	} else {
		asked = nil
	}
	cmd.Dir = project
	cmd.Env = append(append([]string{
		"HOME=" + home, "PATH=" + e.dir + ":" + os.Getenv("PATH"), "OUT=" + filepath.Join(work, "out"), "LANG=C.UTF-8", "TERM=dumb", "USER=" + os.Getenv("USER"),
		"ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0", "ANSIBLE_DEPRECATION_WARNINGS=0",
		"ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3",
	}, slices.Concat(asked, e.env, c.env)...), env...)
	return prepared{work, home, cmd}
}

// script runs lines one by one and says of each, on both streams, what it is and how it ended.
func script(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		quoted := "'" + strings.ReplaceAll("$ "+line, "'", `'\''`) + "'"
		b.WriteString("echo " + quoted + "; echo " + quoted + " >&2; " + line + "\necho \"exit $?\"\n")
	}
	return b.String()
}

// runLimited runs cmd and ends it when it hangs, so that one bad case does not hold the rest.
func runLimited(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := 2 * time.Minute
	if *record {
		limit = 10 * time.Minute // on a busy machine, too
	}
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !timer.Stop() {
		t.Errorf("%s hung: ended after %s", cmd.Path, limit)
	}
	if err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode()
}

func (c testCase) compare(t *testing.T, want, got outcome) {
	t.Helper()
	if want.Code != got.Code {
		t.Errorf("exit code: ansible %d, hark %d\nstderr of hark:\n%s", want.Code, got.Code, got.Stderr)
	}
	want, got = c.compared(want), c.compared(got)
	report(t, "stdout", want.Stdout, got.Stdout)
	report(t, "stderr", want.Stderr, got.Stderr)
	if diff := cmp.Diff(want.Files, got.Files); diff != "" {
		t.Errorf("files (-ansible +hark):\n%s", diff)
	}
}

func report(t *testing.T, what, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	t.Errorf("%s (-ansible +hark):\n%s", what, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
}
