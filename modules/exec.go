package modules

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"hark/modules/internal/procx"
	"hark/modules/py/value"
)

// Dialogue is how to talk to a process that wants a terminal. All its output is Stdout; TimedOut says that patience was
// over.
type Dialogue = procx.Dialogue

// StartError says that a process could not be started; its text is that of Python's OSError.
type StartError = procx.StartError

// Forked is a process that another one forked, Fork the func that does so: see Command.
type (
	Forked = procx.Forked
	Fork   = procx.Fork
)

// Limit is a resource limit of a process.
type Limit = procx.Limit

// InheritedLimit keeps a side of a limit as the process has it from its parent.
const InheritedLimit = procx.Inherited

// StartLimited starts a process that has the limits from its first instruction on.
func StartLimited(cmd *exec.Cmd, limits []Limit) error { return procx.StartLimited(cmd, limits) }

// HostExec returns an Env.Exec that runs processes on this host. environ is the whole environment of the children, as
// KEY=value; cred, if not nil, the user they run as.
func HostExec(environ []string, cred *syscall.Credential) func(context.Context, Command) (Output, error) {
	return LiveExec(environ, cred, nil)
}

// LiveExec is HostExec with output that is passed on as it comes, by several goroutines at once.
func LiveExec(environ []string, cred *syscall.Credential, live func(stderr bool, chunk []byte)) func(context.Context,
	Command) (Output, error) {
	return func(ctx context.Context, c Command) (Output, error) {
		argv := c.Argv
		if c.Shell != "" {
			shell := c.Executable
			if shell == "" {
				shell = "/bin/sh"
			}
			argv = []string{shell, "-c", c.Shell}
		}
		env := c.Env
		if !c.Bare {
			env = append(environ[:len(environ):len(environ)], c.Env...)
		}
		spec := procx.Spec{
			Argv: argv, Env: env, Dir: c.Dir, Stdin: c.Stdin, Umask: c.Umask,
			MaxOutput: c.MaxOutput, Limits: c.Limits, ToEnd: c.ToEnd, Timeout: c.Timeout, Credential: cred, Live: live,
			Fork: c.Fork,
		}
		var out procx.Output
		var err error
		if c.Dialogue != nil {
			out, err = procx.Talk(ctx, spec, *c.Dialogue)
		} else {
			out, err = procx.Run(ctx, spec)
		}
		var start *StartError
		if errors.As(err, &start) && c.Shell != "" && c.Executable == "" {
			start.Plain = start.Name == argv[0]
		}
		return Output{
			Rc: out.Rc, Stdout: out.Stdout, Stderr: out.Stderr, Start: out.Start, End: out.End,
			TimedOut: out.TimedOut, Dropped: out.Dropped,
		}, err
	}
}

// Getenv returns a variable of the task's environment.
func (e *Env) Getenv(key string) string {
	val, _ := lookupEnv(e.Environ, key)
	return val
}

// LookPath finds a program in the task's PATH and then in the sbin directories, as Ansible's modules do; ""
// if it is in none.
func (e *Env) LookPath(name string) string {
	path, err := procx.LookPath(name, e.Environ, "/sbin", "/usr/sbin", "/usr/local/sbin")
	if err != nil {
		return ""
	}
	return path
}

// ScratchDir creates a directory for programs of the user: in the home, since /tmp may be mounted noexec. The caller
// removes it.
func (e *Env) ScratchDir() (string, error) {
	if home := e.Getenv("HOME"); home != "" {
		base := filepath.Join(home, ".ansible", "tmp")
		if os.MkdirAll(base, 0o700) == nil {
			if dir, err := os.MkdirTemp(base, "hark-"); err == nil {
				return dir, nil
			}
		}
	}
	return os.MkdirTemp("", "hark-")
}

// Lines returns the lines of a text as Python's splitlines splits them, as in stdout_lines.
func Lines(text string) []any {
	lines := []any{}
	for text != "" {
		line, _, rest := value.CutLine(text)
		lines, text = append(lines, line), rest
	}
	return lines
}
