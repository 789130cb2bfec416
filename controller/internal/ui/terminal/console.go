// Package terminal is what a command has of the person in front of it: streams, how wide and how safe they are, a
// pager, questions whose answers are not shown, and keys. It knows nothing of plays and settings.
package terminal

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Console is the streams of a process. It is for one goroutine, as its questions are.
type Console struct {
	In       io.Reader // nil is empty
	Out, Err io.Writer
	// Terminal is the file behind Out if it is a terminal, else nil.
	Terminal *os.File
	// NoTTY keeps the program from asking for passwords at /dev/tty.
	NoTTY bool
	// Getenv reads the environment.
	Getenv func(name string) (string, bool)

	// lines is In where it is read by lines, made by input.
	lines *bufio.Reader
}

// PrintJSON prints a value of hark's own commands for programs.
func (c *Console) PrintJSON(v any) error {
	e := json.NewEncoder(c.Out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// ReadAll reads all that comes in.
func (c *Console) ReadAll() ([]byte, error) {
	if c.In == nil {
		return nil, nil
	}
	return io.ReadAll(c.In)
}

// Columns returns the width of the terminal, or that of COLUMNS, or 80.
func (c *Console) Columns() int {
	if v, ok := c.Getenv("COLUMNS"); ok {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			return n
		}
	}
	if n := c.Width(); n > 0 {
		return n
	}
	return 80
}

// Width returns the width of the terminal, 0 if there is none.
func (c *Console) Width() int {
	if c.Terminal == nil {
		return 0
	}
	n, _, err := term.GetSize(int(c.Terminal.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// Page shows a long text: through the user's pager on a terminal, as it is elsewhere.
func (c *Console) Page(ctx context.Context, text string) error {
	pager, ok := c.Getenv("PAGER")
	if !ok {
		pager = "less"
	}
	if _, err := exec.LookPath(strings.Fields(pager + " less")[0]); c.Terminal == nil || err != nil ||
		strings.TrimSpace(pager) == "" {
		fmt.Fprintln(c.Out, strings.TrimSuffix(text, "\n"))
		return nil
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), c.Terminal, FileOf(c.Err)
	if _, ok := c.Getenv("LESS"); !ok {
		cmd.Env = append(cmd.Environ(), "LESS=FRSX")
	}
	_ = cmd.Run() // leaving the pager early is no failure
	return nil
}

// Interactive reports whether somebody sits at stdin.
func (c *Console) Interactive() bool {
	f, ok := c.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Ask asks for something that is shown while it is typed.
func (c *Console) Ask(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(c.Out, prompt)
	return c.line(ctx)
}

// AskSecret asks for something that is not shown while it is typed, at the terminal of the process. Where
// there is none it reads a line of stdin and says so, as Python's getpass does.
func (c *Console) AskSecret(ctx context.Context, prompt string) (string, error) {
	if tty := c.openTTY(); tty != nil {
		defer tty.Close()
		return readHidden(ctx, tty, tty, prompt)
	}
	if f, ok := c.In.(*os.File); ok && c.Interactive() {
		return readHidden(ctx, f, c.Err, prompt)
	}
	fmt.Fprint(c.Err, "Warning: Password input may be echoed.\n"+prompt)
	return c.line(ctx)
}

// openTTY returns the terminal of the process, nil if there is none.
func (c *Console) openTTY() *os.File {
	if c.NoTTY {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return tty
}

func (c *Console) line(ctx context.Context) (string, error) {
	if f, ok := c.In.(*os.File); ok && c.input().Buffered() == 0 {
		if err := waitReadable(ctx, f); err != nil {
			return "", err
		}
	}
	text, err := c.input().ReadString('\n')
	if err == io.EOF && text != "" {
		err = nil
	}
	return strings.TrimRight(text, "\r\n"), err
}

// input reads lines of stdin for the whole life of the program: a reader of its own for each prompt would swallow
// what is meant for the next.
func (c *Console) input() *bufio.Reader {
	if c.lines == nil {
		in := c.In
		if in == nil {
			in = strings.NewReader("")
		}
		c.lines = bufio.NewReader(in)
	}
	return c.lines
}
