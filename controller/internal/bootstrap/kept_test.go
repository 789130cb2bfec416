package bootstrap_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/bootstrap"
	"hark/controller/internal/ssh"
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
	fake := filepath.Join(dir, "ssh")
	script := "#!/bin/sh\nfor c; do :; done\nexport HOME=" + k.home + "\ncase $c in *'gzip -dc >'*) echo sent >>" + dir + "/sent ;; esac\nexec sh -c \"$c\"\n"
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		t.Fatal(err)
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
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), ".hark-*")); len(left) > 0 {
		k.t.Errorf("left behind: %q", left)
	}
	return string(text), strings.Count(string(log), "sent")
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

// TestKeptAgentsAreWhatTheySay: one that was changed, or that somebody else could have changed, is not run; one that nobody used goes.
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
