package procx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

func sh(script string) Spec { return Spec{Argv: []string{"/bin/sh", "-c", script}, Env: env} }

func run(t *testing.T, s Spec) Output {
	t.Helper()
	out, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOutputAndCodeComeBack(t *testing.T) {
	out := run(t, sh("echo out; echo err >&2; exit 7"))
	if out.Rc != 7 || string(out.Stdout) != "out\n" || string(out.Stderr) != "err\n" {
		t.Errorf("got %+v", out)
	}
	if out.End.Before(out.Start) {
		t.Error("it ended before it began")
	}
}

func TestBackgroundChildDoesNotHoldTheCall(t *testing.T) {
	start := time.Now()
	out := run(t, sh("sleep 20 & echo $!"))
	if time.Since(start) > 5*time.Second {
		t.Error("the call waited for the background child")
	}
	if strings.TrimSpace(string(out.Stdout)) == "" {
		t.Error("output before the end was lost")
	}
	end, err := Run(t.Context(), sh("kill "+string(out.Stdout)))
	if err != nil || end.Rc != 0 {
		t.Errorf("the background child was gone: %v %s", err, end.Stderr)
	}
}

func TestLateWordsCountAsLongAsNoSecondIsSilent(t *testing.T) {
	for script, want := range map[string]string{
		"(sleep 0.4; echo late) & echo early":                          "early\nlate\n",
		"(for i in 1 2 3 4; do sleep 0.3; echo $i; done) & echo early": "early\n1\n2\n3\n4\n",
		"(sleep 0.4; echo err >&2; sleep 0.4; echo out) &":             "out\n",
	} {
		if out := run(t, sh(script)); string(out.Stdout) != want || out.Rc != 0 {
			t.Errorf("%s: got %q, want %q", script, out.Stdout, want)
		}
	}
}

func TestToEndWaitsForTheLastWord(t *testing.T) {
	s := sh("(sleep 1.5; echo late) & echo early")
	s.ToEnd = true
	if out := run(t, s); string(out.Stdout) != "early\nlate\n" {
		t.Errorf("got %q", out.Stdout)
	}
}

func TestTimeoutCountsForWhatIsLeftBehind(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "held")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	s := sh("read x < " + fifo + " & echo early")
	s.ToEnd, s.Timeout = true, 300*time.Millisecond
	out := run(t, s)
	if !out.TimedOut || out.Rc != 0 || string(out.Stdout) != "early\n" {
		t.Errorf("got %+v", out)
	}
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil { // it ends
		t.Fatal(err)
	}
}

func TestTimeoutEndsTheWholeTree(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "held")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(fifo) // to its end: when no writer lives
		gone <- err
	}()
	s := sh("exec 3>" + fifo + "; (trap '' TERM; sleep 60; sleep 60) & wait; sleep 60")
	s.Timeout = 200 * time.Millisecond
	out := run(t, s)
	if !out.TimedOut {
		t.Errorf("got %+v", out)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
}

func TestProcessThatCannotBeEndedIsGivenUp(t *testing.T) {
	pids := make(chan int, 10)
	s := sh("sleep 60")
	s.Timeout = 10 * time.Millisecond
	s.signal = func(pid int, _ syscall.Signal) { pids <- pid } // a kernel that does not listen
	start := time.Now()
	out, err := Run(t.Context(), s)
	pid := <-pids
	t.Cleanup(func() { signalSession(pid, syscall.SIGKILL) })
	var stuck *StuckError
	if !errors.As(err, &stuck) || !out.TimedOut || stuck.Pid != pid || stuck.State != "S" {
		t.Errorf("%v %+v", err, out)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s to give it up", took)
	}
}

func TestOutputIsToldAsItComes(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "go")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	heard := map[bool]string{}
	s := sh("echo first; read x < " + fifo + "; echo second >&2")
	s.Live = func(stderr bool, chunk []byte) {
		mu.Lock()
		defer mu.Unlock()
		heard[stderr] += string(chunk)
		if !stderr {
			_ = os.WriteFile(fifo, []byte("\n"), 0) // it goes on only when it was heard
		}
	}
	run(t, s)
	if heard[false] != "first\n" || heard[true] != "second\n" {
		t.Errorf("heard %v", heard)
	}
}

func TestCancelIsTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Run(ctx, sh("sleep 30")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestUmaskAndDirectoryAreTheChildsOwn(t *testing.T) {
	dir := t.TempDir()
	mask := uint32(0o077)
	s := Spec{Argv: []string{"touch", "a b"}, Env: env, Dir: dir, Umask: &mask}
	if out := run(t, s); out.Rc != 0 {
		t.Fatalf("%s", out.Stderr)
	}
	info, err := os.Stat(filepath.Join(dir, "a b"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v", info, err)
	}
}

func TestInputIsFedAndMayBeIgnored(t *testing.T) {
	big := []byte(strings.Repeat("x", 1<<20))
	s := sh("wc -c")
	s.Stdin = big
	if out := run(t, s); strings.TrimSpace(string(out.Stdout)) != "1048576" {
		t.Errorf("got %q", out.Stdout)
	}
	s = sh("true")
	s.Stdin = big
	if out := run(t, s); out.Rc != 0 {
		t.Errorf("got %+v", out)
	}
}

func TestTalkAnswersQuestions(t *testing.T) {
	asked := 0
	out, err := Talk(t.Context(), sh(`printf 'name? '; read n; printf 'age? '; read a; test -t 0 && echo "$n is $a"`),
		Dialogue{
			Answer: func(printed []byte) ([]byte, error) {
				if !strings.Contains(string(printed), "? ") {
					return nil, nil
				}
				asked++
				return []byte([]string{"Bo\n", "7\n"}[asked-1]), nil
			},
		})
	if err != nil || out.Rc != 0 || !strings.HasSuffix(strings.TrimSpace(string(out.Stdout)), "Bo is 7") {
		t.Errorf("%v %+v %q", err, out, out.Stdout)
	}
}

// hasty is a terminal whose end is told before the last that was printed, as Linux does now and then.
type hasty struct{ reads []any }

func (h *hasty) Read(b []byte) (int, error) {
	next := h.reads[0]
	h.reads = h.reads[1:]
	if err, ok := next.(error); ok {
		return 0, &os.PathError{Op: "read", Path: "/dev/ptmx", Err: err}
	}
	return copy(b, next.(string)), nil
}

func TestTerminalEndsBeforeItsLastOutput(t *testing.T) {
	h := &hasty{reads: []any{"name? ", unix.EIO, "Bo", unix.EIO, unix.EIO, "another's"}}
	var got strings.Builder
	readTerminal(h, func(b []byte) { got.Write(b) })
	if got.String() != "name? Bo" {
		t.Errorf("got %q", got.String())
	}
	h = &hasty{reads: []any{"name? ", os.ErrDeadlineExceeded, "late"}}
	got.Reset()
	readTerminal(h, func(b []byte) { got.Write(b) })
	if got.String() != "name? " {
		t.Errorf("got %q after the deadline", got.String())
	}
}

func TestTalkLosesPatience(t *testing.T) {
	out, err := Talk(t.Context(), sh("sleep 60"), Dialogue{
		Answer: func([]byte) ([]byte, error) { return nil, nil }, Patience: 50 * time.Millisecond,
	})
	if err != nil || !out.TimedOut {
		t.Errorf("%v %+v", err, out)
	}
}

func TestTalkEndsWhenThereIsNoAnswer(t *testing.T) {
	why := errors.New("no answer")
	if _, err := Talk(t.Context(), sh("echo hello; sleep 60"), Dialogue{
		Answer: func([]byte) ([]byte, error) { return nil, why },
	}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestOutputIsCapped(t *testing.T) {
	s := sh("head -c 100000 /dev/zero")
	s.MaxOutput = 1000
	if out := run(t, s); len(out.Stdout) != 1000 || out.Dropped != 99000 || out.Rc != 0 {
		t.Errorf("%d bytes, %d dropped", len(out.Stdout), out.Dropped)
	}
}

func TestLargeOutputIsWhole(t *testing.T) {
	s := sh("yes 0123456 | head -c 6000000")
	s.MaxOutput = 6_000_000
	if out := run(t, s); string(out.Stdout) != strings.Repeat("0123456\n", 750_000) || out.Dropped != 0 ||
		cap(out.Stdout) > 6_000_000 {
		t.Errorf("%d bytes in %d, %d dropped", len(out.Stdout), cap(out.Stdout), out.Dropped)
	}
}

func TestStartErrorsReadAsPythons(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "noexec")
	if err := os.WriteFile(script, []byte("hello"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Argv: []string{"no-such-program"}, Env: env}, "[Errno 2] No such file or directory: b'no-such-program'"},
		{Spec{Argv: []string{"/no/such"}, Env: env}, "[Errno 2] No such file or directory: b'/no/such'"},
		{Spec{Argv: []string{"/etc"}, Env: env}, "[Errno 13] Permission denied: b'/etc'"},
		{Spec{Argv: []string{script}, Env: env}, "[Errno 8] Exec format error: b'" + script + "'"},
		{Spec{Argv: []string{"true"}, Env: env, Dir: "/no/dir"}, "[Errno 2] No such file or directory: b'/no/dir'"},
	} {
		_, err := Run(t.Context(), c.spec)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.spec.Argv, err, c.want)
		}
	}
}
