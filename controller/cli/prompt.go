package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"hark/agent/wire"
	"hark/controller/internal/play"
	"hark/controller/internal/view"
)

func readAll(r io.Reader) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	return io.ReadAll(r)
}

// input reads lines of stdin for the whole life of the program: a reader of its own for each prompt would swallow
// what is meant for the next.
func (a *app) input() *bufio.Reader {
	if a.lines == nil {
		in := a.In
		if in == nil {
			in = strings.NewReader("")
		}
		a.lines = bufio.NewReader(in)
	}
	return a.lines
}

// interactive tells that somebody sits at stdin.
func (a *app) interactive() bool {
	f, ok := a.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// askSecret asks for something that is not shown while it is typed, at the terminal of the process. Where
// there is none it reads a line of stdin and says so, as Python's getpass does.
func (a *app) askSecret(ctx context.Context, prompt string) (string, error) {
	if tty := a.openTTY(); tty != nil {
		defer tty.Close()
		return a.hidden(ctx, tty, tty, prompt)
	}
	if f, ok := a.In.(*os.File); ok && a.interactive() {
		return a.hidden(ctx, f, a.Err, prompt)
	}
	fmt.Fprint(a.Err, "Warning: Password input may be echoed.\n"+prompt)
	return a.line(ctx)
}

// openTTY is the terminal of the process, nil if there is none.
func (a *app) openTTY() *os.File {
	if a.NoTTY {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return tty
}

func (a *app) hidden(ctx context.Context, tty *os.File, out io.Writer, prompt string) (string, error) {
	fmt.Fprint(out, prompt)
	defer fmt.Fprintln(out)
	return readHidden(ctx, tty)
}

// ask asks for something that is shown while it is typed.
func (a *app) ask(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(a.Out, prompt)
	return a.line(ctx)
}

func (a *app) line(ctx context.Context) (string, error) {
	if f, ok := a.In.(*os.File); ok && a.input().Buffered() == 0 {
		if err := waitReadable(ctx, f); err != nil {
			return "", err
		}
	}
	text, err := a.input().ReadString('\n')
	if err == io.EOF && text != "" {
		err = nil
	}
	return strings.TrimRight(text, "\r\n"), err
}

// prompter asks the person at the terminal on behalf of a run.
type prompter struct{ a *app }

var _ play.Prompter = prompter{}

// Variable asks for a vars_prompt variable. Without a terminal it is the default.
func (p prompter) Variable(ctx context.Context, v play.VarPrompt) (string, error) {
	def, hasDefault := "", v.Default != nil
	if hasDefault {
		def = plainText(v.Default)
	}
	if !p.a.interactive() {
		p.a.display.Warn("Not prompting as we are not in interactive mode")
		return def, nil
	}
	prompt := "input for " + v.Name + ": "
	switch {
	case v.Text != "" && hasDefault:
		prompt = v.Text + " [" + def + "]: "
	case v.Text != "":
		prompt = v.Text + ": "
	}
	ask := p.a.ask
	if v.Private {
		ask = p.a.askSecret
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
				fmt.Fprintln(p.a.Out, "***** VALUES ENTERED DO NOT MATCH ****")
				continue
			}
		}
		if text == "" {
			text = def
		}
		return text, nil
	}
}

// Step asks whether to perform a task.
func (p prompter) Step(ctx context.Context, text string) (string, error) {
	answer, err := p.a.ask(ctx, text)
	if err != nil {
		return "", err
	}
	p.a.display.Banner(text)
	switch strings.ToLower(answer) {
	case "y", "yes":
		return "y", nil
	case "c", "continue":
		return "c", nil
	}
	return "n", nil
}

// Line reads a command of the debugger.
func (p prompter) Line(ctx context.Context, prompt string) (string, error) {
	return p.a.ask(ctx, prompt)
}

// Print shows what the debugger says.
func (p prompter) Print(text string) { p.a.display.Print(view.NoColor, text) }

// Pause shows text and waits: for the time, or for the Enter key. At a terminal Ctrl-C asks whether to go on or to abort.
func (p prompter) Pause(ctx context.Context, w wire.Prompt) (string, error) {
	show := func() {
		if w.Text != "" {
			p.a.display.Print(view.NoColor, w.Text)
		}
	}
	if !p.a.interactive() {
		show()
		if w.Limit == 0 {
			p.a.display.Warn("Not waiting for response to prompt as stdin is not interactive")
		}
		return "", wait(ctx, w.Limit)
	}
	k, err := openKeyboard(p.a.In.(*os.File), w.Limit == 0 && w.Echo)
	if err != nil {
		return "", err
	}
	defer k.close()
	show() // only now: what is typed in answer to it must not be lost with the terminal's old settings
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
func (p prompter) typed(ctx context.Context, k *keyboard, echo bool) (string, error) {
	var text []byte
	_, timed := ctx.Deadline()
	for {
		b, err := k.key(ctx)
		switch {
		case err != nil:
			return "", err
		case b == k.intr():
			p.clearLine()
			return string(text), p.continueOrAbort(ctx, k)
		case timed:
		case b == '\r' || b == '\n':
			p.clearLine()
			return string(text), nil
		case b == k.erase() || b == 0x7f || b == '\b':
			text = text[:max(len(text)-1, 0)]
			p.clearLine()
			if echo {
				fmt.Fprint(p.a.Out, string(text))
			}
		default:
			text = append(text, b)
		}
	}
}

func (p prompter) clearLine() { fmt.Fprint(p.a.Out, "\r\x1b[K") }

// continueOrAbort waits for one of the two letters. The time does not count any more.
func (p prompter) continueOrAbort(ctx context.Context, k *keyboard) error {
	p.a.display.Print(view.NoColor, "Press 'C' to continue the play or 'A' to abort \r")
	defer p.clearLine()
	for {
		b, err := k.key(context.WithoutCancel(ctx))
		switch {
		case err != nil:
			return err
		case b == 'c' || b == 'C':
			return nil
		case b == 'a' || b == 'A' || b == k.intr():
			return play.ErrAborted
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
