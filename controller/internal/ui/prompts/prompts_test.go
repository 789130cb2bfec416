package prompts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"hark/agent/wire"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/compile"
)

var errAborted = errors.New("aborted")

// person sits at a terminal: what the program writes to it is read, and answers are typed.
type person struct {
	t *testing.T
	Prompter
	keys *os.File

	mu   sync.Mutex
	seen bytes.Buffer // guarded by mu
}

func newPerson(t *testing.T) *person {
	t.Helper()
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatalf("this machine gives no terminals: %v", err)
	}
	c := &terminal.Console{In: tty, Out: tty, Err: tty, NoTTY: true, Getenv: func(string) (string, bool) {
		return "", false
	}}
	display, err := view.NewDisplay(view.DisplayOptions{Out: tty, Err: tty, Columns: -1})
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, keys: keys, Prompter: Prompter{Console: c, Display: display, Aborted: errAborted}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.read()
	}()
	t.Cleanup(func() {
		_ = tty.Close()
		_ = keys.Close()
		<-done
	})
	return p
}

func (p *person) read() {
	r := bufio.NewReader(p.keys)
	for {
		b, err := r.ReadByte()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.seen.WriteByte(b)
		p.mu.Unlock()
	}
}

func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// types waits until the text is on the screen, then types.
func (p *person) types(after, keys string) {
	p.t.Helper()
	limit := time.After(time.Minute) // a net: it comes at once, or never
	for !strings.Contains(p.screen(), after) {
		select {
		case <-limit:
			p.t.Fatalf("%q never came to the screen: %q", after, p.screen()) // nobody would end the prompt
		case <-time.After(time.Millisecond):
		}
	}
	if _, err := p.keys.WriteString(keys); err != nil {
		p.t.Error(err)
	}
}

type reply struct {
	text string
	err  error
}

func during(f func() (string, error)) <-chan reply {
	c := make(chan reply, 1)
	go func() {
		text, err := f()
		c <- reply{text, err}
	}()
	return c
}

func TestPasswordsAreNotShown(t *testing.T) {
	p := newPerson(t)
	got := during(func() (string, error) { return p.Console.AskSecret(context.Background(), "Password: ") })
	p.types("Password: ", "hush\r")
	if a := <-got; a.text != "hush" || a.err != nil {
		t.Errorf("got %q, %v", a.text, a.err)
	}
	if strings.Contains(p.screen(), "hush") {
		t.Error("the password is on the screen")
	}
}

func TestAnInterruptEndsAPrompt(t *testing.T) {
	p := newPerson(t)
	ctx, cancel := context.WithCancel(context.Background())
	got := during(func() (string, error) { return p.Console.AskSecret(ctx, "Password: ") })
	p.types("Password: ", "")
	cancel()
	if a := <-got; !errors.Is(a.err, context.Canceled) {
		t.Errorf("got %q, %v", a.text, a.err)
	}
}

func TestPauseTakesWhatIsTyped(t *testing.T) {
	p := newPerson(t)
	got := during(func() (string, error) {
		return p.Pause(context.Background(), wire.Prompt{Text: "[pause]\nName?:", Echo: true})
	})
	p.types("Name?:", "anX\x7fna\r")
	if a := <-got; a.text != "anna" || a.err != nil {
		t.Errorf("got %q, %v", a.text, a.err)
	}
}

func TestPauseCanBeAbortedOrShortened(t *testing.T) {
	for key, want := range map[string]error{"a": errAborted, "C": nil} {
		p := newPerson(t)
		got := during(func() (string, error) {
			return p.Pause(context.Background(), wire.Prompt{Text: "Pausing", Limit: time.Hour, Echo: true})
		})
		p.types("Pausing", "typed in vain\x03")
		p.types("'A' to abort", key)
		if a := <-got; a.text != "" || !errors.Is(a.err, want) {
			t.Errorf("%s: got %q, %v", key, a.text, a.err)
		}
	}
}

func TestPauseEndsWithItsTime(t *testing.T) {
	p := newPerson(t)
	text, err := p.Pause(context.Background(), wire.Prompt{Text: "Pausing", Limit: time.Millisecond})
	if text != "" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestVariablesAreConfirmedAndHaveDefaults(t *testing.T) {
	p := newPerson(t)
	got := during(func() (string, error) {
		return p.Variable(context.Background(), compile.Prompt{Name: "x", Text: "Which", Default: value.SourceText("this"),
			Confirm: true})
	})
	p.types("Which [this]: ", "one\r")
	p.types("confirm Which [this]: ", "two\r")
	p.types("VALUES ENTERED DO NOT MATCH", "\r\r")
	if a := <-got; a.text != "this" || a.err != nil {
		t.Errorf("got %q, %v", a.text, a.err)
	}
}

func TestStepAsks(t *testing.T) {
	for typed, want := range map[string]string{"yes": "y", "C": "c", "": "n", "what": "n"} {
		p := newPerson(t)
		got := during(func() (string, error) {
			return p.Step(context.Background(), "Perform task: x (N)o/(y)es/(c)ontinue: ")
		})
		p.types("ontinue: ", typed+"\r")
		if a := <-got; a.text != want || a.err != nil {
			t.Errorf("%q: got %q, %v", typed, a.text, a.err)
		}
	}
}
