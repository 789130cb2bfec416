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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Target is a host as ssh reaches it. Zero fields are left to the client's configuration.
type Target struct {
	Host, User string
	Port       int
	KeyFile    string
	// Password is given when ssh asks for one; "" never asks.
	Password string
	// Args are those of every ssh (ssh_args, common and extra args), split into words.
	Args []string
	// AnyKey accepts a host key that is not on record (host_key_checking off).
	AnyKey  bool
	Timeout time.Duration
}

// Client runs commands on hosts. Connections to a host are shared while it is open.
type Client struct {
	// Executable is the ssh to use.
	Executable string

	dir     string
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
	dir, err := os.MkdirTemp("", "hark-ssh-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a directory for connections: %v", err)
	}
	c := &Client{Executable: path, dir: dir, askpass: filepath.Join(dir, "askpass")}
	// The password is in the environment of that ssh alone.
	if err := os.WriteFile(c.askpass, []byte("#!/bin/sh\nprintf '%s\\n' \"$"+passwordVar+"\"\n"), 0o700); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

const passwordVar = "HARK_SSH_PASSWORD"

// Close forgets the connections.
func (c *Client) Close() error { return os.RemoveAll(c.dir) }

// Command is ssh with a command for the host, which a shell of the user there reads.
func (c *Client) Command(ctx context.Context, t Target, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Executable, append(c.args(t), command)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if t.Password != "" {
		display := os.Getenv("DISPLAY")
		if display == "" {
			display = ":0" // older clients ask only then
		}
		cmd.Env = append(os.Environ(), passwordVar+"="+t.Password, "SSH_ASKPASS="+c.askpass, "SSH_ASKPASS_REQUIRE=force", "DISPLAY="+display)
		cmd.SysProcAttr.Setsid = true // without a terminal there is nobody else to ask
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

func (c *Client) args(t Target) []string {
	args := append([]string(nil), t.Args...)
	if shares(args) {
		args = append(args, "-o", "ControlPath="+filepath.Join(c.dir, "%C"))
	}
	option := func(name, v string) { args = append(args, "-o", name+"="+v) }
	if t.AnyKey {
		option("StrictHostKeyChecking", "no")
	}
	if t.Port > 0 {
		option("Port", strconv.Itoa(t.Port))
	}
	if t.KeyFile != "" {
		option("IdentityFile", `"`+t.KeyFile+`"`)
	}
	if t.Password == "" {
		option("KbdInteractiveAuthentication", "no")
		option("PreferredAuthentications", "gssapi-with-mic,gssapi-keyex,hostbased,publickey")
		option("PasswordAuthentication", "no")
	} else {
		option("NumberOfPasswordPrompts", "1")
	}
	if t.User != "" {
		option("User", `"`+t.User+`"`)
	}
	if t.Timeout > 0 {
		option("ConnectTimeout", strconv.Itoa(int(t.Timeout.Seconds())))
	}
	return append(args, "-T", "--", t.Host)
}

// shares tells whether connections are to be shared and nobody said where.
func shares(args []string) bool {
	all := strings.ToLower(strings.Join(args, " "))
	return strings.Contains(all, "controlpersist") && !strings.Contains(all, "controlpath") && !strings.Contains(all, "-s ")
}

// Run runs a command and gives what it printed. stdin may be nil.
func (c *Client) Run(ctx context.Context, t Target, command string, stdin io.Reader) (string, error) {
	cmd := c.Command(ctx, t, command)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	err := cmd.Run()
	if err != nil {
		err = Failure(err, said.String())
	}
	return out.String(), err
}

// Error is a command that failed on a host, or a host that could not be reached.
type Error struct {
	// Unreachable tells that the host could not be reached; else the command failed there.
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
		return &Error{Unreachable: true, Text: "cannot connect: " + said}
	case errors.As(err, &exit) && said != "":
		return &Error{Text: said}
	}
	return err
}
