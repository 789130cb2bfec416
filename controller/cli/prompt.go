package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"hark/agent/wire"
	"hark/controller/internal/play"
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
func (a *app) askSecret(prompt string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if a.NoTTY || err != nil {
		if err == nil {
			_ = tty.Close()
		}
		if !a.interactive() {
			fmt.Fprint(a.Err, "Warning: Password input may be echoed.\n"+prompt)
			return a.line()
		}
		fmt.Fprint(a.Err, prompt)
		return a.hidden(a.In.(*os.File), a.Err)
	}
	defer tty.Close()
	fmt.Fprint(tty, prompt)
	return a.hidden(tty, tty)
}

func (a *app) hidden(tty *os.File, out io.Writer) (string, error) {
	text, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(out)
	return string(text), err
}

// ask asks for something that is shown while it is typed.
func (a *app) ask(prompt string) (string, error) {
	fmt.Fprint(a.Out, prompt)
	return a.line()
}

func (a *app) line() (string, error) {
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
func (p prompter) Variable(_ context.Context, v play.VarPrompt) (string, error) {
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
		text, err := ask(prompt)
		if err != nil {
			return "", err
		}
		if v.Confirm {
			again, err := ask("confirm " + prompt)
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
func (p prompter) Step(_ context.Context, text string) (string, error) {
	answer, err := p.a.ask(text)
	p.a.display.Banner(text)
	if err != nil {
		return "", err
	}
	switch strings.ToLower(answer) {
	case "y", "yes":
		return "y", nil
	case "c", "continue":
		return "c", nil
	}
	return "n", nil
}

// Pause shows text and waits: for the time, or for the Enter key. Ctrl-C asks whether to go on or to abort.
func (p prompter) Pause(ctx context.Context, w wire.Prompt) (string, error) {
	if w.Text != "" {
		fmt.Fprintln(p.a.Out, strings.TrimSuffix(w.Text, "\n"))
	}
	if w.Seconds > 0 {
		return "", wait(ctx, w.Seconds)
	}
	if !p.a.interactive() {
		p.a.display.Warn("Not waiting for response to prompt as stdin is not interactive")
		return "", nil
	}
	if !w.Echo {
		f := p.a.In.(*os.File)
		return p.a.hidden(f, p.a.Out)
	}
	return p.a.line()
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
