package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// site is what the tools play on: a broker, agents and an sshd, all on the loopback, with keys that are thrown away.
type site struct {
	dir, bin  string
	inventory string // of the hosts in use
	broker    string // its URL
	port      int    // of sshd; at the next one logins have a home of the bench's own

	processes []*exec.Cmd
}

// open starts everything for that many hosts. The site is closed afterwards, whatever the error.
func (s *site) open(ctx context.Context, hosts int) error {
	for name, text := range files() {
		if err := s.write(name, text, 0o644); err != nil {
			return err
		}
	}
	err := errors.Join(writeLarge(filepath.Join(s.dir, "large")), s.write("ansible.cfg", "", 0o644),
		s.run(ctx, "ip", "link", "set", "lo", "up"), s.startSSHD(ctx))
	if err != nil {
		return err
	}
	return s.startAgents(ctx, hosts)
}

func (s *site) write(name, text string, mode os.FileMode) error {
	path := filepath.Join(s.dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode))
}

// run runs a program to its end.
func (s *site) run(ctx context.Context, name string, args ...string) error {
	_, err := s.output(ctx, name, args...)
	return err
}

func (s *site) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = s.environ(), s.dir
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s%s", name, strings.Join(args, " "), err, &said, &complained)
	}
	return strings.TrimSpace(said.String()), nil
}

// start starts a program that ends with the site.
func (s *site) start(ctx context.Context, name string, args ...string) error {
	log, err := os.OpenFile(filepath.Join(s.dir, filepath.Base(name)+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.environ(), s.dir, log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	s.processes = append(s.processes, cmd)
	return nil
}

// Close waits for what was started; the context it was started with must be over. The connections that Ansible keeps
// end too.
func (s *site) Close() {
	kept, _ := filepath.Glob(filepath.Join(s.dir, ".ansible", "cp", "*"))
	for _, socket := range kept {
		// it may have ended by itself
		_ = s.run(context.Background(), "ssh", "-O", "exit", "-o", "ControlPath="+socket, "127.0.0.1")
	}
	for _, cmd := range s.processes {
		_ = cmd.Wait() // it was interrupted
	}
}

func (s *site) startSSHD(ctx context.Context) error {
	for _, key := range []string{"host", "user"} {
		if err := s.run(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key+"_key"); err != nil {
			return err
		}
	}
	public, err := os.ReadFile(filepath.Join(s.dir, "user_key.pub"))
	if err != nil {
		return err
	}
	config := fmt.Sprintf(
		"ListenAddress 127.0.0.1:%[1]d\nListenAddress 127.0.0.1:%[3]d\nHostKey %[2]s/host_key\n"+
			"AuthorizedKeysFile %[2]s/authorized\nPidFile none\nStrictModes no\nUsePAM no\nMaxStartups 100\nMaxSessions 100\n"+
			"PermitRootLogin yes\nSubsystem sftp internal-sftp\nMatch LocalPort %[3]d\n  SetEnv HOME=%[2]s/far\n", s.port, s.dir,
		s.port+1)
	if err := errors.Join(s.write("authorized", string(public), 0o600), s.write("sshd_config", config, 0o600),
		os.MkdirAll("/run/sshd", 0o755), os.MkdirAll(filepath.Join(s.dir, "far"), 0o700)); err != nil {
		return err
	}
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd" // not on everybody's path
	}
	return s.start(ctx, sshd, "-D", "-e", "-f", filepath.Join(s.dir, "sshd_config"))
}

// startAgents starts a broker with TLS and credentials, and agents at it.
func (s *site) startAgents(ctx context.Context, hosts int) error {
	hark, agent, url := filepath.Join(s.bin, "hark"), filepath.Join(s.bin, "hark-agent"), filepath.Join(s.dir, "url")
	if err := s.run(ctx, hark, "key", "create"); err != nil {
		return err
	}
	if err := s.start(ctx, hark, "broker", "run", "--data", filepath.Join(s.dir, "broker"), "--listen", "127.0.0.1:4222",
		"--tls", "--url-file", url); err != nil {
		return err
	}
	err := until(ctx, func() bool {
		text, err := os.ReadFile(url)
		s.broker = strings.TrimSpace(string(text))
		return err == nil && s.broker != ""
	})
	if err != nil {
		return fmt.Errorf("the broker does not start: %w", err)
	}
	token, err := s.output(ctx, hark, "agents", "token", "--approve", "--uses", fmt.Sprint(hosts), "--broker", s.broker)
	if err != nil {
		return err
	}
	for n := range hosts {
		state := filepath.Join(s.dir, host(n))
		if err := errors.Join(s.run(ctx, agent, "join", "--name", host(n), "--state-dir", state, token),
			s.start(ctx, agent, "run", "--state-dir", state)); err != nil {
			return err
		}
	}
	return until(ctx, func() bool {
		for n := range hosts {
			if s.run(ctx, hark, "agents", "show", host(n), "--present", "--broker", s.broker) != nil {
				return false
			}
		}
		return true
	})
}

func host(n int) string { return fmt.Sprintf("h%d", n+1) }

// until waits for something to become true, a minute at most.
func until(ctx context.Context, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// use writes the inventory of that many hosts, for a tool. One that leaves something in the home of its login is
// given another home; the jobs of Ansible are not found where the login's home is not that of its user.
func (s *site) use(hosts int, t tool) error {
	port := s.port
	if t.keeps {
		port++
	}
	var b strings.Builder
	for n := range hosts {
		b.WriteString(host(n))
		if t.sshd {
			fmt.Fprintf(&b,
				" ansible_host=127.0.0.1 ansible_port=%d ansible_user=root ansible_ssh_private_key_file=%s/user_key "+
					"ansible_python_interpreter=/usr/bin/python3", port, s.dir)
		}
		b.WriteString("\n")
	}
	return s.write("inventory", b.String(), 0o644)
}
