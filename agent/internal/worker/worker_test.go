package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/nss"
	"hark/modules/py/cwd"
	"hark/modules/py/value"
)

// The test binary is its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := Settle(os.Args[2:]); err != nil {
			panic(err)
		}
		server, err := NewServer(modules.NewRegistry(probe))
		if err != nil {
			panic(err)
		}
		if err := server.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// probe reports which user it runs as, and copies a blob of the controller back to it.
var probe = modules.Define("test.probe", "Tells as whom it runs", func(ctx context.Context, env *modules.Env, a struct {
	Blob  string      `arg:"blob"`
	Sleep bool        `arg:"sleep"`
	Mode  value.Value `arg:"mode,type=raw"`
}) (modules.Result, error) {
	if a.Sleep {
		_, err := env.Exec(ctx, modules.Command{Argv: []string{"sleep", "60"}})
		return modules.Result{}, err
	}
	dir, _ := cwd.Get()
	data := value.DictOf("dir", dir, "pid", os.Getpid(), "uid", os.Getuid(), "home", env.Getenv("HOME"), "mode",
		fmt.Sprintf("%T", a.Mode))
	if a.Blob != "" {
		r, err := env.Open(ctx, a.Blob)
		if err != nil {
			return modules.Result{}, err
		}
		defer r.Close()
		if err := env.Upload(ctx, "dest", 0o600, r); err != nil {
			return modules.Result{}, err
		}
	}
	env.Warn("seen")
	return modules.Result{Changed: true, Data: data}, nil
})

// somebody is a user that this test may become: nobody for root, else itself through a sudo that asks for nothing.
func somebody(t *testing.T) wire.RunAs {
	t.Helper()
	if os.Geteuid() == 0 {
		return wire.RunAs{User: "nobody"}
	}
	sudo := filepath.Join(t.TempDir(), "sudo")
	script := "#!/bin/sh\necho 'Last login: never'\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	if err := os.WriteFile(sudo, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return wire.RunAs{User: "root", Method: "sudo", Exe: sudo, Password: "sesame"}
}

func newPool(t *testing.T, idle time.Duration) *Pool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Pool{Argv: []string{self, "worker"}, Idle: idle}
	t.Cleanup(p.Close)
	return p
}

func invocation(as wire.RunAs, args map[string]any, env *modules.Env) call.Invocation {
	env.Environ = append(env.Environ, "HOME=/somewhere", "PATH=/usr/bin:/bin")
	return call.Invocation{Module: probe, Call: wire.Call{Module: probe.Name, User: as}, Args: modtest.Args(args),
		Env: env}
}

func TestModulesRunAsTheUserInOneResidentProcess(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	warned := 0
	env := func() *modules.Env { return &modules.Env{Warn: func(string, ...any) { warned++ }} }
	first := p.Call(context.Background(), invocation(as, nil, env()))
	second := p.Call(context.Background(), invocation(as, nil, env()))
	if first.Failed || !first.Changed || modtest.Entry(first, "home") != "/somewhere" {
		t.Fatalf("the worker returned %+v", first)
	}
	if fmt.Sprint(modtest.Entry(first, "pid")) == fmt.Sprint(os.Getpid()) ||
		fmt.Sprint(modtest.Entry(first, "pid")) != fmt.Sprint(modtest.Entry(second, "pid")) {
		t.Errorf("processes %v and %v, ours is %d", modtest.Entry(first, "pid"), modtest.Entry(second, "pid"), os.Getpid())
	}
	if os.Geteuid() == 0 {
		nobody, err := nss.UserNamed("nobody")
		if err != nil || fmt.Sprint(modtest.Entry(first, "uid")) != fmt.Sprint(nobody.UID) {
			t.Errorf("ran as %v, want %d (%v)", modtest.Entry(first, "uid"), nobody.UID, err)
		}
	}
	if warned != 2 {
		t.Errorf("%d warnings came back, want 2", warned)
	}
}

func TestBlobsAndUploadsPassThroughWhole(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	text := strings.Repeat("0123456789abcdef", 100_000) // more than one chunk
	var mu sync.Mutex
	var got string
	env := &modules.Env{
		Warn: func(string, ...any) {},
		Open: func(context.Context, string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		},
		Upload: func(_ context.Context, _ string, _ uint32, r io.Reader) error {
			b, err := io.ReadAll(r)
			mu.Lock()
			defer mu.Unlock()
			got = string(b)
			return err
		},
	}
	if r := p.Call(context.Background(), invocation(as, map[string]any{"blob": "x"}, env)); r.Failed {
		t.Fatal(r.Msg)
	}
	mu.Lock()
	defer mu.Unlock()
	if got != text {
		t.Errorf("%d bytes came back of %d", len(got), len(text))
	}
}

func TestACancelledCallEndsAndItsWorkerLives(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	p.Call(ctx, invocation(as, map[string]any{"sleep": true}, &modules.Env{Warn: func(string, ...any) {}}))
	if ctx.Err() == nil {
		t.Error("the call returned before it was cancelled")
	}
	if r := p.Call(context.Background(), invocation(as, nil, &modules.Env{Warn: func(string, ...any) {}})); r.Failed {
		t.Errorf("after that: %+v", r)
	}
}

// pidOf is the process of the worker.
func pidOf(t *testing.T, p *Pool, as wire.RunAs) int {
	t.Helper()
	res := p.Call(context.Background(), invocation(as, nil, &modules.Env{Warn: func(string, ...any) {}}))
	pid, err := strconv.Atoi(fmt.Sprint(modtest.Entry(res, "pid")))
	if err != nil {
		t.Fatalf("the worker returned %+v", res)
	}
	return pid
}

func TestAWorkerThatWasKilledIsReplacedAtOnce(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	for range 10 {
		if err := syscall.Kill(pidOf(t, p, as), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		// This call may still go to the dead one; the next one, that of pidOf, does not.
		_ = p.Call(context.Background(), invocation(as, nil, &modules.Env{Warn: func(string, ...any) {}}))
	}
}

func TestAWorkerThatWasStoppedHoldsUpNobody(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	p.Patience = 10 * time.Millisecond
	pid := pidOf(t, p, as)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w := p.place(spot{RunAs: as}).worker
	for w.alive() { // a call whose time is over before it was made does not reach the worker
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		if res := p.Call(ctx, invocation(as, nil, &modules.Env{Warn: func(string, ...any) {}})); !res.Failed && w.alive() {
			t.Errorf("a stopped worker returned %+v", res)
		}
		cancel()
	}
	if next := pidOf(t, p, as); next == pid {
		t.Error("the stopped worker is still used")
	}
}

func TestAWorkerThatWasStoppedHoldsUpNoEnd(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	p.Patience = 10 * time.Millisecond
	if err := syscall.Kill(pidOf(t, p, as), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.release(as.User)
	if err := syscall.Kill(pidOf(t, p, as), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.Close()
}

func TestAnIdleWorkerIsReplaced(t *testing.T) {
	p, as := newPool(t, time.Nanosecond), somebody(t)
	for range 3 {
		if r := p.Call(context.Background(), invocation(as, nil, &modules.Env{Warn: func(string, ...any) {}})); r.Failed {
			t.Fatal(r.Msg)
		}
	}
}

// sudo may wait for seconds before it refuses.
func TestAWorkerThatIsStillStartingHoldsUpNobodyElse(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	starting := p.place(spot{RunAs: wire.RunAs{User: "somebody else"}})
	starting.mu.Lock()
	defer starting.mu.Unlock() // before the pool is closed
	if r := p.Call(context.Background(), invocation(as, nil, &modules.Env{Warn: func(string, ...any) {}})); r.Failed {
		t.Error(r.Msg)
	}
}

func TestNumbersAreTheSameToAWorker(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	env := &modules.Env{Warn: func(string, ...any) {}}
	r := p.Call(context.Background(), invocation(as, map[string]any{"mode": int64(420)}, env))
	if modtest.Entry(r, "mode") != "value.Int" {
		t.Errorf("the worker saw a mode of type %v: %+v", modtest.Entry(r, "mode"), r)
	}
}

func TestTheUserModuleFindsNoWorkerOfItsUser(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	env := &modules.Env{Warn: func(string, ...any) {}}
	first := p.Call(context.Background(), invocation(as, nil, env))
	w := p.place(spot{RunAs: as}).worker
	change := modules.Define("ansible.builtin.user", "", func(context.Context, *modules.Env, struct {
		Name string `arg:"name"`
	}) (modules.Result, error) {
		if w.alive() {
			return modules.Fail("a worker lives")
		}
		return modules.Result{}, nil
	}, modules.Is(modules.ChangesUsers))
	r := p.Call(context.Background(), call.Invocation{Module: change, Args: modtest.Args(map[string]any{"name": as.User}),
		Env: env})
	if first.Failed || r.Failed {
		t.Error(first.Msg, r.Msg)
	}
}

// TestACommandFindsNoWorkerOfAUserWhomItNames: it may be userdel, which the system refuses while the user has
// processes. A worker whom it does not name stays, and so does the one that is to run it.
func TestACommandFindsNoWorkerOfAUserWhomItNames(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	env := &modules.Env{Warn: func(string, ...any) {}}
	for line, lives := range map[string]bool{} {
		if r := p.Call(context.Background(), invocation(as, nil, env)); r.Failed {
			t.Fatal(r.Msg)
		}
		w := p.place(spot{RunAs: as}).worker
		run := modules.Define("test.run", "", func(context.Context, *modules.Env, struct {
			Line string `arg:"line"`
		}) (modules.Result, error) {
			if w.alive() != lives {
				return modules.Fail("the worker lives: %t", w.alive())
			}
			return modules.Result{}, nil
		}, modules.RunsPrograms)
		inv := call.Invocation{Module: run, Args: modtest.Args(map[string]any{"line": line}), Env: env}
		r := p.Call(context.Background(), inv)
		if r.Failed {
			t.Errorf("%s: %s", line, r.Msg)
		}
	}
}

// TestAnIdleWorkerStandsInTheRoot: its user's home can be unmounted, though tasks begin there.
func TestAnIdleWorkerStandsInTheRoot(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	want, err := cwd.Get()
	if os.Geteuid() == 0 {
		as.User = "daemon" // who has a home, /usr/sbin
		var u *nss.User
		if u, err = lookup(as.User); err == nil {
			want, err = filepath.EvalSymlinks(home(u))
		}
	}
	if err != nil || want == "/" {
		t.Fatal(want, err)
	}
	for range 3 {
		r := p.Call(t.Context(), invocation(as, nil, &modules.Env{Warn: func(string, ...any) {}}))
		if r.Failed || modtest.Entry(r, "dir") != want {
			t.Fatalf("a task begins in %v, want %s: %s", modtest.Entry(r, "dir"), want, r.Msg)
		}
		if runtime.GOOS != "linux" {
			continue
		}
		if at, err := os.Readlink(fmt.Sprintf("/proc/%v/cwd", modtest.Entry(r, "pid"))); at != "/" || err != nil {
			t.Errorf("the idle worker stands in %s: %v", at, err)
		}
	}
}

func TestOwnUserNeedsNoWorker(t *testing.T) {
	me, err := nss.Current()
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(t, time.Minute)
	r := p.Call(context.Background(),
		invocation(wire.RunAs{User: me.Name}, nil, &modules.Env{Warn: func(string, ...any) {}}))
	if fmt.Sprint(modtest.Entry(r, "pid")) != fmt.Sprint(os.Getpid()) {
		t.Errorf("ran in process %v, not in %d", modtest.Entry(r, "pid"), os.Getpid())
	}
}

func TestUnknownUserIsNamed(t *testing.T) {
	r := newPool(t, time.Minute).Call(context.Background(), invocation(wire.RunAs{User: "no-such-user"}, nil,
		&modules.Env{}))
	if !r.Failed || r.Msg != "cannot run as no-such-user: there is no such user on this host" {
		t.Errorf("%+v", r)
	}
}

func TestWhyAWorkerDidNotComeUp(t *testing.T) {
	for said, want := range map[string]string{
		"sudo: a password is required":            "Missing sudo password",
		"sudo: 1 incorrect password attempt":      "Incorrect sudo password",
		"exec: permission denied":                 "cannot run as x: exec: permission denied\nEOF",
		"sudo: unknown user x\nsudo: no such one": "cannot run as x: sudo: unknown user x\nsudo: no such one\nEOF",
	} {
		s := newStartupOutput(wire.RunAs{User: "x", Password: "p"})
		fmt.Fprintln(s, said)
		if got := s.why(errors.New("EOF")).Error(); got != want {
			t.Errorf("%q was worded %q, want %q", said, got, want)
		}
	}
}

func TestNobodyWaitsForAPasswordThatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		as         wire.RunAs
		said, want string
	}{
		{wire.RunAs{User: "x", Method: "su"}, "Password: ", "Missing su password"},
		{wire.RunAs{User: "x", Password: "p"}, "Sorry, try again.\n", "Incorrect sudo password"},
	} {
		s := newStartupOutput(c.as)
		fmt.Fprint(s, c.said)
		select {
		case <-s.complained:
		default:
			t.Errorf("%q is no complaint", c.said)
		}
		if got := s.why(errors.New("killed")).Error(); got != c.want {
			t.Errorf("%q was worded %q, want %q", c.said, got, c.want)
		}
	}
}

// TestAHomeThatTheUserMayNotEnter: his processes begin elsewhere then.
func TestAHomeThatTheUserMayNotEnter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root becomes somebody by his ids")
	}
	nobody, err := lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	cred := &syscall.Credential{Uid: uint32(nobody.UID), Gid: uint32(nobody.GID)}
	for mode, want := range map[os.FileMode]bool{0o700: false, 0o755: true} {
		home, err := os.MkdirTemp("", "home") // t.TempDir lies where only root may go
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(home) })
		if err := os.Chmod(home, mode); err != nil {
			t.Fatal(err)
		}
		if got := enters(home, cred); got != want {
			t.Errorf("a home of mode %o: %t", mode, got)
		}
	}
}

// TestAWorkerOfAUserWhoIsAnotherByNowIsReplaced: a process has the groups, ids and home of its beginning.
func TestAWorkerOfAUserWhoIsAnotherByNowIsReplaced(t *testing.T) {
	p, as := newPool(t, time.Minute), somebody(t)
	before := pidOf(t, p, as)
	if again := pidOf(t, p, as); again != before {
		t.Errorf("processes %d and %d of a user who is the same", before, again)
	}
	p.place(spot{RunAs: as}).who = "another"
	if after := pidOf(t, p, as); after == before {
		t.Error("the worker of another was used")
	}
	busy := p.place(spot{RunAs: as}).worker // is at work, and does that to its end
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan modules.Result)
	go func() {
		done <- p.Call(ctx, invocation(as, map[string]any{"sleep": true}, &modules.Env{Warn: func(string, ...any) {}}))
	}()
	for at := false; !at; time.Sleep(time.Millisecond) {
		busy.mu.Lock()
		at = busy.running > 0
		busy.mu.Unlock()
	}
	p.place(spot{RunAs: as}).who = "another"
	if pidOf(t, p, as); !busy.alive() {
		t.Error("a worker was ended in the midst of its work")
	}
	cancel()
	<-done
	if busy.alive() {
		t.Error("the worker of another goes on")
	}
	who, err := identity(as.User)
	if u, lookupErr := lookup(as.User); err != nil || lookupErr != nil || !strings.Contains(who, u.Home) ||
		!strings.HasSuffix(who, "]") {
		t.Errorf("%q, %v, %v", who, err, lookupErr)
	}
}
