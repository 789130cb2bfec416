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

// errTerminal is that of a sudo which is set to run for nobody without a terminal.
var errTerminal = errors.New("sudo wants a terminal")

// asksTerminal reports whether a method takes passwords from a terminal alone.
func asksTerminal(as wire.RunAs) bool {
	m, ok := dialect.MethodNamed(as.Method)
	return ok && m.Terminal && as.Password != ""
}

// addTerminal gives the command a terminal of its own, beside its pipes. What is said there goes to said, and who
// asks for a password there has an answer.
func (l *launch) addTerminal(said *speech) error {
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

// answerPrompt answers the first question for a password, and reads on until the terminal is gone.
func answerPrompt(terminal *os.File, said *speech) {
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

// over lets go of the terminal when the process has ended. Until then this process keeps both ends: sudo and doas
// close what they were given, and open it again by the name that every process has for its terminal.
func (l *launch) over() {
	for _, f := range l.terminal {
		f.Close()
	}
}
