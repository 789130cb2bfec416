package foreign

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// waiting is the child of a server that has no call in hand, 0 if there is none.
func waiting(t *testing.T, server int64) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server))
	if err != nil {
		t.Fatal(err)
	}
	switch pids := strings.Fields(string(text)); len(pids) {
	case 0:
		return 0
	case 1:
		pid, err := strconv.Atoi(pids[0])
		if err != nil {
			t.Fatal(err)
		}
		return pid
	default:
		t.Fatalf("%v wait", pids)
		return 0
	}
}

// killed kills a process and waits until another one has ended.
func killed(t *testing.T, victim, ends int) {
	t.Helper()
	fd, err := unix.PidfdOpen(ends, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 20_000); n != 1 {
		t.Errorf("%d is still there: %v", ends, err)
	}
}

// TestChildWaitsForItsCall: from the third call on it was forked before. One that has gone is done without, and none
// outlives its server.
func TestChildWaitsForItsCall(t *testing.T) {
	h := newHost(t, telling, helping)
	call := func(word string) (child, server int64) {
		t.Helper()
		res := h.run(t.Context(), map[string]any{"word": word})
		if res["word"] != word {
			t.Fatalf("%v", res)
		}
		return number(t, res, "pid"), number(t, res, "parent")
	}
	_, server := call("one")
	if early := waiting(t, server); early != 0 {
		t.Errorf("%d waits after one call", early)
	}
	for _, lost := range []bool{false, true, false} {
		call("more")
		pid := waiting(t, server)
		if pid == 0 {
			t.Fatal("none waits")
		}
		if lost {
			killed(t, pid, pid)
		}
		if child, of := call("next"); of != server || (child == int64(pid)) == lost {
			t.Errorf("%d of %d was the next, %d of %d waited", child, of, pid, server)
		}
	}
	killed(t, int(server), waiting(t, server))
}
