// Package ssh reaches hosts through the system's OpenSSH client, so that ~/.ssh/config, jump hosts, agents and hardware
// keys work as they do for people. hark needs it to put agents on hosts, and for agents that live for one play.
package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hark/agent/tempdir"
)

// Target is a host as ssh reaches it. Zero fields are left to the client's configuration.
type Target struct {
	Host, User string
	Port       int
	KeyFile    string
	// Password is given when ssh asks for one; "" never asks. Prompt is what the question for it contains, "" for
	// what is usual. Another question than that is left without an answer, as sshpass does.
	Password, Prompt string
	// Provider is the library of a smart card; Password is its PIN then.
	Provider string
	// Enter is what runs a line of shell on the host in place of ssh, such as docker exec -i NAME /bin/sh -c: the
	// line is its last argument.
	Enter []string
	// Executable is the ssh to use, "" for the client's.
	Executable string
	// ControlPath is where connections are shared, in the words of ssh_config; "" is in a directory of the client's.
	ControlPath string
	// Args are the first arguments of every ssh (ssh_args), LastArgs those behind all options that the other fields make
	// (common and extra args), split into words. The first value of an option counts.
	Args, LastArgs []string
	// AnyKey accepts a host key that is not on record (host_key_checking off).
	AnyKey  bool
	Timeout time.Duration
	// Retries is how often a host that could not be reached is tried again.
	Retries int
}

// Client runs commands on hosts. Connections to a host are shared while it is open.
type Client struct {
	// Executable is the ssh to use.
	Executable string
	// Alone has each command open a connection of its own, but where the user said how they are shared: for those who
	// need one of each host.
	Alone bool

	dir     *tempdir.Dir
	askpass string
}

// Open makes a client; Close removes what it keeps.
func Open(executable string) (*Client, error) {
	if executable == "" {
		executable = "ssh"
	}
	path, err := exec.LookPath(executable)
	if err != nil {
		return nil, fmt.Errorf("cannot find OpenSSH's client %q: %v", executable, err)
	}
	dir, err := tempdir.Make("ssh")
	if err != nil {
		return nil, err
	}
	c := &Client{Executable: path, dir: dir, askpass: filepath.Join(dir.Path, "askpass")}
	// The password is in the environment of that ssh only.
	if err := os.WriteFile(c.askpass, []byte(askpassScript), 0o700); err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	return c, nil
}

// askpassScript answers ssh. A question that is not the one awaited has no answer: ssh gives up by itself, or, where
// the user said how the question reads, when the server does.
const askpassScript = `#!/bin/sh
case "$1" in
*"${` + promptVar + `:-assword}"*) printf '%s\n' "$` + passwordVar + `" ;;
*) [ -z "$` + waitVar + `" ] || exec sleep 150; exit 1 ;;
esac
`

const (
	passwordVar = "HARK_SSH_PASSWORD"
	promptVar   = "HARK_SSH_PROMPT"
	waitVar     = "HARK_SSH_WAIT"
)

// Close ends the connections in the client's own directory.
func (c *Client) Close() error {
	sockets, err := filepath.Glob(filepath.Join(c.dir.Path, "*"))
	for _, path := range sockets {
		if path != c.askpass {
			// it ends by itself in a minute
			_ = exec.Command(c.Executable, "-o", "ControlPath="+path, "-O", "exit", "--", "any").Run()
		}
	}
	return errors.Join(err, c.dir.Remove())
}

// Stop has the shared connection to a host take no more commands; those that run go on. The next command makes a new
// one.
func (c *Client) Stop(ctx context.Context, t Target) {
	if len(t.Enter) > 0 || c.alone(t) {
		return // nothing is shared
	}
	args := c.args(t)
	end := len(args) - 2 // before -- and the host
	args = slices.Concat(args[:end], []string{"-O", "stop"}, args[end:])
	_ = exec.CommandContext(ctx, c.executable(t), args...).Run() // there may be none
}

func (c *Client) executable(t Target) string {
	if t.Executable != "" {
		return t.Executable
	}
	return c.Executable
}

// Command is ssh with a command for the host, which a shell of the user there reads.
func (c *Client) Command(ctx context.Context, t Target, command string) *exec.Cmd {
	argv := t.Enter
	if len(argv) == 0 {
		argv = append([]string{c.executable(t)}, c.args(t)...)
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:len(argv):len(argv)], command)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if t.Password != "" {
		display := os.Getenv("DISPLAY")
		if display == "" {
			display = ":0" // older clients ask only then
		}
		prompt, wait := t.Prompt, "yes"
		if prompt == "" {
			wait = ""
			if t.Provider != "" {
				prompt = "Enter PIN for "
			}
		}
		cmd.Env = append(os.Environ(), passwordVar+"="+t.Password, promptVar+"="+prompt, waitVar+"="+wait,
			"SSH_ASKPASS="+c.askpass, "SSH_ASKPASS_REQUIRE=force", "DISPLAY="+display)
		cmd.SysProcAttr.Setsid = true // without a terminal there is nobody else to ask
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	}
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

func (c *Client) args(t Target) []string {
	var args []string
	option := func(name, v string) { args = append(args, "-o", name+"="+v) }
	given := func(more []string) {
		for _, arg := range more {
			if arg != "-C" { // what goes over is packed or sealed already: ssh would only spend time on it
				args = append(args, arg)
			}
		}
	}
	if c.alone(t) { // the first value of an option counts
		option("ControlMaster", "no")
		option("ControlPath", "none")
	}
	given(t.Args)
	if t.AnyKey {
		option("StrictHostKeyChecking", "no")
	}
	if t.Port > 0 {
		option("Port", strconv.Itoa(t.Port))
	}
	if t.KeyFile != "" {
		option("IdentityFile", `"`+t.KeyFile+`"`)
	}
	switch {
	case t.Provider != "":
		option("PKCS11Provider", t.Provider)
		option("KbdInteractiveAuthentication", "no")
		option("PreferredAuthentications", "publickey")
		option("PasswordAuthentication", "no")
	case t.Password == "":
		option("KbdInteractiveAuthentication", "no")
		option("PreferredAuthentications", "gssapi-with-mic,gssapi-keyex,hostbased,publickey")
		option("PasswordAuthentication", "no")
	default:
		option("NumberOfPasswordPrompts", "1")
	}
	if t.User != "" {
		option("User", `"`+t.User+`"`)
	}
	if t.Timeout > 0 {
		option("ConnectTimeout", strconv.Itoa(int(t.Timeout.Seconds())))
	}
	given(t.LastArgs)
	if shares(args) {
		option("ControlPath", `"`+c.controlPath(t)+`"`)
	}
	return append(args, "-T", "--", t.Host)
}

// alone reports whether a command for the host has a connection of its own.
func (c *Client) alone(t Target) bool {
	return c.Alone && t.ControlPath == "" && shares(slices.Concat(t.Args, t.LastArgs))
}

// shares reports whether connections are to be shared and nobody said where.
func shares(args []string) bool {
	all := strings.ToLower(strings.Join(args, " "))
	return strings.Contains(all, "controlpersist") && !strings.Contains(all, "controlpath") &&
		!strings.Contains(all, "-s ")
}

// controlPath returns where the connection to a host is shared.
func (c *Client) controlPath(t Target) string {
	if t.ControlPath == "" {
		return filepath.Join(c.dir.Path, "%C")
	}
	return t.ControlPath
}

// Reach runs a command as Run does, and again if the host could not be reached, after a pause that grows.
func (c *Client) Reach(ctx context.Context, t Target, command, stdin string) (out string, err error) {
	err = t.Again(ctx, func() (err error) {
		out, err = c.Run(ctx, t, command, strings.NewReader(stdin))
		return err
	})
	return out, err
}

// Again tries something until it succeeds, fails otherwise than by an *Error that says Unreachable, or was tried
// Retries times more. Pauses between grow.
func (t Target) Again(ctx context.Context, try func() error) error {
	for tries, pause := t.Retries, time.Duration(0); ; tries, pause = tries-1, min(2*pause+time.Second, 30*time.Second) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		err := try()
		var failed *Error
		if !errors.As(err, &failed) || !failed.Unreachable || tries <= 0 {
			return err
		}
	}
}

// maxOutput is how much a command may print on each of its streams, in bytes: far more than any of hark's does, so
// that a host that was taken over cannot fill the controller's memory.
const maxOutput = 1 << 20

// Run runs a command and gives what it printed, at most maxOutput bytes; more is an error. stdin may be nil.
func (c *Client) Run(ctx context.Context, t Target, command string, stdin io.Reader) (string, error) {
	cmd := c.Command(ctx, t, command)
	var out, said output
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	err := cmd.Run()
	switch {
	case out.more || said.more:
		err = &Error{Text: fmt.Sprintf("the host printed more than %d bytes where hark asks it a question", maxOutput)}
	case err != nil:
		err = Failure(err, said.b.String())
	}
	return out.b.String(), err
}

// output keeps what a command prints, and ends it when that is too much: its pipe is closed then.
type output struct {
	b    bytes.Buffer
	more bool
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if room := maxOutput - o.b.Len(); len(p) > room {
		o.more = true
		o.b.Write(p[:room])
		return room, io.ErrShortWrite
	}
	return o.b.Write(p)
}

// Error is a command that failed on a host, or a host that could not be reached.
type Error struct {
	// Unreachable reports whether the host could not be reached; else the command failed there.
	Unreachable bool
	Text        string
}

func (e *Error) Error() string { return e.Text }

// Failure words how ssh ended, with what it said on stderr.
func Failure(err error, said string) error {
	said = strings.TrimSpace(strings.ReplaceAll(said, "\r", ""))
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 255:
		if said == "" {
			said = "ssh ended without saying why"
		}
		return &Error{Unreachable: true, Text: "Failed to connect to the host via ssh: " + said}
	case errors.As(err, &exit) && said != "":
		return &Error{Text: said}
	}
	return err
}
