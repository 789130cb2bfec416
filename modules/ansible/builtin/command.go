package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/oserr"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

// Command runs a program without a shell.
var Command = modules.Define("ansible.builtin.command", "Execute commands on targets.",
	func(ctx context.Context, env *modules.Env, a commandArgs) (modules.Result, error) {
		return runCommand(ctx, env, a)
	}, modules.Is(modules.ReadsInCheck),
	modules.With(func(m *modules.Module) {
		m.FreeForm, m.ReportsAs = true, "ansible.legacy.command"
		m.Examples = `- ansible.builtin.command: /usr/bin/make_database.sh db_user db_name
  args: {creates: /path/to/database}
- ansible.builtin.command: {argv: [/usr/bin/tool, "one argument with spaces"], chdir: /srv}
`
		m.Returns = commandReturns()
	}), modules.From(dialect.ModuleOptions219, oneCommand), modules.RunsPrograms)

// oneCommand demands one of the ways to say what to run.
func oneCommand(s *modules.Spec) {
	one := [][]string{{"_raw_params", "cmd", "argv"}}
	s.Rules.Exclusive, s.Rules.OneOf = one, one
}

func commandReturns() []modules.Return {
	return []modules.Return{
		{Name: "cmd", Type: "raw", When: "always", Doc: "What was run: the words, or the line for the shell."},
		{Name: "rc", Type: "int", When: "always", Doc: "The exit status; -N if signal N ended it."},
		{Name: "stdout", Type: "str", When: "always", Doc: "What it printed; stdout_lines has the lines."},
		{Name: "stderr", Type: "str", When: "always", Doc: "What it printed as errors; stderr_lines has the lines."},
		{Name: "start", Type: "str", When: "it ran", Doc: "When it began."},
		{Name: "end", Type: "str", When: "it ran", Doc: "When it ended."},
		{Name: "delta", Type: "str", When: "it ran", Doc: "How long it took."},
	}
}

type commandArgs struct {
	RawParams       *string     `arg:"_raw_params" doc:"The command line."`
	UsesShell       bool        `arg:"_uses_shell,hidden,default=no"`
	Argv            []string    `arg:"argv" doc:"The command as a list of words."`
	Chdir           *string     `arg:"chdir,type=path" doc:"Directory to run in."`
	Executable      *string     `arg:"executable" doc:"The shell to use."`
	Creates         *string     `arg:"creates,type=path" doc:"Do nothing if this path or pattern exists."`
	Removes         *string     `arg:"removes,type=path" doc:"Do nothing unless this path or pattern exists."`
	Stdin           *string     `arg:"stdin" doc:"Input of the command."`
	StdinAddNewline bool        `arg:"stdin_add_newline,default=yes" doc:"End the input with a newline."`
	StripEmptyEnds  bool        `arg:"strip_empty_ends,default=yes" doc:"Drop line ends from the end of the output."`
	ExpandVars      bool        `arg:"expand_argument_vars,since=2.16,default=yes" doc:"Expand $VAR in the words of a command without shell."`
	Warn            value.Value `arg:"warn,extra" doc:"Without effect."`
	// Line is cmd, as in newer playbooks.
	Line *string `arg:"cmd,since=2.16" doc:"The command line, if it is not given as free text."`
}

func runCommand(ctx context.Context, env *modules.Env, a commandArgs) (modules.Result, error) {
	r := modules.Result{Data: value.DictOf(
		"stdout", "", "stderr", "", "rc", nil, "cmd", nil, "start", nil, "end", nil, "delta", nil, "msg", "",
	)}
	if a.RawParams == nil {
		a.RawParams = a.Line
	}
	if !a.UsesShell && a.Executable != nil && *a.Executable != "" {
		env.Warn(
			"As of Ansible 2.4, the parameter 'executable' is no longer supported with the 'command' module. Not using '%s'.",
			*a.Executable)
	}
	line := modules.Text(a.RawParams)
	switch {
	case strings.TrimSpace(line) == "" && len(a.Argv) == 0 && env.Has(dialect.ModuleMessages):
		return modules.Result{}, errors.New("one of the following is required: _raw_params, cmd, argv")
	case strings.TrimSpace(line) == "" && len(a.Argv) == 0:
		return refuse(r, "no command given"), nil
	case line != "" && len(a.Argv) > 0:
		return refuse(r, "only command or argv can be given, not both"), nil
	}
	words := a.Argv
	if line != "" && !a.UsesShell {
		var err error
		if words, err = shlex.Split(line); err != nil {
			return r, &modules.Crash{Raised: err.Error(), Err: err}
		}
	}
	r.Data.Put("cmd", modules.List(words))
	if a.UsesShell && line != "" {
		r.Data.Put("cmd", line)
	}
	if a.Chdir != nil && *a.Chdir != "" {
		if err := enterable(*a.Chdir); err != nil {
			const msg = "Unable to change directory before execution"
			r.Failed, r.Msg = true, msg+": "+oserr.Bytes(err, *a.Chdir)
			if env.Has(dialect.ModuleMessages) {
				r.Msg, r.Marks.Cause = msg+".", oserr.Bytes(err, *a.Chdir)
			}
			return r, nil
		}
	}
	if a.settled(env, &r) {
		return r, nil
	}
	if env.Check {
		r.Changed = true
		r.Data.Put("rc", int64(0))
		r.Msg = "Command would have run if not in check mode"
		if a.Creates == nil && a.Removes == nil {
			r.Skipped, r.Changed = true, false
		}
		return r, nil
	}
	return a.execute(ctx, env, r, words)
}

func refuse(r modules.Result, msg string) modules.Result {
	r.Failed, r.Msg = true, msg
	r.Data.Put("rc", int64(256))
	return r
}

// enterable explains why a process could not change to a directory.
func enterable(dir string) error {
	_, err := os.Stat(strings.TrimRight(dir, "/") + "/.")
	return err
}

// settled reports whether creates or removes make the command needless, and fills the result.
func (a *commandArgs) settled(env *modules.Env, r *modules.Result) bool {
	did := "Did"
	if env.Check {
		did = "Would"
	}
	dir := modules.Text(a.Chdir)
	switch {
	case modules.Text(a.Creates) != "" && exists(dir, *a.Creates):
		r.Msg = fmt.Sprintf("%s not run command since '%s' exists", did, *a.Creates)
		r.Data.Put("stdout", fmt.Sprintf("skipped, since %s exists", *a.Creates))
	case modules.Text(a.Removes) != "" && !exists(dir, *a.Removes):
		r.Msg = fmt.Sprintf("%s not run command since '%s' does not exist", did, *a.Removes)
		r.Data.Put("stdout", fmt.Sprintf("skipped, since %s does not exist", *a.Removes))
	default:
		return false
	}
	r.Data.Put("rc", int64(0))
	return true
}

func (a *commandArgs) execute(ctx context.Context, env *modules.Env, r modules.Result,
	words []string) (modules.Result, error) {
	c := modules.Command{Dir: modules.Text(a.Chdir), MaxOutput: modules.KeptOutput}
	switch {
	case a.UsesShell:
		c.Executable, c.Shell = modules.Text(a.Executable), modules.Text(a.RawParams)
		if c.Shell == "" {
			c.Shell = modules.QuoteWords(words)
		}
	case a.ExpandVars:
		c.Argv = modules.ExpandWords(words, env)
	default:
		c.Argv = words
	}
	if a.Stdin != nil && *a.Stdin != "" {
		c.Stdin = []byte(*a.Stdin)
		if a.StdinAddNewline {
			c.Stdin = append(c.Stdin, '\n')
		}
	}
	out, err := env.Exec(ctx, c)
	var start *modules.StartError
	if errors.As(err, &start) {
		shown := modules.QuoteWords(c.Argv)
		if c.Shell != "" {
			shown = asTyped(c)
		}
		res := modules.Because(start.Error(), "Error executing command.",
			value.DictOf("stdout", "", "stderr", "", "rc", int64(start.Errno), "cmd", shown))
		if !env.Has(dialect.ModuleMessages) {
			res.Msg, res.Marks.Cause = start.Error(), ""
		}
		return res, nil
	}
	if err != nil {
		return r, err
	}
	r.Changed = true
	stdout, stderr := modules.Printed(out.Stdout), modules.Printed(out.Stderr)
	if a.StripEmptyEnds {
		stdout, stderr = strings.TrimRight(stdout, "\r\n"), strings.TrimRight(stderr, "\r\n")
	}
	r.Data.Put("stdout", stdout)
	r.Data.Put("stderr", stderr)
	r.Data.Put("rc", int64(out.Rc))
	r.Data.Put("start", modules.TimeText(out.Start))
	r.Data.Put("end", modules.TimeText(out.End))
	r.Data.Put("delta", deltaText(out.End.Sub(out.Start)))
	env.WarnOfDropped(out)
	if out.Rc != 0 {
		r.Failed, r.Msg = true, "non-zero return code"
		r.Data.Delete(value.Str("msg")) // it stands behind "failed" then
	}
	return r, nil
}

// asTyped returns a line for a shell as Ansible shows it when the shell does not start: its words, quoted.
func asTyped(c modules.Command) string {
	if c.Executable != "" {
		return modules.QuoteWords([]string{c.Executable, "-c", c.Shell})
	}
	words, err := shlex.Split(c.Shell)
	if err != nil {
		return c.Shell
	}
	return modules.QuoteWords(words)
}

// deltaText returns a span as Python's timedelta prints it.
func deltaText(d time.Duration) string {
	micros := d.Microseconds()
	secs := micros / 1e6
	text := fmt.Sprintf("%d:%02d:%02d", secs/3600%24, secs/60%60, secs%60)
	if days := secs / 86400; days == 1 {
		text = "1 day, " + text
	} else if days > 1 {
		text = fmt.Sprintf("%d days, %s", days, text)
	}
	if rest := micros % 1e6; rest != 0 {
		text += fmt.Sprintf(".%06d", rest)
	}
	return text
}
