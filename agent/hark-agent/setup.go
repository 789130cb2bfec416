package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"hark/agent"
	"hark/agent/version"
	"hark/agent/wire"
	"hark/modules/treesync"
)

// setupPath is where the agent is installed, unless a package has brought it.
const setupPath = "/usr/local/bin/hark-agent"

// setup installs this binary as the host's agent, in conversation with `hark bootstrap`.
type setup struct {
	in    *bufio.Reader
	out   *json.Encoder
	state string
	path  string // of the installed binary
	// reach tries the way to the broker.
	reach func(urls string) error

	request wire.Setup
	before  before
	did     []string
}

func setupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "setup", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := &setup{in: bufio.NewReader(cmd.InOrStdin()), out: json.NewEncoder(cmd.OutOrStdout()), state: defaultState,
				path: setupPath}
			s.reach = func(urls string) error { return reachBroker(cmd.Context(), urls) }
			if _, err := os.Stat(packagedPath); err == nil {
				s.path = packagedPath
			}
			defer dropUpload()
			return s.run()
		},
	}
}

// dropUpload removes the directory that bootstrap has uploaded this program to: the controller does so too, if it is
// still there.
func dropUpload() {
	self, err := os.Executable()
	if dir := filepath.Dir(self); err == nil && strings.HasPrefix(filepath.Base(dir), wire.UploadPrefix) {
		_ = os.RemoveAll(dir)
	}
}

func (s *setup) run() error {
	// The controller may go away at any time: what was done is then undone, and not cut off in the middle.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	if err := s.out.Encode(wire.SetupReady{V: wire.Version}); err != nil {
		return err
	}
	keys, err := s.begin()
	if err != nil {
		return s.out.Encode(wire.SetupKeys{Err: s.undone(err).Error()})
	}
	if err := s.out.Encode(keys); err != nil {
		return s.undone(err)
	}
	if err := s.carryOut(); err != nil {
		return s.out.Encode(wire.SetupResult{Err: s.undone(err).Error()})
	}
	return nil
}

// carryOut does what the controller wants, until it is content. An error is to be undone.
func (s *setup) carryOut() error {
	var grant wire.SetupGrant
	if err := s.read(&grant); err != nil || grant.Done {
		return err
	}
	if err := s.install(grant); err != nil {
		return err
	}
	if err := s.out.Encode(wire.SetupResult{Did: s.did}); err != nil {
		return err
	}
	var verdict wire.SetupVerdict
	if err := s.read(&verdict); err != nil {
		return err
	}
	if !verdict.Commit {
		return errors.New("the controller did not want it")
	}
	s.commit()
	_ = s.out.Encode(wire.SetupResult{Did: s.did}) // done is done, whether the controller hears of it or not
	return nil
}

// undone makes the host what it was, and gives the error for that with what could not be undone.
func (s *setup) undone(err error) error {
	if left := s.rollBack(); left != nil {
		return fmt.Errorf("%w; it could not all be undone: %w", err, left)
	}
	return err
}

// read decodes the next line.
func (s *setup) read(into any) error {
	line, err := s.in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the controller has gone: %w", err)
	}
	return json.Unmarshal(line, into)
}

// begin reads the request and prints this host's keys, which are made if there are none.
func (s *setup) begin() (wire.SetupKeys, error) {
	keys := wire.SetupKeys{Version: version.String(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	line := []byte(nil)
	for !bytes.HasPrefix(line, []byte(wire.SetupPrefix)) {
		var err error
		if line, err = s.in.ReadBytes('\n'); err != nil {
			return keys, fmt.Errorf("the controller has gone: %w", err)
		}
	}
	if err := json.Unmarshal(line, &s.request); err != nil {
		return keys, fmt.Errorf("cannot read the controller's request: %w", err)
	}
	if os.Geteuid() != 0 {
		return keys, errors.New("installing the agent needs root: use become (-b), or connect as root")
	}
	if _, err := exec.LookPath("systemctl"); err != nil {
		return keys,
			errors.New("this host has no systemd: run hark-agent under its service manager and enrol it with `hark-agent join`")
	}
	if err := s.reach(s.request.Broker); err != nil {
		return keys, err
	}
	s.before.state, s.before.keys = exists(s.state), exists(filepath.Join(s.state, agent.IdentityFile))
	s.before.looked = true
	identity, err := agent.ReadIdentity(s.state)
	if err != nil {
		return keys, err
	}
	keys.Key, keys.XKey = identity.Key, identity.XKey
	keys.Unchanged = !s.request.Force && s.unchanged()
	return keys, nil
}

// unchanged reports whether the agent is installed, enrolled and running as the request wants it.
func (s *setup) unchanged() bool {
	e, err := agent.ReadEnrolment(s.state)
	if err != nil || e == nil || e.Name != s.request.Name || e.Broker != s.request.Broker || e.Fleet != s.request.Fleet {
		return false
	}
	for _, key := range s.request.Operators {
		if !slices.Contains(e.Operators, key) {
			return false
		}
	}
	return s.current() && systemctl("is-active", "--quiet", unitName) == nil
}

// current reports whether the installed binary is this one. That of a package is the package's matter.
func (s *setup) current() bool {
	if s.path == packagedPath {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	mine, err1 := treesync.Sum(self)
	theirs, err2 := treesync.Sum(s.path)
	return err1 == nil && err2 == nil && mine == theirs
}
