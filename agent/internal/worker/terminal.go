package worker

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/creack/pty"

	"hark/agent/wire"
	"hark/modules/dialect"
)

// errTerminal is the error of a sudo that requires a terminal (requiretty).
var errTerminal = errors.New("sudo wants a terminal")

// asksTerminal reports whether a method reads passwords only from a terminal.
func asksTerminal(as wire.RunAs) bool {
	m, ok := dialect.MethodNamed(as.Method)
	return ok && m.Terminal && as.Password != ""
}

// addTerminal gives the command a terminal of its own, beside its pipes. Its output goes to said, and a question for a
// password is answered.
func (l *launch) addTerminal(said *startupOutput) error {
	ours, theirs, err := pty.Open()
	if err != nil {
		return err
	}
	said.terminal = true
	l.terminal, l.cmd.ExtraFiles = []*os.File{theirs, ours}, []*os.File{theirs}
	l.cmd.SysProcAttr.Setctty, l.cmd.SysProcAttr.Ctty = true, 3 // the first of ExtraFiles
	go answerPrompt(ours, said)
	return nil
}

// answerPrompt answers the first question for a password, and reads until the terminal is gone.
func answerPrompt(terminal *os.File, said *startupOutput) {
	var printed []byte
	asked := !asksTerminal(said.as)
	buf := make([]byte, 1<<10)
	for {
		n, err := terminal.Read(buf)
		if !asked {
			if printed = append(printed, buf[:n]...); bytes.Contains(bytes.ToLower(printed), []byte("password:")) {
				asked = true
				if _, err := io.WriteString(terminal, said.as.Password+"\n"); err != nil {
					return
				}
			}
		} else {
			said.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// over closes the terminal when the process has ended. Until then this process keeps both ends: sudo and doas close
// what they were given, and open it again by /dev/tty.
func (l *launch) over() {
	for _, f := range l.terminal {
		f.Close()
	}
}
