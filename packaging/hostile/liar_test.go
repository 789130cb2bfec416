//go:build hostile

package hostile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/tempdir"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/modules"
	"hark/modules/all"
)

// Hosts without agents that lie. What enters a host (ssh, docker, podman, chroot, lxc) is this test's own program in
// the PATH of the controller, which
// plays the far end: it takes the agent that the controller brings, throws it away, and is an agent itself that says
// what the lie of the host says.

// liarVar names the file that has the lies, by host. A host without one is honest.
const liarVar = "HOSTILE_LIES"

// entrances are the programs by which a controller enters hosts.
var entrances = []string{"ssh", "docker", "podman", "chroot", "lxc"}

// newFarSite is a site without broker and agents: every host is one of those that lie, and is reached as the
// inventory says.
func newFarSite(t *testing.T) *site {
	t.Helper()
	bin := os.Getenv("HARK_BIN")
	if bin == "" {
		bin = "../../bin"
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, bin: bin, dir: t.TempDir()}
	s.owner = s.newOperator("owner")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.dir, "entrances")
	for _, name := range entrances {
		path := filepath.Join(dir, name)
		s.write(path, fmt.Sprintf("#!/bin/sh\n%s=%s exec %s \"$@\"\n", liarVar, s.lieFile(), program))
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	s.far(map[string]lie{})
	return s
}

func (s *site) lieFile() string { return filepath.Join(s.dir, "lies.json") }

// far says which hosts of a far site lie from now on, and how.
func (s *site) far(lies map[string]lie) {
	s.t.Helper()
	raw, err := json.Marshal(lies)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(s.lieFile(), string(raw))
}

// lyingFar is the far end of a connection: a host as which the controller sees one, by the arguments of ssh or what
// stands for it. It gives an exit code.
func lyingFar(file string, args []string) int {
	var lies map[string]lie
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &lies)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if slices.Contains(args, "-O") || slices.Contains(args, "-V") {
		return 0
	}
	var told lie
	for host, l := range lies {
		is := func(arg string) bool { return arg == host || strings.HasSuffix(arg, "@"+host) }
		if slices.ContainsFunc(args, is) {
			told = l
		}
	}
	if err := beEntered(told); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// beEntered plays the shell that the controller talks to, and then the agent that it brings.
func beEntered(l lie) error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for line, before := "", ""; line != "}\n" || !strings.HasPrefix(before, "exit "); {
		next, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		before, line = line, next
	}
	dir, err := tempdir.Make("liar")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Remove() }()
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	fmt.Printf("os=Linux\narch=%s\ndir=%s\nready=1\n", machine, dir.Path)
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	var how, digest, path string
	var sent, whole int64
	if _, err := fmt.Sscan(line, &how, &sent, &whole, &digest, &path); err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	if _, err := io.CopyN(io.Discard, in, sent); err != nil {
		return err
	}
	if how != "run" {
		fmt.Println("there=1")
	}
	return beAgent(l, in, dir.Path)
}

// beAgent is an agent over the standard streams, as `hark-agent ephemeral` is one.
func beAgent(l lie, in *bufio.Reader, dir string) error {
	identity, err := wire.NewIdentity()
	if err != nil {
		return err
	}
	keys := wire.SetupKeys{
		Key: identity.Key, XKey: identity.XKey, Version: "1", OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	if err := json.NewEncoder(os.Stdout).Encode(keys); err != nil {
		return err
	}
	text, err := in.ReadBytes('\n')
	if err != nil {
		return errors.New("the controller has gone")
	}
	var grant wire.EphemeralGrant
	if err := json.Unmarshal(text, &grant); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	h := &hostile{name: grant.Name, identity: identity, sessions: map[string]*session{}}
	h.bus, err = nats.Dial(ctx, nats.Config{
		Open: func() (net.Conn, error) { return &streams{in}, nil }, Once: true,
		ID: identity.ID(), Name: "liar " + grant.Name, Identity: identity, JWT: grant.JWT, Logger: zerolog.Nop(), OnClosed: func(error) { stop() },
	})
	if err != nil {
		return err
	}
	defer h.bus.Close()
	h.lies(l)
	return agent.New(agent.Config{
		Transport: hands{h.bus, h}, Identity: identity, Name: grant.Name, Version: "1",
		Trusted: func(string) bool { return true },
		Modules: modules.NewRegistry(all.Modules()...), Cache: filepath.Join(dir, "cache"), Logger: zerolog.Nop(), Grace: -1,
	}).Run(ctx)
}

// streams are the standard streams as a connection.
type streams struct{ in io.Reader }

func (s *streams) Read(p []byte) (int, error)       { return s.in.Read(p) }
func (s *streams) Write(p []byte) (int, error)      { return os.Stdout.Write(p) }
func (s *streams) Close() error                     { return nil }
func (s *streams) LocalAddr() net.Addr              { return &net.UnixAddr{Name: "near"} }
func (s *streams) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: "far"} }
func (s *streams) SetDeadline(time.Time) error      { return nil }
func (s *streams) SetReadDeadline(time.Time) error  { return nil }
func (s *streams) SetWriteDeadline(time.Time) error { return nil }

// What the cases of lying hosts stand on: such a host takes part, over each way, and what it says is seen.
func TestLyingHostsTakePart(t *testing.T) {
	s := newFarSite(t)
	told := everywhere(map[string]any{"plain": "set"})
	s.far(map[string]lie{"web1": told, "box1": told})
	p := project{
		"inventory": `web1 ansible_connection=ssh
web2 ansible_connection=ssh
box1 ansible_connection=podman
box2 ansible_connection=docker
`,
		"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: echo ran
    changed_when: false
    register: r
  - debug:
      msg: "{{ inventory_hostname }} {{ r.stdout }}, plain {{ hostvars[inventory_hostname].plain | default('not') }}"
`,
	}
	o := s.play(p)
	wanted := []string{"web1 ran, plain set", "web2 ran, plain not", "box1 ran, plain set", "box2 ran, plain not"}
	for _, want := range wanted {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is not seen", want)
		}
	}
	if o.code != 0 || t.Failed() {
		t.Error(o)
	}
}
