// Package tool runs the host's own programs for modules and turns what they leave into results as Ansible's modules do.
package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"

	"hark/modules"
	"hark/modules/py/value"
)

// Plain returns an environment in which programs speak the language that modules read.
func Plain() []string {
	return []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "LC_MESSAGES=C.UTF-8", "LC_CTYPE=C.UTF-8"}
}

// Find returns the path of a program that the host must have.
func Find(env *modules.Env, name string) (string, error) {
	if path := env.LookPath(name); path != "" {
		return path, nil
	}
	//lint:ignore ST1005 the words that users see
	return "", fmt.Errorf("Failed to find required executable %q in paths: %s", name, searched(env))
}

// searched returns the directories that LookPath looks in.
func searched(env *modules.Env) string {
	dirs := strings.Split(env.Getenv("PATH"), ":")
	for _, dir := range []string{"/sbin", "/usr/sbin", "/usr/local/sbin"} {
		known := false
		for _, d := range dirs {
			known = known || d == dir
		}
		if _, err := os.Stat(dir); err == nil && !known {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, ":")
}

// Output is what a program left.
type Output struct {
	// Line is the command line, quoted for a shell.
	Line           string
	Rc             int
	Stdout, Stderr string
}

// Run runs a program to its end. The error is about the run, as of a program that is not there; the exit code is the
// caller's to judge. A directory that is not there counts as none.
func Run(ctx context.Context, env *modules.Env, c modules.Command) (Output, error) {
	if info, err := os.Stat(c.Dir); c.Dir != "" && (err != nil || !info.IsDir()) {
		c.Dir = ""
	}
	c = expanded(env, c)
	line := shown(c.Argv)
	if c.Shell != "" {
		line = c.Shell
	}
	out, err := env.Exec(ctx, c)
	var start *modules.StartError
	if errors.As(err, &start) {
		return Output{}, &modules.Ended{Result: modules.Result{Failed: true, Msg: start.Error(), Data: value.DictOf(
			"cmd", line, "rc", int64(start.Errno), "stdout", "", "stderr", "",
		)}}
	}
	return Output{Line: line, Rc: out.Rc, Stdout: modules.Printed(out.Stdout), Stderr: modules.Printed(out.Stderr)}, err
}

// Exec is env.Exec that treats words as Run does: ~ and variables of the task's environment are expanded in each.
func Exec(ctx context.Context, env *modules.Env, c modules.Command) (modules.Output, error) {
	return env.Exec(ctx, expanded(env, c))
}

// expanded is a command as Ansible's run_command starts it (module_utils/basic.py): without a shell, and yet with ~ and
// variables in all words, the program's own too.
func expanded(env *modules.Env, c modules.Command) modules.Command {
	if !c.Literal && len(c.Argv) > 0 {
		c.Argv = modules.ExpandWords(c.Argv, env)
	}
	return c
}

// Must is Run for a program that must succeed: another exit code is a failure with what it printed.
func Must(ctx context.Context, env *modules.Env, c modules.Command) (Output, error) {
	out, err := Run(ctx, env, c)
	if err == nil {
		err = out.Check()
	}
	return out, err
}

// Check is a failure if the program did not succeed.
func (o Output) Check() error {
	if o.Rc == 0 {
		return nil
	}
	data := value.DictOf("cmd", o.Line, "rc", int64(o.Rc), "stdout", o.Stdout, "stderr", o.Stderr)
	return Fail(data, "%s", masked(strings.TrimRightFunc(o.Stderr, unicode.IsSpace)))
}

// Failf is a failure with a message and with what the program left.
func (o Output) Failf(format string, a ...any) error { return Fail(o.Data(), format, a...) }

// Data returns what a result holds of the output.
func (o Output) Data() *value.Dict {
	return value.DictOf("rc", int64(o.Rc), "stdout", o.Stdout, "stderr", o.Stderr)
}

// Fail is a failure with further keys of the result.
func Fail(data *value.Dict, format string, a ...any) error {
	return &modules.Ended{Result: modules.Result{Failed: true, Msg: fmt.Sprintf(format, a...), Data: data}}
}
