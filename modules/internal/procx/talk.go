package procx

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Dialogue is how a process is spoken with that wants a terminal.
type Dialogue struct {
	// Answer takes what the process printed and gives what is to be typed, nothing if it is to be waited for more.
	// Its error ends the process.
	Answer func(printed []byte) ([]byte, error)
	// Echo shows what is typed, as terminals do.
	Echo bool
	// Patience is how long an answer may take to be wanted, or the process to end; then it is ended.
	Patience time.Duration
}

// errImpatient is the end of patience.
var errImpatient = errors.New("patience is over")

// Talk runs a process in a terminal and speaks with it. Stdin and Timeout of the Spec do not count; all output is
// Stdout. TimedOut says that patience was over.
func Talk(ctx context.Context, s Spec, d Dialogue) (Output, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd, err := s.command()
	if err != nil {
		return Output{}, err
	}
	out := Output{Start: time.Now()}
	c, master, err := startInTerminal(cmd, d.Echo, &s)
	if err != nil {
		return out, err
	}
	defer master.Close()
	t := &talker{Dialogue: d, terminal: master, cancel: cancel}
	t.sink.max = s.limit()
	t.sink.live = func(b []byte) {
		if s.Live != nil {
			s.Live(false, b)
		}
	}
	var reader sync.WaitGroup
	reader.Go(t.run)
	stuck := c.wait(ctx)
	out.End = time.Now()
	_ = master.SetReadDeadline(time.Now().Add(linger))
	reader.Wait()
	t.stop()
	out.Stdout, out.Dropped = t.sink.buf, t.sink.dropped
	if stuck != nil {
		return out, stuck
	}
	out.Rc = returnCode(c.status)
	switch cause := context.Cause(ctx); {
	case cause == nil || !c.failed():
		return out, t.failure
	case errors.Is(cause, errImpatient):
		out.TimedOut = true
		return out, nil
	default:
		return out, cause
	}
}

// startInTerminal starts a process that leads a session with a terminal of its own, and gives the other end.
func startInTerminal(cmd *exec.Cmd, echo bool, s *Spec) (*child, *os.File, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, nil, startError(s.Argv[0], "", err)
	}
	defer slave.Close()
	if !echo {
		err = muteTerminal(slave)
	}
	var c *child
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr.Setctty = true
		c, err = start(cmd, s)
	}
	if err != nil {
		master.Close()
		return nil, nil, startError(s.Argv[0], s.Dir, err)
	}
	return c, master, nil
}

func muteTerminal(f *os.File) error {
	mode, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return err
	}
	mode.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(int(f.Fd()), setTermios, mode)
}

// talker reads a terminal and types the answers.
type talker struct {
	Dialogue
	terminal *os.File
	cancel   context.CancelCauseFunc
	sink     sink
	timer    *time.Timer
	failure  error
}

func (t *talker) run() {
	if t.Patience > 0 {
		t.timer = time.AfterFunc(t.Patience, func() { t.cancel(errImpatient) })
	}
	readTerminal(t.terminal, func(printed []byte) {
		t.sink.take(printed)
		t.answer(printed)
	})
}

// readTerminal reads until the process has ended, and with it its terminal. Linux tells the end with EIO, and may do
// so before the last of what was printed: it looks whether there is something to read before it looks whether the
// other end is closed, and the process may print and end in between (n_tty_read). So only the second EIO in a row is
// the end.
func readTerminal(terminal io.Reader, took func(printed []byte)) {
	buf := make([]byte, 32<<10)
	for ended := false; ; {
		n, err := terminal.Read(buf)
		if n > 0 {
			took(buf[:n])
		}
		if err != nil && (ended || !errors.Is(err, unix.EIO)) {
			return
		}
		ended = err != nil
	}
}

func (t *talker) answer(printed []byte) {
	for t.failure == nil {
		typed, err := t.Answer(printed)
		if err != nil {
			t.failure = err
			t.cancel(err)
			return
		}
		if typed == nil {
			return
		}
		if t.timer != nil {
			t.timer.Reset(t.Patience)
		}
		if _, err := t.terminal.Write(typed); err != nil {
			return
		}
		printed = nil // there may be another question in what was printed
	}
}

func (t *talker) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}
