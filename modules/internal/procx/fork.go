package procx

import (
	"os"
	"os/exec"
	"syscall"
)

// Forked is a process that somebody else forked for the caller.
type Forked struct {
	Pid int
	// Wait returns when the process has ended; the error is that its end cannot be known.
	Wait func() (syscall.WaitStatus, error)
}

// Fork has a process forked that leads a session of its own, in a directory and with these streams, which it must not
// keep.
type Fork func(dir string, stdin, stdout, stderr *os.File) (*Forked, error)

// awaitForks waits for children that were forked and have not yet become their programs: such a one still holds what
// was open for writing when it was forked, and a program that somebody has open for writing cannot be run ("text file
// busy"), though its writer closed it. Whoever writes a program and runs it, in this task or the next, comes by here.
func awaitForks() {
	syscall.ForkLock.RLock() // forkers hold it until their children are programs
	defer syscall.ForkLock.RUnlock()
}

// Undisturbed writes a program while nobody forks: a child that was forked meanwhile would hold it open for writing
// for a moment longer than awaitForks can see, and whoever runs it in that moment fails. What write reads should be
// at hand.
func Undisturbed(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
}

// launch starts the process, or has it forked.
func (s *Spec) launch(cmd *exec.Cmd) (*Forked, error) {
	awaitForks()
	if s.Fork == nil {
		if err := StartLimited(cmd, s.Limits); err != nil {
			return nil, err
		}
		return &Forked{Pid: cmd.Process.Pid, Wait: func() (syscall.WaitStatus, error) {
			err := cmd.Wait()
			if cmd.ProcessState == nil {
				return 0, err
			}
			return cmd.ProcessState.Sys().(syscall.WaitStatus), nil // Wait's error says only what the return code says
		}}, nil
	}
	dir := s.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	stdin, _ := cmd.Stdin.(*os.File)
	if stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return nil, err
		}
		defer null.Close()
		stdin = null
	}
	return s.Fork(dir, stdin, cmd.Stdout.(*os.File), cmd.Stderr.(*os.File))
}
