//go:build hostile

package hostile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// honest are the agents that every site has beside the hostile one.
var honest = []string{"web2", "db1"}

// taken is the name of the host that was taken over.
const taken = "web1"

// site is a broker with an operator and agents.
type site struct {
	t     *testing.T
	bin   string
	dir   string // of everything
	data  string // of the broker
	url   string
	owner *operator // who started the broker
	evil  *hostile
	// running are the honest agents, by name.
	running map[string]*exec.Cmd
	// patience is how long a command of hark may take, 0 for limit.
	patience time.Duration
	// env is more of the environment of commands.
	env []string
	// stopBroker stops the broker; startBroker starts it again where it was.
	stopBroker func()
}

// newSite starts a broker, two honest agents and a hostile one, ready to work; they end with the test.
func newSite(t *testing.T) *site {
	t.Helper()
	s := newBroker(t)
	for _, name := range honest {
		s.startAgent(name)
	}
	s.evil = s.takeOver(taken, "")
	return s
}

// newBroker starts a broker without agents.
func newBroker(t *testing.T) *site {
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
	s.data = filepath.Join(s.dir, "broker")
	s.owner = s.newOperator("owner")
	s.startBroker()
	return s
}

// startBroker starts the broker, on the port that it had before if it had one.
func (s *site) startBroker() {
	s.t.Helper()
	listen := "127.0.0.1:0"
	if s.url != "" {
		listen = s.url[strings.LastIndex(s.url, "/")+1:]
	}
	file := filepath.Join(s.dir, "broker.url")
	_ = os.Remove(file)
	s.stopBroker = s.start("broker", s.owner.command(context.Background(), "broker", "run", "--data", s.data, "--listen", listen, "--url-file", file))
	s.await("the broker", func() bool {
		url, err := os.ReadFile(file)
		s.url = strings.TrimSpace(string(url))
		return err == nil && s.url != ""
	})
}

// startAgent enrols an honest agent and starts it.
func (s *site) startAgent(name string) { s.startBound(name, "") }

// startBound is startAgent with a policy.yml, "" for none.
func (s *site) startBound(name, policy string) {
	s.t.Helper()
	state := filepath.Join(s.dir, name)
	config := filepath.Join(s.dir, name+".yml")
	s.write(config, "log_level: info\n")
	if policy != "" {
		s.write(filepath.Join(s.dir, name+"-policy.yml"), policy)
		s.write(config, "policy: "+filepath.Join(s.dir, name+"-policy.yml")+"\n")
	}
	program := filepath.Join(s.bin, "hark-agent")
	if out, err := exec.Command(program, "join", "--name", name, "--state-dir", state, s.token()).CombinedOutput(); err != nil {
		s.t.Fatalf("hark-agent join: %v: %s", err, out)
	}
	cmd := exec.Command(program, "run", "--config", config, "--state-dir", state)
	s.start(name, cmd)
	if s.running == nil {
		s.running = map[string]*exec.Cmd{}
	}
	s.running[name] = cmd
	s.awaitAgent(name)
}

// token lets one agent in.
func (s *site) token(args ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.owner.must(append([]string{"agents", "token", "--approve"}, args...)...).out)
}

// awaitAgent waits until an agent is there.
func (s *site) awaitAgent(name string) {
	s.t.Helper()
	s.await("agent "+name, func() bool { return s.owner.hark("agents", "show", name, "--present").code == 0 })
}

// start starts a process that is stopped with the test, if stop did not do so before.
func (s *site) start(name string, cmd *exec.Cmd) (stop func()) {
	s.t.Helper()
	path := filepath.Join(s.dir, name+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = log.Close()
	}
	s.t.Cleanup(func() {
		stop()
		if s.t.Failed() {
			if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
				s.t.Logf("log of %s:\n%s", name, text)
			}
		}
	})
	return stop
}

// await looks every 50 ms until ok, for at most 30 s: the readiness of another process has no event to wait on.
func (s *site) await(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is not there after 30 s", what)
		}
	}
}

// operator is a person with a home of his own, on this machine.
type operator struct {
	s    *site
	home string
}

// newOperator makes the home of an operator: a key is made when it is first needed, access to the broker he must be
// given (admit).
func (s *site) newOperator(name string) *operator {
	s.t.Helper()
	o := &operator{s: s, home: filepath.Join(s.dir, "home-"+name)}
	if err := os.MkdirAll(o.home, 0o700); err != nil {
		s.t.Fatal(err)
	}
	return o
}

// admit gives an operator access to the broker; agents do not obey him for that.
func (s *site) admit(o *operator, flags ...string) {
	s.t.Helper()
	if r := o.hark("key", "show"); r.code != 0 {
		o.must("key", "create")
	}
	key := strings.TrimSpace(o.must("key", "show", "--public").out)
	access := s.owner.must(append([]string{"broker", "admit", key, "--data", s.data}, flags...)...).out
	file := filepath.Join(o.home, "access.json")
	if err := os.WriteFile(file, []byte(access), 0o600); err != nil {
		s.t.Fatal(err)
	}
	o.must("broker", "use", file)
}

// command is hark with the operator's home.
func (o *operator) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(o.s.bin, "hark"), args...)
	cmd.Env = append(os.Environ(), "HARK_HOME="+o.home, "HARK_BROKER="+o.s.url, "ANSIBLE_CONFIG="+filepath.Join(o.s.dir, "ansible.cfg"),
		"ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0", "TERM=dumb", "LANG=C.UTF-8")
	if o.s.url == "" {
		cmd.Env = append(cmd.Env, "HARK_BROKER=")
	}
	cmd.Env = append(cmd.Env, o.s.env...)
	return cmd
}

// limit is how long a command of hark may take: an attack that makes one hang has succeeded.
const limit = 90 * time.Second

// hark runs a command of the operator to its end.
func (o *operator) hark(args ...string) outcome { return o.in("", args...) }

// in is hark in a directory.
func (o *operator) in(dir string, args ...string) outcome {
	o.s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(o.s.patience, limit))
	defer cancel()
	var out, errs bytes.Buffer
	cmd := o.command(ctx, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		o.s.t.Fatalf("hark %s: %v, %v\n%s%s", strings.Join(args, " "), err, ctx.Err(), &out, &errs)
	}
	return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), errs: errs.String()}
}

// must is hark for a command that has to succeed.
func (o *operator) must(args ...string) outcome {
	o.s.t.Helper()
	r := o.hark(args...)
	if r.code != 0 {
		o.s.t.Fatalf("hark %s: %s", strings.Join(args, " "), r)
	}
	return r
}

// outcome is what a command of hark left.
type outcome struct {
	code      int
	out, errs string
}

func (o outcome) String() string { return fmt.Sprintf("exit code %d\n%s%s", o.code, o.out, o.errs) }
