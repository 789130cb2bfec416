package plugins

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// python returns the command that runs a program in Python, where plug-ins find what they import.
func python(homes, collections []string, program string) *exec.Cmd {
	path, paths := interpreter(homes)
	cmd := exec.Command(path, append([]string{"-u", "-c", program}, paths...)...)
	cmd.Stderr = os.Stderr
	// An interrupt at the terminal is the run's: sections that clean up may still want plug-ins.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(slices.DeleteFunc(os.Environ(),
		func(pair string) bool { return strings.HasPrefix(pair, "ANSIBLE_COLLECTIONS_PATHS=") }),
		"PYTHONDONTWRITEBYTECODE=1", "ANSIBLE_COLLECTIONS_PATH="+strings.Join(collections, ":"),
		"ANSIBLE_COLLECTIONS_ON_ANSIBLE_VERSION_MISMATCH=ignore") // hark has said it when it found the collection
	return cmd
}

// killGroup ends the process that leads a group, with all that plug-ins have started in it.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// Interpreter returns the path of the Python of the ansible-core that is installed, "" if there is none or its Python
// is not beside it.
func Interpreter(homes []string) string {
	if path, _ := interpreter(homes); filepath.IsAbs(path) {
		return path
	}
	return ""
}

// interpreter returns the Python to run, and where it shall look for packages beside its own places: that which
// belongs to the first home of ansible, else the one on PATH.
func interpreter(homes []string) (python string, paths []string) {
	for _, home := range homes {
		if info, err := os.Stat(filepath.Join(home, "ansible")); err != nil || !info.IsDir() {
			continue
		}
		if prefix, _, ok := strings.Cut(home, "/lib"); ok {
			python := filepath.Join(prefix, "bin", "python3")
			if _, err := os.Stat(python); err == nil {
				return python, []string{home}
			}
		}
		return "python3", []string{home}
	}
	return "python3", nil
}

// conversation is what is said to Python and by it: each message is a line of JSON.
type conversation struct {
	who string // what errors call the other side
	out io.Writer
	in  *bufio.Scanner
}

// longestLine is the longest that Python may say.
const longestLine = 64 << 20

func newConversation(who string, out io.Writer, in io.Reader) conversation {
	c := conversation{who, out, bufio.NewScanner(in)}
	c.in.Buffer(nil, longestLine)
	return c
}

// say sends a message.
func (c conversation) say(m any) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		return c.ended()
	}
	return nil
}

// hear reads the next message into m. It gives the line too, which is good until the next is read.
func (c conversation) hear(m any) (json.RawMessage, error) {
	if c.in.Scan() {
		return c.in.Bytes(), json.Unmarshal(c.in.Bytes(), m)
	}
	if err := c.in.Err(); err != nil {
		return nil, err
	}
	return nil, c.ended()
}

func (c conversation) ended() error { return fmt.Errorf("%s has ended", c.who) }
