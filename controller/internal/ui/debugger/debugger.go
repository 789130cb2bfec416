// Package debugger is the dialogue that a user has with a task that came out in a way to be looked at (the keyword
// debugger, strategy: debug): the commands that Ansible's debugger has, over the values of one task on one host. It
// knows neither terminals nor agents: what is said comes in and goes out by a Terminal, what is to be done about the
// task is the Verdict.
package debugger

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"hark/modules/py/value"
)

// Terminal is where the dialogue takes place.
type Terminal interface {
	// Line shows a prompt and reads a line, without its end. The error is io.EOF where there are no more lines.
	Line(ctx context.Context, prompt string) (string, error)
	// Print shows a line.
	Print(text string)
}

// Case is what the user looks into. Its values are changed by the dialogue.
type Case struct {
	Host string
	// Task is how messages name it: "TASK: copy the file".
	Task string
	// About are the keywords of the task, with args as they were rendered and source, the args as written.
	About *value.Dict
	// Vars are all variables of the host at the task, raw.
	Vars *value.Dict
	// Result is how the task came out.
	Result *value.Dict
	// Render renders a value with variables.
	Render func(ctx context.Context, vars *value.Dict, v value.Value) (value.Value, error)
}

// Verdict is how the user left the dialogue.
type Verdict struct {
	// Redo does the task again, with Args in place of its arguments and Vars over all other variables.
	Redo bool
	Args *value.Dict
	Vars *value.Dict
}

// ErrQuit says that the user ends the run.
//
//lint:ignore ST1005 these are Ansible's words
var ErrQuit = errors.New("User interrupted execution")

// dialogue is a Case under way.
type dialogue struct {
	*Case
	t Terminal
	// names are what expressions see: task, task_vars, host, result, and what the user has assigned.
	names *value.Dict
	// touched are the variables that the user has changed.
	touched []string
	last    string
}

// Talk reads and does commands until one of them ends the dialogue. The error is ErrQuit if that was quit.
func Talk(ctx context.Context, t Terminal, c *Case) (Verdict, error) {
	d := &dialogue{Case: c, t: t, names: value.NewDict()}
	host := value.NewDict()
	host.Set("name", value.Str(c.Host))
	outcome := value.NewDict()
	outcome.Set("_result", c.Result)
	for name, v := range map[string]value.Value{"task": c.About, "task_vars": c.Vars, "host": host, "result": outcome} {
		d.names.Set(name, v)
	}
	for {
		line, err := t.Line(ctx, "["+c.Host+"] "+c.Task+" (debug)> ")
		if err == io.EOF {
			line = "EOF"
		} else if err != nil {
			return Verdict{}, err
		}
		if line = strings.TrimSpace(line); line == "" {
			line = d.last
		}
		if d.last = line; line == "" {
			continue
		}
		if act := d.command(ctx, line); act != stay {
			return d.verdict(act)
		}
	}
}

// act is what a command does about the dialogue.
type act int

const (
	stay act = iota
	goOn
	redo
	quit
)

// command does one line. What is no command is a statement, as in Python.
func (d *dialogue) command(ctx context.Context, line string) act {
	if rest, ok := strings.CutPrefix(line, "?"); ok {
		line = "help " + rest
	}
	word := line[:len(line)-len(strings.TrimLeft(line, letters))]
	rest := strings.TrimSpace(line[len(word):])
	switch word {
	case "EOF", "q", "quit":
		return quit
	case "c", "continue":
		return goOn
	case "r", "redo":
		return redo
	case "p", "pprint":
		d.pretty(ctx, rest)
	case "u", "update_task":
		d.update(ctx)
	case "h", "help":
		d.help(rest)
	default:
		d.statement(ctx, line)
	}
	return stay
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func (d *dialogue) verdict(a act) (Verdict, error) {
	switch a {
	case quit:
		d.t.Print(ErrQuit.Error())
		return Verdict{}, ErrQuit
	case goOn:
		return Verdict{}, nil
	}
	v := Verdict{Redo: true, Vars: value.NewDict()}
	args, _ := d.About.Get("args")
	v.Args, _ = args.(*value.Dict)
	for _, name := range d.touched {
		if changed, ok := d.Vars.Get(name); ok {
			v.Vars.Set(name, changed)
		}
	}
	return v, nil
}

// update makes the arguments anew from what the playbook says, with the variables as they are now.
func (d *dialogue) update(ctx context.Context) {
	source, _ := d.About.Get("source")
	v, err := d.Render(ctx, d.Vars, source)
	args, ok := v.(*value.Dict)
	if err != nil || !ok {
		d.fail(err)
		return
	}
	d.About.Set("args", args.Copy())
}

// commands are the commands with what help says of them.
var commands = [][2]string{
	{"EOF", "Quit"}, {"c", "Continue to next result"}, {"continue", "Continue to next result"},
	{"h", `List available commands with "help" or detailed help with "help cmd".`},
	{"help", `List available commands with "help" or detailed help with "help cmd".`},
	{"p", "Pretty Print"}, {"pprint", "Pretty Print"}, {"q", "Quit"}, {"quit", "Quit"},
	{"r", "Do the task again"}, {"redo", "Do the task again"},
	{"u", "Make the arguments of the task again, from the playbook and task_vars"},
	{"update_task", "Make the arguments of the task again, from the playbook and task_vars"},
}

func (d *dialogue) help(topic string) {
	if topic != "" {
		at := slices.IndexFunc(commands, func(c [2]string) bool { return c[0] == topic })
		if at < 0 {
			d.t.Print("*** No help on " + topic)
			return
		}
		d.t.Print(commands[at][1])
		return
	}
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c[0]
	}
	const title = "Documented commands (type help <topic>):"
	d.t.Print("\n" + title + "\n" + strings.Repeat("=", len(title)) + "\n" + strings.Join(names, "  ") + "\n\n")
}
