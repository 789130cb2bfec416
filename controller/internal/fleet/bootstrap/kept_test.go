package bootstrap_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/ssh"
)

// playEphemeral says who it is, notes from where it was run in HARK_TEST_NOTE, and ends with its line.
func playEphemeral() {
	_ = json.NewEncoder(os.Stdout).Encode(wire.SetupKeys{Key: os.Getenv("HARK_TEST_KEY"), XKey: os.Getenv("HARK_TEST_XKEY")})
	var grant wire.EphemeralGrant
	in := bufio.NewReader(os.Stdin)
	read(in, &grant)
	self, _ := os.Executable()
	_ = os.WriteFile(os.Getenv("HARK_TEST_NOTE"), []byte(self), 0o600)
	_, _ = io.Copy(io.Discard, in)
}

// keeper is a host that is this machine, with a home of its own; it counts what is uploaded.
type keeper struct {
	t          *testing.T
	home, note string
	client     *ssh.Client
	binaries   *bootstrap.Binaries
}

func newKeeper(t *testing.T) *keeper {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	k := &keeper{t: t, home: filepath.Join(dir, "home"), note: filepath.Join(dir, "note"), binaries: &bootstrap.Binaries{Paths: []string{self}}}
	t.Setenv("HARK_TEST_KEY", id.Key)
	t.Setenv("HARK_TEST_XKEY", id.XKey)
	t.Setenv("HARK_TEST_NOTE", k.note)
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	for _, d := range []string{k.home, os.TempDir()} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	head, err := exec.LookPath("head")
	if err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(dir, "ssh")
	for name, script := range map[string]string{
		"ssh":  "echo session >>" + dir + "/sessions\nfor c; do :; done\nexport HOME=" + k.home + " PATH=" + dir + ":$PATH\nexec sh -c \"$c\"\n",
		"head": "echo sent >>" + dir + "/sent\nexec " + head + " \"$@\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if k.client, err = ssh.Open(fake); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.client.Close() })
	return k
}

// run brings up an agent and ends it. It gives the program that ran, and how often one was sent so far.
func (k *keeper) run(keep bool) (program string, sent int) {
	k.t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	cfg := bootstrap.EphemeralConfig{
		Client: k.client, Binaries: k.binaries, Keep: keep, Grant: func(string) (string, error) { return "jwt", nil },
		Open: func() (net.Conn, error) { return far, nil },
	}
	_ = os.Remove(k.note)
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	e, err := cfg.Start(ctx, bootstrap.Host{Name: "h1"})
	if err != nil {
		k.t.Fatal(err)
	}
	near.Close()
	e.End()
	text, err := os.ReadFile(k.note)
	if err != nil {
		k.t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(filepath.Dir(k.note), "sent"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		k.t.Fatal(err)
	}
	noneLeft(k.t)
	return string(text), strings.Count(string(log), "sent")
}

// noneLeft waits until the shells of hosts have removed their directories, which they do when they hear nothing more.
func noneLeft(t *testing.T) {
	t.Helper()
	var left []string
	for range 200 {
		if left, _ = filepath.Glob(filepath.Join(os.TempDir(), ".hark-*")); len(left) == 0 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("left behind: %q", left)
}

func (k *keeper) kept() []string {
	kept, err := filepath.Glob(filepath.Join(k.home, ".cache/hark/*"))
	if err != nil {
		k.t.Fatal(err)
	}
	return kept
}

// TestAgentsStayOnHostsIfTheyMay: the program is sent once; without leave it is sent each time, and nothing stays.
func TestAgentsStayOnHostsIfTheyMay(t *testing.T) {
	k := newKeeper(t)
	for i := range 2 {
		if _, sent := k.run(false); sent != i+1 || len(k.kept()) != 0 {
			t.Errorf("run %d: sent %d times, there is %q", i, sent, k.kept())
		}
	}
	for range 2 {
		program, sent := k.run(true)
		if kept := k.kept(); sent != 3 || len(kept) != 1 || program != kept[0] {
			t.Errorf("sent %d times, ran %q, there is %q", sent, program, kept)
		}
	}
}

// TestOneSessionBringsUpAnAgent, whether its program has to be sent or is there.
func TestOneSessionBringsUpAnAgent(t *testing.T) {
	k := newKeeper(t)
	for i, keep := range []bool{false, true, true} {
		k.run(keep)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(k.note), "sessions"))
		if err != nil || strings.Count(string(text), "session") != i+1 {
			t.Errorf("after %d runs there were %q, %v", i+1, text, err)
		}
	}
}

// TestAgentsThatDoNotComeUpSayWhy, in the words of what failed on the host.
func TestAgentsThatDoNotComeUpSayWhy(t *testing.T) {
	for name, tc := range map[string]struct{ program, script, want string }{
		"the disk is full":       {"head", "echo 'No space left on device' >&2; exit 1", "cannot upload the agent: No space left on device"},
		"no file may be run":     {"chmod", "exit 0", "no directory was found in which programs may be written and run"},
		"nothing can be run":     {"mktemp", "exit 1", "no directory was found in which programs may be written and run"},
		"another system":         {"uname", "echo Haiku x86_64", "there is no agent for haiku"},
		"the shell ends":         {"uname", "kill $PPID", "ended without an answer"},
		"the host says too much": {"chmod", "yes | head -n 2000; exec /bin/chmod \"$@\"", "ended without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			path := filepath.Join(filepath.Dir(k.note), tc.program)
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			cfg := bootstrap.EphemeralConfig{Client: k.client, Binaries: k.binaries, Grant: func(string) (string, error) { return "jwt", nil }}
			_, err := cfg.Start(t.Context(), bootstrap.Host{Name: "h1"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			noneLeft(t)
		})
	}
}

// TestKeptAgentsAreWhatTheySay: one that was changed, or that somebody else could have changed, is not run; one that
// nobody used goes.
func TestKeptAgentsAreWhatTheySay(t *testing.T) {
	k := newKeeper(t)
	k.run(true)
	kept := k.kept()[0]
	if err := os.WriteFile(kept, []byte("#!/bin/sh\necho taken over\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(filepath.Dir(kept), "agent-old")
	if err := os.WriteFile(old, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-9 * 24 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if program, sent := k.run(true); sent != 2 || program != kept {
		t.Errorf("sent %d times, ran %q", sent, program)
	}
	if now := k.kept(); len(now) != 1 {
		t.Errorf("there is %q", now)
	}
	elsewhere := filepath.Join(k.home, "elsewhere")
	dir := filepath.Dir(kept)
	if err := errors.Join(os.Rename(dir, elsewhere), os.Symlink(elsewhere, dir)); err != nil {
		t.Fatal(err)
	}
	if program, sent := k.run(true); sent != 3 || strings.HasPrefix(program, elsewhere) || strings.HasPrefix(program, dir) {
		t.Errorf("sent %d times, ran %q, by way of a link", sent, program)
	}
}

// TestAgentsRunWhereTheyCannotStay: a home in which nothing can be written keeps no agent, and that is no error.
func TestAgentsRunWhereTheyCannotStay(t *testing.T) {
	k := newKeeper(t)
	if err := os.WriteFile(filepath.Join(k.home, ".cache"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if program, sent := k.run(true); sent != i+1 || !strings.HasPrefix(program, os.TempDir()) {
			t.Errorf("sent %d times, ran %q", sent, program)
		}
	}
}
