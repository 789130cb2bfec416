// Package prompts asks the person at the terminal on behalf of a run: variables, steps, pauses, the debugger's
// commands.
package prompts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/compile"
)

// Prompter is what package play wants of a person, at a terminal.
type Prompter struct {
	Console *terminal.Console
	Display *view.Display
	// Aborted is the error of a pause that the user ends with the play.
	Aborted error
}

// Variable asks for a vars_prompt variable. Without a terminal it is the default, or the text "None": do_var_prompt of
// ansible/utils/display.py makes text of the answer that nobody gave.
func (p Prompter) Variable(ctx context.Context, v compile.Prompt) (string, error) {
	def, hasDefault := "", v.Default != nil
	if hasDefault {
		def = value.Plain(v.Default)
	}
	if !p.Console.Interactive() {
		p.Display.Warn("Not prompting as we are not in interactive mode")
		if !hasDefault {
			return "None", nil
		}
		return def, nil
	}
	prompt := "input for " + v.Name + ": "
	switch {
	case v.Text != "" && hasDefault:
		prompt = v.Text + " [" + def + "]: "
	case v.Text != "":
		prompt = v.Text + ": "
	}
	ask := p.ask
	if v.Private {
		ask = p.Console.AskSecret
	}
	for {
		text, err := ask(ctx, prompt)
		if err != nil {
			return "", err
		}
		if v.Confirm {
			again, err := ask(ctx, "confirm "+prompt)
			if err != nil {
				return "", err
			}
			if again != text {
				p.Display.Raw("***** VALUES ENTERED DO NOT MATCH ****\n")
				continue
			}
		}
		if v.Private {
			p.Display.Hidden().Add(text)
		}
		if text == "" {
			text = def
		}
		return text, nil
	}
}

// ask asks for something that is shown while it is typed.
func (p Prompter) ask(ctx context.Context, prompt string) (string, error) {
	p.Display.Raw(prompt)
	return p.Console.Ask(ctx, "")
}

// Step asks whether to perform a task.
func (p Prompter) Step(ctx context.Context, text string) (string, error) {
	answer, err := p.ask(ctx, text)
	if err != nil {
		return "", err
	}
	p.Display.Banner(text)
	switch strings.ToLower(answer) {
	case "y", "yes":
		return "y", nil
	case "c", "continue":
		return "c", nil
	}
	return "n", nil
}

// Line reads a command of the debugger.
func (p Prompter) Line(ctx context.Context, prompt string) (string, error) {
	return p.ask(ctx, prompt)
}

// Print shows what the debugger says.
func (p Prompter) Print(text string) { p.Display.Print(view.NoColor, text) }

// Pause shows text and waits: for the time, or for the Enter key. At a terminal Ctrl-C asks whether to go on or to
// abort.
func (p Prompter) Pause(ctx context.Context, w wire.Prompt) (string, error) {
	show := func() {
		if w.Text != "" {
			p.Display.Print(view.NoColor, w.Text)
		}
	}
	if !p.Console.Interactive() {
		show()
		switch {
		case w.Limit == 0 && w.Ask != "":
			return "", modules.ErrUnattended
		case w.Limit == 0:
			p.Display.Warn("Not waiting for response to prompt as stdin is not interactive")
		}
		return "", Wait(ctx, w.Limit)
	}
	k, err := terminal.OpenKeyboard(p.Console.In.(*os.File), w.Limit == 0 && w.Echo)
	if err != nil {
		return "", err
	}
	defer k.Close()
	show() // only now: what is typed in answer to it must not be lost with the terminal's old settings
	if w.Ask != "" {
		p.Display.Print(view.NoColor, w.Ask)
	}
	if w.Limit == 0 {
		return p.typed(ctx, k, w.Echo)
	}
	timed, cancel := context.WithTimeout(ctx, w.Limit)
	defer cancel()
	_, err = p.typed(timed, k, false)
	if ctx.Err() == nil && timed.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil // the time is over
	}
	return "", err
}

// typed reads what the user types until Enter. While a time runs, only Ctrl-C counts.
func (p Prompter) typed(ctx context.Context, k *terminal.Keyboard, echo bool) (string, error) {
	var text []byte
	_, timed := ctx.Deadline()
	for {
		b, err := k.Key(ctx)
		switch {
		case err != nil:
			return "", err
		case b == k.Interrupt():
			p.clearLine()
			return string(text), p.continueOrAbort(ctx, k)
		case timed:
		case b == '\r' || b == '\n':
			p.clearLine()
			if !echo && !timed {
				p.Display.Hidden().Add(string(text))
			}
			return string(text), nil
		case b == k.Erase() || b == 0x7f || b == '\b':
			text = text[:max(len(text)-1, 0)]
			p.clearLine()
			if echo {
				fmt.Fprint(p.Console.Out, string(text))
			}
		default:
			text = append(text, b)
		}
	}
}

func (p Prompter) clearLine() { fmt.Fprint(p.Console.Out, "\r\x1b[K") }

// continueOrAbort waits for one of the two letters. The time does not count any more.
func (p Prompter) continueOrAbort(ctx context.Context, k *terminal.Keyboard) error {
	p.Display.Print(view.NoColor, "Press 'C' to continue the play or 'A' to abort \r")
	defer p.clearLine()
	for {
		b, err := k.Key(context.WithoutCancel(ctx))
		switch {
		case err != nil:
			return err
		case b == 'c' || b == 'C':
			return nil
		case b == 'a' || b == 'A' || b == k.Interrupt():
			return p.Aborted
		}
	}
}

// Wait waits for a time, or until the context is over, whose error it gives then.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
