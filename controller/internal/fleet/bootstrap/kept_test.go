package bootstrap_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/ssh"
)

// playEphemeral says who it is, notes from where it was run in HARK_TEST_NOTE, and ends with its line.
func playEphemeral() {
	_ = json.NewEncoder(os.Stdout).
		Encode(wire.SetupKeys{Key: os.Getenv("HARK_TEST_KEY"), XKey: os.Getenv("HARK_TEST_XKEY")})
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
	target     ssh.Target
	told       int // how often it was said that a program stays
}

// own is this program as the agent, which is packed once for all tests.
var own = sync.OnceValue(func() *bootstrap.Binaries { return &bootstrap.Binaries{Paths: []string{os.Args[0]}} })

func newKeeper(t *testing.T) *keeper {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	k := &keeper{t: t, home: filepath.Join(dir, "home"), note: filepath.Join(dir, "note"), binaries: own()}
	t.Setenv("HARK_TEST_KEY", id.Key)
	t.Setenv("HARK_TEST_XKEY", id.XKey)
	t.Setenv("HARK_TEST_NOTE", k.note)
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	t.Setenv("XDG_CACHE_HOME", "")
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
		"ssh": "echo session >>" + dir + "/sessions\nfor c; do :; done\nexport HOME=" + k.home + " PATH=" + dir +
			":$PATH\nexec sh -c \"$c\"\n",
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
		Open: func() (net.Conn, error) { return far, nil }, Kept: func() { k.told++ },
	}
	_ = os.Remove(k.note)
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	e, err := cfg.Start(ctx, bootstrap.Host{Name: "h1", Target: k.target})
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
		"the disk is full": {"head", "echo 'No space left on device' >&2; exit 1",
			"cannot upload the agent: No space left on device"},
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
			cfg := bootstrap.EphemeralConfig{Client: k.client, Binaries: k.binaries,
				Grant: func(string) (string, error) { return "jwt", nil }}
			_, err := cfg.Start(t.Context(), bootstrap.Host{Name: "h1"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			noneLeft(t)
		})
	}
}

// TestKeptAgentsAreWhatTheySay: a program in the cache is run only if its content is the agent's, it is the user's
// own, and nobody else could put another in its place. Else the agent is sent again.
func TestKeptAgentsAreWhatTheySay(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, dir, file string) error
		// stays: the agent that is sent can take the place of what was there.
		stays bool
	}{
		"another program": {stays: true, spoil: func(_ *testing.T, _, file string) error {
			return os.WriteFile(file, []byte("#!/bin/sh\necho taken over\n"), 0o700)
		}},
		"another byte": {stays: true, spoil: func(_ *testing.T, _, file string) error {
			f, err := os.OpenFile(file, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			b := make([]byte, 1)
			if _, err = f.ReadAt(b, 4096); err == nil {
				b[0]++
				_, err = f.WriteAt(b, 4096)
			}
			return err
		}},
		"a link to the same": {stays: true, spoil: func(_ *testing.T, dir, file string) error {
			there := filepath.Join(filepath.Dir(dir), "there")
			return errors.Join(os.Rename(file, there), os.Symlink(there, file))
		}},
		"a link to nothing": {stays: true, spoil: func(_ *testing.T, _, file string) error {
			return errors.Join(os.Remove(file), os.Symlink("/nowhere", file))
		}},
		"a pipe": {stays: true, spoil: func(_ *testing.T, _, file string) error {
			return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o700))
		}},
		"a directory": {spoil: func(_ *testing.T, _, file string) error {
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		}},
		"a link to directory": {spoil: func(_ *testing.T, dir, file string) error {
			return errors.Join(os.Remove(file), os.Symlink(filepath.Dir(dir), file))
		}},
		"not to be run": {stays: true,
			spoil: func(_ *testing.T, _, file string) error { return os.Chmod(file, 0o600) }},
		"another's file":      {stays: true, spoil: func(t *testing.T, _, file string) error { return disown(t, file) }},
		"another's directory": {spoil: func(t *testing.T, dir, _ string) error { return disown(t, dir) }},
		"another's cache":     {spoil: func(t *testing.T, dir, _ string) error { return disown(t, filepath.Dir(dir)) }},
		"a cache for all":     {spoil: func(_ *testing.T, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o777) }},
		"a cache for a group": {spoil: func(_ *testing.T, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o770) }},
		"a home for all": {spoil: func(_ *testing.T, dir,
			_ string) error {
			return os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o777)
		}},
		"a link to the cache": {spoil: relink},
		"no means to check it": {spoil: func(t *testing.T, dir, _ string) error {
			tools := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
			return os.WriteFile(filepath.Join(tools, "sha256sum"), []byte("#!/bin/sh\nexit 127\n"), 0o700)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			k.run(true)
			kept := k.kept()
			if len(kept) != 1 {
				t.Fatalf("there is %q", kept)
			}
			dir, file := filepath.Dir(kept[0]), kept[0]
			if err := tc.spoil(t, dir, file); err != nil {
				t.Fatal(err)
			}
			program, sent := k.run(true)
			if sent != 2 || (program == file) != tc.stays || !tc.stays && !strings.HasPrefix(program, os.TempDir()) {
				t.Errorf("sent %d times, ran %q", sent, program)
			}
			if !tc.stays {
				return
			}
			agent, err := os.ReadFile(os.Args[0])
			now, nowErr := os.ReadFile(file)
			if err := errors.Join(err, nowErr); err != nil || !bytes.Equal(agent, now) {
				t.Errorf("what stays is not the agent, %v", err)
			}
		})
	}
}

// disown gives a file to another user, which only root can.
func disown(t *testing.T, path string) error {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	return os.Lchown(path, 65534, 65534)
}

// relink puts a link in the place of a directory.
func relink(_ *testing.T, dir, _ string) error {
	elsewhere := filepath.Join(filepath.Dir(dir), "elsewhere")
	return errors.Join(os.Rename(dir, elsewhere), os.Symlink(elsewhere, dir))
}

// TestTheCacheIsWhereTheUserSays, by XDG_CACHE_HOME, which counts if it is a whole path.
func TestTheCacheIsWhereTheUserSays(t *testing.T) {
	k := newKeeper(t)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(k.home, "own"))
	if program, _ := k.run(true); !strings.HasPrefix(program, filepath.Join(k.home, "own", "hark", "agent-")) {
		t.Errorf("ran %q", program)
	}
	t.Setenv("XDG_CACHE_HOME", "own")
	if program, _ := k.run(true); !strings.HasPrefix(program, filepath.Join(k.home, ".cache", "hark", "agent-")) {
		t.Errorf("ran %q", program)
	}
	if k.told != 2 {
		t.Errorf("it was told %d times", k.told)
	}
	if k.run(true); k.told != 2 {
		t.Error("it was told of an agent that was there")
	}
}

// TestNothingStaysWhereAProgramEnters: a container or a directory may be an image in the making.
func TestNothingStaysWhereAProgramEnters(t *testing.T) {
	k := newKeeper(t)
	k.target.Enter = []string{k.client.Executable}
	if program, _ := k.run(true); len(k.kept()) != 0 || k.told != 0 || !strings.HasPrefix(program, os.TempDir()) {
		t.Errorf("ran %q, there is %q", program, k.kept())
	}
}

// TestUnusedAgentsGo: after a week, those of other versions after a day if another is kept, and nothing that is none.
func TestUnusedAgentsGo(t *testing.T) {
	k := newKeeper(t)
	k.run(true)
	kept := k.kept()[0]
	dir := filepath.Dir(kept)
	age := func(name string, days int) {
		path, then := filepath.Join(dir, name), time.Now().Add(-time.Duration(days)*24*time.Hour-time.Hour)
		if err := errors.Join(os.WriteFile(path, nil, 0o700), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names []string) {
		for _, path := range k.kept() {
			names = append(names, strings.Replace(filepath.Base(path), filepath.Base(kept), "this", 1))
		}
		return names
	}
	for name, days := range map[string]int{"agent-week": 8, "agent-days": 2, "agent-hour": 0, ".agent-torn": 8,
		"notes": 30} {
		age(name, days)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	age("sub/agent-below", 30)
	k.run(true)
	if got, want := left(), []string{"this", "agent-days", "agent-hour", "notes", "sub"}; !same(got, want) {
		t.Errorf("after a run there is %q, want %q", got, want)
	}
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	k.run(true)
	if got, want := left(), []string{"this", "agent-hour", "notes", "sub"}; !same(got, want) {
		t.Errorf("after another was kept there is %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub/agent-below")); err != nil {
		t.Error(err)
	}
}

func same(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// TestAgentsArePackedOnce for all runs of a controller, and again for another version.
func TestAgentsArePackedOnce(t *testing.T) {
	k := newKeeper(t)
	cache := filepath.Join(t.TempDir(), "packed")
	first := ""
	for i := range 2 {
		k.binaries = &bootstrap.Binaries{Paths: k.binaries.Paths, Cache: cache}
		if _, sent := k.run(false); sent != i+1 {
			t.Fatalf("sent %d times", sent)
		}
		found, _ := filepath.Glob(filepath.Join(cache, "agent-*"))
		if len(found) != 1 {
			t.Fatalf("there is %q", found)
		}
		info, err := os.Stat(found[0])
		if err != nil {
			t.Fatal(err)
		}
		now := info.ModTime().String() + found[0]
		if first == "" {
			first = now
		}
		if now != first {
			t.Error("it was packed twice")
		}
	}
	fresh, _ := filepath.Glob(filepath.Join(cache, "agent-*"))
	stale := fresh[0][:strings.LastIndex(fresh[0], "-")] + "-0"
	if err := errors.Join(os.WriteFile(stale, nil, 0o600), os.Remove(fresh[0])); err != nil {
		t.Fatal(err)
	}
	k.binaries = &bootstrap.Binaries{Paths: k.binaries.Paths, Cache: cache}
	k.run(false)
	if found, _ := filepath.Glob(filepath.Join(cache, "agent-*")); !slices.Equal(found, fresh) {
		t.Errorf("there is %q", found)
	}
}

// TestADigestOnRecordHoldsForItsFile, and for no other.
func TestADigestOnRecordHoldsForItsFile(t *testing.T) {
	k := newKeeper(t)
	cache, program := filepath.Join(t.TempDir(), "packed"), filepath.Join(t.TempDir(), "hark-agent")
	text, err := os.ReadFile(k.binaries.Paths[0])
	if err != nil {
		t.Fatal(err)
	}
	digest := func() string {
		b := &bootstrap.Binaries{Paths: []string{program}, Cache: cache}
		all := b.All()
		if len(all) != 1 {
			t.Fatalf("there are %d", len(all))
		}
		return all[0].Digest
	}
	if err := os.WriteFile(program, text, 0o700); err != nil {
		t.Fatal(err)
	}
	first := digest()
	if again := digest(); again != first {
		t.Errorf("%s and %s", first, again)
	}
	if err := os.WriteFile(program, append(text, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	if other := digest(); other == first {
		t.Error("another file has the digest of the first")
	}
}

// TestAgentsRunWhereTheyCannotStay: a home in which nothing can be written, or that has no room, keeps no agent, and
// that is no error.
func TestAgentsRunWhereTheyCannotStay(t *testing.T) {
	for name, obstruct := range map[string]func(k *keeper) error{
		"no directory": func(k *keeper) error { return os.WriteFile(filepath.Join(k.home, ".cache"), nil, 0o600) },
		"no room": func(k *keeper) error {
			return os.WriteFile(filepath.Join(filepath.Dir(k.note), "cp"),
				[]byte("#!/bin/sh\nhead -c 9 <\"$1\" >\"$2\"\nexit 1\n"), 0o700)
		},
		"half of it": func(k *keeper) error {
			return os.WriteFile(filepath.Join(filepath.Dir(k.note), "cp"), []byte("#!/bin/sh\nhead -c 9 <\"$1\" >\"$2\"\n"),
				0o700)
		},
		"no files at all": func(k *keeper) error {
			return os.WriteFile(filepath.Join(filepath.Dir(k.note), "mv"), []byte("#!/bin/sh\nexit 1\n"), 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			if err := obstruct(k); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if program, _ := k.run(true); !strings.HasPrefix(program, os.TempDir()) || len(k.kept()) != 0 || k.told != 0 {
					t.Errorf("ran %q, there is %q", program, k.kept())
				}
			}
			if torn, _ := filepath.Glob(filepath.Join(k.home, ".cache/hark/.agent*")); len(torn) != 0 {
				t.Errorf("left behind: %q", torn)
			}
		})
	}
}
