//go:build e2e || fleet

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startFleets starts the fleets of the modes that have one, with their hosts: those of a case are h1 to h4.
func startFleets(t *testing.T) map[string]*fleet {
	t.Helper()
	return map[string]*fleet{"agents": startFleet(t, "h1", "h2", "h3", "h4"), "mixed": startFleet(t, "h1", "h3")}
}

// fleet is a broker and agents on this machine.
type fleet struct {
	home, broker, work string

	agents map[string]*exec.Cmd // those of hosts, as they run
}

// programs are the directories of hark and of hark-agent.
type programs struct{ hark, agent string }

// built is the directory of the programs of this version.
func built(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// env is what hark needs beyond the case's own environment.
func (f *fleet) env() []string {
	if f == nil {
		return nil
	}
	return []string{"HARK_HOME=" + f.home, "HARK_BROKER=" + f.broker}
}

// startFleet starts the broker and the agents, ready to work; they end with the test.
func startFleet(t *testing.T, hosts ...string) *fleet {
	t.Helper()
	bin := built(t)
	return startFleetOf(t, programs{bin, bin}, hosts...)
}

// startFleetOf is startFleet with programs that may be of other versions.
func startFleetOf(t *testing.T, p programs, hosts ...string) *fleet {
	t.Helper()
	work := t.TempDir()
	f := &fleet{home: filepath.Join(work, "home"), work: work, agents: map[string]*exec.Cmd{}}
	f.startBroker(t, p.hark, filepath.Join(work, "broker"), "127.0.0.1:0")
	f.enrol(t, p, hosts...)
	return f
}

// startBroker starts the broker over its directory, and waits until it is ready.
func (f *fleet) startBroker(t *testing.T, bin, data, listen string, flags ...string) *exec.Cmd {
	t.Helper()
	urlFile := filepath.Join(f.work, "broker.url")
	_ = os.Remove(urlFile)
	cmd := start(t, f.work, "broker", filepath.Join(bin, "hark"),
		append([]string{"broker", "run", "--data", data, "--listen", listen, "--url-file", urlFile}, flags...)...)
	await(t, "the broker", func() bool {
		url, err := os.ReadFile(urlFile)
		f.broker = strings.TrimSpace(string(url))
		return err == nil && f.broker != ""
	})
	return cmd
}

// enrol brings agents in by a token, and waits until they are there.
func (f *fleet) enrol(t *testing.T, p programs, hosts ...string) {
	t.Helper()
	bin, work := p.hark, f.work
	token := strings.TrimSpace(hark(t, f, bin, "agents", "token", "--approve", "--uses", strconv.Itoa(len(hosts))))
	for _, host := range hosts {
		agent, state := filepath.Join(p.agent, "hark-agent"), filepath.Join(work, host)
		if out, err := exec.Command(agent, "join", "--name", host, "--state-dir", state, token).CombinedOutput(); err != nil {
			t.Fatalf("hark-agent join: %v: %s", err, out)
		}
		f.agents[host] = start(t, work, host, agent, "run", "--state-dir", state)
	}
	for _, host := range hosts {
		f.present(t, bin, host)
	}
}

// present waits until an agent is there.
func (f *fleet) present(t *testing.T, bin, host string) {
	t.Helper()
	await(t, "agent "+host, func() bool {
		cmd := exec.Command(filepath.Join(bin, "hark"), "agents", "show", host, "--present")
		cmd.Env = append(os.Environ(), f.env()...)
		return cmd.Run() == nil
	})
}

// replace ends the agent of a host and starts the one of another version over its state.
func (f *fleet) replace(t *testing.T, host string, p programs) {
	t.Helper()
	old := f.agents[host]
	_ = old.Process.Signal(os.Interrupt)
	_ = old.Wait()
	f.agents[host] = start(t, f.work, host, filepath.Join(p.agent, "hark-agent"), "run", "--state-dir", filepath.Join(f.work, host))
	f.present(t, p.hark, host)
}

func hark(t *testing.T, f *fleet, bin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "hark"), args...)
	cmd.Env = append(os.Environ(), f.env()...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hark %v: %v", args, err)
	}
	return string(out)
}

func start(t *testing.T, work, name, path string, args ...string) *exec.Cmd {
	t.Helper()
	log, err := os.Create(filepath.Join(work, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "HARK_HOME="+filepath.Join(work, "home"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = log.Close()
		if t.Failed() {
			if text, err := os.ReadFile(log.Name()); err == nil && len(text) > 0 {
				t.Logf("log of %s:\n%s", name, text)
			}
		}
	})
	return cmd
}

// await looks every 50 ms until ok, for at most 20 s: the readiness of another process has no event to wait on.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s is not there after 20 s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
