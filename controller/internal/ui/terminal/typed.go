package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// Typed are lines that a person types, with a history in a file and words that are completed by the tab key; where
// nobody sits there, the lines of standard input. It is for one goroutine.
type Typed struct {
	Console *Console
	// History is the file of what was typed, "" for none.
	History string
	// Complete gives a line as far as its last word can be completed, and the choices that are left if it goes no
	// further; nil completes nothing.
	Complete func(line string) (string, []string)

	screen *term.Terminal // made with the first line; it holds what was typed ahead
}

// Line shows the prompt and gives a line. The error is io.EOF for Ctrl-D, Ctrl-C and the end of the input.
func (t *Typed) Line(ctx context.Context, prompt string) (string, error) {
	f, ok := t.Console.In.(*os.File)
	if !ok || !t.Console.Interactive() || t.Console.Terminal == nil {
		fmt.Fprint(t.Console.Out, prompt)
		return t.Console.line(ctx)
	}
	if t.screen == nil {
		t.open(f)
	}
	saved, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), saved) }()
	t.screen.SetPrompt(prompt)
	if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		_ = t.screen.SetSize(w, h) // an error is that of the screen, which the line tells
	}
	return t.screen.ReadLine()
}

func (t *Typed) open(in io.Reader) {
	t.screen = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, t.Console.Terminal}, "")
	t.screen.History = openPast(t.History)
	t.screen.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		return t.tab(t.screen, line, pos, key)
	}
}

// tab completes what stands before the cursor.
func (t *Typed) tab(screen io.Writer, line string, pos int, key rune) (string, int, bool) {
	if key != '\t' || t.Complete == nil {
		return "", 0, false
	}
	before, choices := t.Complete(line[:pos])
	if len(choices) > 0 {
		fmt.Fprintf(screen, "%s\n", strings.Join(choices, "  "))
	}
	return before + line[pos:], len(before), true
}

// pastLimit is how many lines of the history are kept.
const pastLimit = 1000

// past is the history, the oldest line first. It implements term.History.
type past struct {
	file  string
	lines []string
}

func openPast(file string) *past {
	p := &past{file: file}
	if text, err := os.ReadFile(file); err == nil {
		p.lines = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
		p.lines = p.lines[max(0, len(p.lines)-pastLimit):]
	}
	return p
}

// Add implements term.History. A history that cannot be written holds for this console only.
func (p *past) Add(line string) {
	if line == "" || len(p.lines) > 0 && p.lines[len(p.lines)-1] == line {
		return
	}
	p.lines = append(p.lines, line)
	p.lines = slices.Clone(p.lines[max(0, len(p.lines)-pastLimit):])
	if p.file != "" {
		_ = p.write()
	}
}

func (p *past) write() error {
	if st, err := os.Lstat(p.file); err == nil && !st.Mode().IsRegular() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, errors.New("it is no file"))
	}
	return os.WriteFile(p.file, []byte(strings.Join(p.lines, "\n")+"\n"), 0o600)
}

// Len implements term.History.
func (p *past) Len() int { return len(p.lines) }

// At implements term.History.
func (p *past) At(i int) string { return p.lines[len(p.lines)-1-i] }
