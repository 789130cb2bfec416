package worker

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules"
)

// closedProgram is this test in a directory that only its owner may enter.
func closedProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "closed")
	path := filepath.Join(dir, "hark-agent")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// openDir is a directory in which all users may make files of their own.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "open")
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAUserForWhomTheProgramIsClosedHasACopy, which is gone as soon as it runs.
func TestAUserForWhomTheProgramIsClosedHasACopy(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root becomes somebody by his ids")
	}
	p := &Pool{Argv: []string{closedProgram(t), "worker"}}
	defer p.Close()
	dir := openDir(t)
	env := func() *modules.Env {
		return &modules.Env{Warn: func(string, ...any) {}, Environ: []string{"TMPDIR=" + dir}}
	}
	for range 2 {
		if r := p.Call(t.Context(), invocation(wire.RunAs{User: "nobody"}, nil, env())); r.Failed {
			t.Fatal(r.Msg)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// handed runs the shell of a handover with what is sent to it, and gives what it says.
func handed(t *testing.T, program, sent string, environ ...string) (said string, err error) {
	t.Helper()
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	argv := handover([]string{program, "said"}, info.Size())
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), environ...)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(out)
	_, _ = io.WriteString(in, sent) // the shell may have ended
	err = handOver(program, from, in)
	in.Close()
	rest, _ := io.ReadAll(from)
	_ = cmd.Wait()
	return string(rest), err
}

// TestHandovers: what is there is run where it is, what is closed is copied, and a shell that can do neither says so.
func TestHandovers(t *testing.T) {
	script := "#!/bin/sh\necho \"$1 by ${0##*/} with $#\"\nrm -rf \"$2\"\n"
	dir := openDir(t)
	open, closed := filepath.Join(dir, "open"), filepath.Join(t.TempDir(), "closed")
	for path, mode := range map[string]os.FileMode{open: 0o755, closed: 0o600} {
		if err := os.WriteFile(path, []byte(script), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ program, sent, want string }{
		"there":                    {open, "", "said by open with 1\n"},
		"closed":                   {closed, "", "said by hark-agent with 2\n"},
		"a password before":        {closed, "s3cret\n", "said by hark-agent with 2\n"},
		"a password without a use": {open, "s3cret\n", "said by open with 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := handed(t, c.program, c.sent, "TMPDIR="+dir)
			if got != c.want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	if left, err := filepath.Glob(dir + "/.hark-*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestWhoWantsNothingIsHeard: what a shell says that never comes to the program is the reason.
func TestWhoWantsNothingIsHeard(t *testing.T) {
	err := handOver("/none", bufio.NewReader(strings.NewReader("Welcome\nThis account is currently not available.\n")),
		io.Discard)
	if err == nil || err.Error() != "Welcome\nThis account is currently not available." {
		t.Error(err)
	}
}

// TestOnlyOwnDirectoriesAreRemoved: a worker removes what it lies in, and nothing else that it is told.
func TestOnlyOwnDirectoriesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	if err := Settle([]string{dir}); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// TestProgramsThatEverybodyRuns are so by the modes of the file and of what it lies in.
func TestProgramsThatEverybodyRuns(t *testing.T) {
	if !everybodyRuns("/bin/sh") {
		t.Error("/bin/sh")
	}
	if path := closedProgram(t); everybodyRuns(path) {
		t.Error(path)
	}
}

// TestPasswordsThatAreAskedForAtATerminal have an answer, also when the process closes what it was given of the
// terminal.
func TestPasswordsThatAreAskedForAtATerminal(t *testing.T) {
	as := wire.RunAs{User: "x", Method: "community.general.doas", Password: "s3cret"}
	if !asksTerminal(as) || asksTerminal(wire.RunAs{Password: "x"}) {
		t.Fatal("which methods ask at a terminal")
	}
	l := &launch{cmd: exec.Command("/bin/sh", "-c", `exec 3<&-; sleep 0.1; printf 'doas (x@h) password: ' >/dev/tty; `+
		`read -r p </dev/tty; echo "had $p"; exit 0`)}
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := l.addTerminal(newStartupOutput(as)); err != nil {
		t.Skip("no terminals here: ", err)
	}
	defer l.over()
	patience := time.AfterFunc(20*time.Second, func() { _ = l.cmd.Process.Kill() })
	defer patience.Stop()
	if out, err := l.cmd.Output(); err != nil || string(out) != "had s3cret\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestASudoThatWantsATerminalIsTriedWithOne, once.
func TestASudoThatWantsATerminalIsTriedWithOne(t *testing.T) {
	s := newStartupOutput(wire.RunAs{User: "x"})
	fmt.Fprintln(s, "sudo: sorry, you must have a tty to run sudo")
	if err := s.why(io.EOF); err != errTerminal {
		t.Error(err)
	}
	s.terminal = true
	if err := s.why(io.EOF); err == errTerminal {
		t.Error("it would be tried for ever")
	}
}
