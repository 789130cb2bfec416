package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Keyboard is a terminal that gives every key at once, Ctrl-C too.
type Keyboard struct {
	f     *os.File
	saved *unix.Termios
}

// pollEvery is how often a wait for a key checks whether it must end.
const pollEvery = 50 * time.Millisecond

// OpenKeyboard puts a terminal into that mode; Close ends it. Output is still processed, so that lines of the run
// look right meanwhile.
func OpenKeyboard(f *os.File, echo bool) (*Keyboard, error) {
	fd := int(f.Fd())
	saved, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	raw := *saved
	raw.Iflag &^= unix.BRKINT | unix.ICRNL | unix.INPCK | unix.ISTRIP | unix.IXON
	raw.Lflag &^= unix.ECHO | unix.ICANON | unix.IEXTEN | unix.ISIG
	if echo {
		raw.Lflag |= unix.ECHO
	}
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setAndFlush, &raw); err != nil {
		return nil, err
	}
	return &Keyboard{f, saved}, nil
}

// Close gives the terminal its old settings back.
func (k *Keyboard) Close() { _ = unix.IoctlSetTermios(int(k.f.Fd()), setAfterOutput, k.saved) }

// Interrupt returns the character of Ctrl-C.
func (k *Keyboard) Interrupt() byte { return k.saved.Cc[unix.VINTR] }

// Erase returns the character of backspace.
func (k *Keyboard) Erase() byte { return k.saved.Cc[unix.VERASE] }

// Key waits for a key. The error is io.EOF at the end of the terminal, and the context's.
func (k *Keyboard) Key(ctx context.Context) (byte, error) {
	if err := waitReadable(ctx, k.f); err != nil {
		return 0, err
	}
	var b [1]byte
	if n, err := k.f.Read(b[:]); n == 0 {
		if err == nil {
			err = io.EOF
		}
		return 0, err
	}
	return b[0], nil
}

// waitReadable waits until something can be read: a read that has begun cannot be called off.
func waitReadable(ctx context.Context, f *os.File) error {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := unix.Poll(fds, int(pollEvery.Milliseconds()))
		if err != nil && err != unix.EINTR {
			return err
		}
		if n > 0 {
			return nil
		}
	}
}

// readHidden prompts for a line and reads it, without showing it. When the context ends the terminal is as it was.
func readHidden(ctx context.Context, f *os.File, out io.Writer, prompt string) (string, error) {
	fd := int(f.Fd())
	saved, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return "", err
	}
	t.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, setAndFlush, t); err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, saved) }()
	fmt.Fprint(out, prompt) // only now: what is typed before is thrown away with the terminal's old settings
	defer fmt.Fprintln(out)
	if err := waitReadable(ctx, f); err != nil {
		return "", err
	}
	text, err := term.ReadPassword(fd)
	return string(text), err
}
