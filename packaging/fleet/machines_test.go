//go:build fleet

// Package fleet tries hark on real hosts: Debian with systemd, booted by the script fleet beside it, each with an
// address, a disk, users and sshd of its own. Every test says what must be true of the hosts afterwards and looks
// there.
//
// The build tag keeps these tests out of `make test`: they need root. `packaging/fleet/run` brings what they need.
package fleet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hark/packaging/leash"
)

// size is how many hosts are booted.
const size = 10

// patience is how long anything is waited for. It is a safety net: what is waited for comes much sooner, or never.
const patience = 60 * time.Second

// site is the fleet of this run of the tests, with its broker and operator.
var site struct {
	dir     string // of this run, for logs
	control *control
}

func TestMain(m *testing.M) {
	os.Exit(leash.Main(onHosts{m}))
}

// onHosts runs the tests when the hosts are there, with a broker.
type onHosts struct{ m *testing.M }

func (o onHosts) Run() int {
	code, err := run(o.m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		return 1
	}
	return code
}

func run(m *testing.M) (int, error) {
	if os.Geteuid() != 0 {
		return 1, fmt.Errorf("needs root; packaging/fleet/run starts these tests")
	}
	dir, err := os.MkdirTemp("", "hark-fleet-test")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	site.dir = dir
	if out, err := tool("up", fmt.Sprint(size)).CombinedOutput(); err != nil {
		return 1, fmt.Errorf("cannot boot the hosts: %v\n%s", err, out)
	}
	c, err := openControl(dir)
	if err != nil {
		return 1, err
	}
	defer c.close()
	site.control = c
	return m.Run(), nil
}

// tool is a verb of the fleet script.
func tool(args ...string) *exec.Cmd { return exec.Command("./fleet", args...) }

// machine is one host of the fleet, by name.
type machine string

// machines are the first n hosts.
func machines(n int) []machine {
	var all []machine
	for i := range n {
		all = append(all, machine(fmt.Sprintf("h%d", i+1)))
	}
	return all
}

// verb does something to the host from outside: kill, boot, reboot, cut, heal, delay.
func (m machine) verb(t *testing.T, verb string, args ...string) {
	t.Helper()
	if out, err := tool(append([]string{verb, string(m)}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("fleet %s %s: %v\n%s", verb, m, err, out)
	}
}

// try runs a shell command as root on the host, not over the network.
func (m machine) try(stdin io.Reader, script string) (string, error) {
	cmd := tool("exec", string(m), "sh", "-c", script)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("on %s: %s: %w\n%s%s", m, script, err, out.String(), said.String())
	}
	return strings.TrimRight(out.String(), "\n"), err
}

// sh is try that must succeed.
func (m machine) sh(t *testing.T, script string) string {
	t.Helper()
	out, err := m.try(nil, script)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// put writes a file on the host.
func (m machine) put(path string, mode os.FileMode, text []byte) error {
	_, err := m.try(bytes.NewReader(text), fmt.Sprintf("mkdir -p \"$(dirname %[1]s)\" && cat >%[1]s.new && chmod %04[2]o %[1]s.new && mv %[1]s.new %[1]s", path, mode))
	return err
}

// await looks until ok: what another machine does has no event to wait on.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not so after %s", what, patience)
		}
	}
}

// each does something to all hosts at once.
func each(t *testing.T, hosts []machine, do func(machine) error) {
	t.Helper()
	errs := make(chan error, len(hosts))
	for _, m := range hosts {
		go func() { errs <- do(m) }()
	}
	for range hosts {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}
