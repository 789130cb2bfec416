package procx

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartLimited starts a process that has the limits from its first instruction on. Go has no hook between fork and
// exec, and limits that this process gave itself for a moment would hold for its other goroutines. So the child is
// traced: the kernel stops it when it has become its program, and it is let go with its limits.
func StartLimited(cmd *exec.Cmd, limits []Limit) error {
	if len(limits) == 0 {
		return cmd.Start()
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	runtime.LockOSThread() // only the thread that forked the child may let it go
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	err := limitStopped(cmd.Process.Pid, limits)
	if err == nil {
		return nil
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return fmt.Errorf("cannot set the limits of a process: %w", err)
}

// limitStopped waits until a traced child has become its program, sets its limits and lets it go.
func limitStopped(pid int, limits []Limit) error {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, 0, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
	if !status.Stopped() {
		return errors.New("it ended before it began")
	}
	var errs []error
	for _, l := range limits {
		// Without CAP_SYS_RESOURCE, as in some containers, nobody sets the limits of other users' processes, nor raises
		// any. Such a process has those that it inherits.
		if err := l.set(pid); !errors.Is(err, syscall.EPERM) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, syscall.PtraceDetach(pid))...)
}

// set sets the limit for a process.
func (l Limit) set(pid int) error {
	var now unix.Rlimit
	if err := unix.Prlimit(pid, l.Resource, nil, &now); err != nil {
		return err
	}
	if l.Hard != Inherited {
		now.Max = l.Hard
	}
	if l.Soft != Inherited {
		now.Cur = l.Soft
	}
	now.Cur = min(now.Cur, now.Max)
	return unix.Prlimit(pid, l.Resource, &now, nil)
}
