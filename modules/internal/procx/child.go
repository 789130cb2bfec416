package procx

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"hark/modules/py/value"
)

// child is a process that was started.
//
//	running ──> ended                      by itself
//	   └─> told to end ──> ended           its context is over: TERM, grace, KILL
//	             └───────> given up        KILL did not end it: the kernel holds it
type child struct {
	pid    int
	ended  chan struct{}      // closed when it has ended
	status syscall.WaitStatus // of its end; set before ended is closed
	err    error              // its end cannot be known; set before ended is closed
	signal func(pid int, sig syscall.Signal)
}

// start starts a process, or has it forked, and begins to wait for it.
func start(cmd *exec.Cmd, s *Spec) (*child, error) {
	p, err := s.launch(cmd)
	if err != nil {
		return nil, err
	}
	c := &child{pid: p.Pid, ended: make(chan struct{}), signal: s.signal}
	if c.signal == nil {
		c.signal = signalSession
	}
	go func() {
		// It outlives the call only if the process cannot be ended, and reaps it when it can.
		c.status, c.err = p.Wait()
		close(c.ended)
	}()
	return c, nil
}

// failed reports whether the process ended in another way than with 0.
func (c *child) failed() bool { return c.err != nil || c.status != 0 }

// wait returns when the process has ended. When ctx is over it is ended, with its session; one that does not end even
// then is given up with a *StuckError.
func (c *child) wait(ctx context.Context) error {
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
	}
	c.signal(c.pid, syscall.SIGTERM)
	if !c.within(grace) {
		c.signal(c.pid, syscall.SIGKILL)
		if !c.within(resistance) {
			return stuck(c.pid)
		}
	}
	// Others of its session may have taken TERM otherwise.
	c.signal(c.pid, syscall.SIGKILL)
	return nil
}

// within reports whether the process ends within a time.
func (c *child) within(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.ended:
		return true
	case <-timer.C:
		return false
	}
}

// StuckError is a process that KILL does not end: it waits for the kernel, as for a dead network file system.
type StuckError struct {
	Pid int
	// State is the letter that ps shows, "D" as a rule; Name is the name of the program.
	State, Name string
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("process %d (%s) cannot be ended: it is in state %s, and was left behind", e.Pid, e.Name, e.State)
}

// Details returns the keys that it adds to a result.
func (e *StuckError) Details() *value.Dict {
	return value.DictOf("stuck_pid", int64(e.Pid), "stuck_state", e.State)
}

func stuck(pid int) *StuckError {
	e := &StuckError{Pid: pid, State: "unknown", Name: "unknown"}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if err != nil || from < 0 || to < from {
		return e
	}
	e.Name = string(stat[from+1 : to])
	if fields := bytes.Fields(stat[to+1:]); len(fields) > 0 {
		e.State = string(fields[0])
	}
	return e
}
