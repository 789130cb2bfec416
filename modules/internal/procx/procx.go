// Package procx runs child processes: each in a session of its own, so that it has no terminal and can be ended with
// all it started, with limits on time and output, and without ever waiting for what a child left behind.
package procx

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

const (
	// DefaultMaxOutput caps each stream of a process that sets no cap.
	DefaultMaxOutput = 64 << 20
	// silence is what ends the reading of streams that others hold open when the child itself has ended, as in
	// Ansible: what comes late counts as long as no more than this lies between two words.
	silence = time.Second
	// linger is how long a terminal is read on after its process has ended.
	linger = 200 * time.Millisecond
	// grace is the time between TERM and KILL: a cancelled run must end within a second.
	grace = 800 * time.Millisecond
	// resistance is how long KILL may take before a process is given up.
	resistance = time.Second
)

// Spec is a process to run.
type Spec struct {
	// Argv is the program and its arguments; a program without a slash is looked up in the PATH of Env.
	Argv []string
	// Env is the whole environment; later entries win.
	Env   []string
	Dir   string
	Stdin []byte
	// Umask is set in the child only; it takes /bin/sh.
	Umask *uint32
	// MaxOutput caps stdout and stderr each; 0 is DefaultMaxOutput. What is beyond is read and dropped.
	MaxOutput int64
	// Timeout ends the process; 0 is none.
	Timeout time.Duration
	// Credential, if set, is the user that the child runs as.
	Credential *syscall.Credential
	// Limits are those of the child, beside what it inherits.
	Limits []Limit
	// ToEnd reads the streams until nobody has them any more, however long all are silent. Only ctx and Timeout end that.
	ToEnd bool
	// Live, if set, takes the output as it comes, from one goroutine for each stream.
	Live func(stderr bool, chunk []byte)

	// Fork, if set, makes the process, which Argv then only names; Env, Umask, Limits and Credential are for it to know.
	Fork Fork

	// signal replaces signalSession in tests.
	signal func(pid int, sig syscall.Signal)
}

// Output is what a process left.
type Output struct {
	Rc             int // -N if signal N ended it
	Stdout, Stderr []byte
	Start, End     time.Time
	TimedOut       bool
	Dropped        int64 // how many bytes were beyond MaxOutput
}

// limit returns how much of each stream is kept.
func (s *Spec) limit() int {
	if s.MaxOutput > 0 {
		return int(s.MaxOutput)
	}
	return DefaultMaxOutput
}

// Run runs a process to its end. The error is a *StartError, a *StuckError, or the context's when that ended it; a
// return code other than 0 is none. What the child left running holds it as long as that prints something each
// second, or with ToEnd as long as that has the streams; it is not ended with ctx.
func Run(ctx context.Context, s Spec) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Timeout, errTimeout)
		defer cancel()
	}
	cmd, err := s.command()
	if err != nil {
		return Output{}, err
	}
	io, err := newStreams(cmd, &s)
	if err != nil {
		return Output{}, err
	}
	defer io.close()
	out := Output{Start: time.Now()}
	c, err := start(cmd, &s)
	if err != nil {
		return out, startError(s.Argv[0], s.Dir, err)
	}
	io.started()
	stuck := c.wait(ctx)
	out.End = time.Now()
	whole := io.finish(ctx, &out, s.ToEnd)
	cause := context.Cause(ctx)
	out.TimedOut = errors.Is(cause, errTimeout)
	if stuck != nil {
		return out, stuck
	}
	out.Rc = returnCode(c.status)
	if cause == nil || whole && !c.failed() {
		out.TimedOut = false
	} else if !out.TimedOut {
		return out, ctx.Err()
	}
	return out, c.err
}

var errTimeout = errors.New("timeout")

func returnCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return -int(status.Signal())
	}
	return status.ExitStatus()
}

// command makes the process ready to start.
func (s *Spec) command() (*exec.Cmd, error) {
	if len(s.Argv) == 0 {
		return nil, errors.New("cannot run a process: no command was given")
	}
	if s.Fork != nil {
		return &exec.Cmd{}, nil // it has the streams
	}
	path, err := lookPath(s.Argv[0], s.Dir, s.Env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: s.Argv, Env: s.Env, Dir: s.Dir,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Credential: s.Credential},
	}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if s.Umask != nil {
		// Only the child's own code can set its umask; Go has no hook between fork and exec.
		cmd.Path = "/bin/sh"
		cmd.Args = append([]string{"sh", "-c", `umask "$0" && exec "$@"`, fmt.Sprintf("%04o", *s.Umask&0o777), path},
			s.Argv[1:]...)
	}
	return cmd, nil
}
