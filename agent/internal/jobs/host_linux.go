package jobs

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// possible returns why there can be no jobs here, nil if there can.
func possible() error { return nil }

// adoptOrphans makes this process the parent of all that its children leave behind: nothing that a job starts leaves
// its tree, whatever group or session it makes.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// awaitEnd waits until a process ends that began at ticks. It does not wait for another process with its id.
func awaitEnd(pid int, ticks uint64) {
	if fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK); err == nil && ticksOf(pid) == ticks {
		awaitExit(fd)
	} else if err == nil {
		unix.Close(fd)
	}
}

// awaitExit waits until the process of a pidfd has ended, and closes it. It holds no thread meanwhile.
func awaitExit(fd int) {
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}

// sinceBoot returns the clock of the start times in /proc.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// standAs sets the ids with which this thread opens files.
func standAs(uid, gid int) error { return errors.Join(unix.Setfsgid(gid), unix.Setfsuid(uid)) }
