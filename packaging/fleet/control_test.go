//go:build fleet

package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bg is for commands that end by themselves.
var bg = context.Background()

// control is the machine from which the fleet is commanded: this one, with a broker and an operator's home.
type control struct {
	bin, dir, home string
	url            string // of the broker
	token          []byte // with which hosts enrol themselves
	broker         *exec.Cmd
}

// openControl starts the broker.
func openControl(dir string) (*control, error) {
	c := &control{bin: os.Getenv("HARK_BIN"), dir: dir, home: filepath.Join(dir, "home")}
	if c.bin == "" {
		c.bin = "../../bin"
	}
	bin, err := filepath.Abs(c.bin)
	if err != nil {
		return nil, err
	}
	c.bin = bin
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		return nil, err
	}
	if err := c.startBroker(); err != nil {
		c.stopBroker()
		return nil, err
	}
	if c.token, err = c.command(bg, "agents", "token", "--uses", "200", "--approve").Output(); err != nil {
		c.stopBroker()
		return nil, fmt.Errorf("cannot make a token: %w\n%s", err, said(err))
	}
	return c, nil
}

// net is the first three octets of the fleet's addresses.
func net() string {
	if n := os.Getenv("FLEET_NET"); n != "" {
		return n
	}
	return "10.213." + os.Getenv("FLEET_ID")
}

// command is hark with the operator's settings.
func (c *control) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "hark"), args...)
	cmd.Env = append(os.Environ(), "HARK_HOME="+c.home, "HARK_BROKER="+c.url, "ANSIBLE_CONFIG="+filepath.Join(c.dir, "ansible.cfg"),
		"ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0", "TERM=dumb", "LANG=C.UTF-8")
	return cmd
}

func (c *control) close() {
	c.stopBroker()
}

// outcome is what a command of hark left on the screen.
type outcome struct {
	code        int
	out, errors string
}

// process is a command of hark that runs.
type process struct {
	cmd  *exec.Cmd
	out  *watched
	errs bytes.Buffer
	end  context.CancelFunc
}

// start starts hark in the directory of a project.
func (c *control) start(t *testing.T, project string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	p := &process{cmd: c.command(ctx, args...), out: &watched{}, end: cancel}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = project, p.out, &p.errs
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Logf("hark %s\n%s%s", strings.Join(args, " "), p.out, p.errs.String())
		}
	})
	return p
}

// wait gives the outcome when the command has ended.
func (p *process) wait(t *testing.T) outcome {
	t.Helper()
	defer p.end()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{p.cmd.ProcessState.ExitCode(), p.out.String(), p.errs.String()}
}

// hark runs a command to its end.
func (c *control) hark(t *testing.T, project string, args ...string) outcome {
	t.Helper()
	return c.start(t, project, args...).wait(t)
}

// project writes files into a directory of the test; "inventory" is added when it is not there: all hosts.
func project(t *testing.T, hosts []machine, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if _, ok := files["inventory"]; !ok {
		files["inventory"] = inventory(hosts)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func inventory(hosts []machine) string {
	var b strings.Builder
	for _, m := range hosts {
		fmt.Fprintln(&b, m)
	}
	return b.String()
}

// said is what a command that failed wrote to stderr.
func said(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}

// recorded is hark with another home, and a broker that only the record there tells of.
func (c *control) recorded(t *testing.T, home, project string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, 4*time.Minute)
	defer cancel()
	cmd := c.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Env = append(cmd.Env, "HARK_HOME="+home)
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "HARK_BROKER=") })
	cmd.Dir, cmd.Stdout, cmd.Stderr = project, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
