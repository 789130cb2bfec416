//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cluster is a NATS cluster that is not hark's, configured with what `hark broker config` prints.
type cluster struct {
	t     *testing.T
	work  string
	bin   string
	nodes []*exec.Cmd
	url   string
}

// TestPlaysSurviveTheirClustersNodes: agents are enrolled at three nats-server processes, and one is killed in the
// middle of a play. Every task runs once on every host.
func TestPlaysSurviveTheirClustersNodes(t *testing.T) {
	c := newCluster(t, 3)
	c.enrol("w1", "w2", "w3")
	book := filepath.Join(c.work, "site.yml")
	text := "- hosts: all\n  gather_facts: false\n  tasks:\n"
	const tasks = 12
	for i := range tasks {
		text += fmt.Sprintf("    - shell: sleep 0.3; echo %d >>%s/{{ inventory_hostname }}.done\n", i, c.work)
	}
	if err := os.WriteFile(book, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	play := c.command("hark", "play", "-i", "w1,w2,w3,", book)
	var out strings.Builder
	play.Stdout, play.Stderr = &out, &out
	if err := play.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the play's third task", func() bool { return c.done("w1") >= 3 })
	if err := c.nodes[0].Process.Kill(); err != nil { // where all are connected: it is the first in their lists
		t.Fatal(err)
	}
	if err := play.Wait(); err != nil {
		t.Errorf("the play: %v\n%s", err, &out)
	}
	for _, host := range []string{"w1", "w2", "w3"} {
		if n := c.done(host); n != tasks {
			t.Errorf("%s ran %d tasks, not %d", host, n, tasks)
		}
		if want := fmt.Sprintf("ok=%d ", tasks); !strings.Contains(out.String(), want) {
			t.Errorf("the recap does not say %q:\n%s", want, &out)
		}
	}
	var agents []struct{ Present bool }
	if err := json.Unmarshal(c.run("hark", "agents", "list", "--json"), &agents); err != nil || len(agents) != 3 {
		t.Errorf("the roster of the nodes that are left: %+v, %v", agents, err)
	}
}

// TestOneServerOfTheirOwn: what hark needs is there on a single nats-server too.
func TestOneServerOfTheirOwn(t *testing.T) {
	c := newCluster(t, 1)
	c.enrol("w1")
	if out := c.run("hark", "run", "-i", "w1,", "all", "-m", "ping"); !strings.Contains(string(out), "pong") {
		t.Errorf("%s", out)
	}
	c.run("hark", "agents", "revoke", "w1")
	out, err := c.command("hark", "run", "-i", "w1,", "all", "-m", "ping").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the agent of w1 was revoked on ") {
		t.Errorf("after the revocation: %v: %s", err, out)
	}
}

func newCluster(t *testing.T, size int) *cluster {
	t.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, work: t.TempDir(), bin: bin}
	server := filepath.Join(c.work, "nats-server")
	if out, err := exec.Command("go", "build", "-o", server, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("cannot build nats-server: %v: %s", err, out)
	}
	data := filepath.Join(c.work, "authority")
	conf := filepath.Join(c.work, "hark.conf")
	if err := os.WriteFile(conf, c.run("hark", "broker", "config", "--data", data), 0o600); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 2*size)
	var routes, urls []string
	for i := range size {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[size+i]))
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", ports[i]))
	}
	c.url = strings.Join(urls, ",")
	for i := range size {
		dir := filepath.Join(c.work, fmt.Sprintf("n%d", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\njetstream { store_dir: %q }\ninclude ../hark.conf\n", i, ports[i], dir)
		if size > 1 {
			text += fmt.Sprintf("cluster { name: c, listen: 127.0.0.1:%d, routes: [%s] }\n", ports[size+i], strings.Join(routes, ", "))
		}
		if err := os.WriteFile(filepath.Join(dir, "nats.conf"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, c.start(fmt.Sprintf("n%d", i), dir, server, "-c", "nats.conf"))
	}
	c.start("registrar", c.work, filepath.Join(bin, "hark"), "broker", "registrar", "--data", data, "--url", c.url)
	await(t, "the registrar", func() bool {
		text, err := os.ReadFile(filepath.Join(c.work, "registrar.log"))
		return err == nil && strings.Contains(string(text), "registrar ready")
	})
	return c
}

func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Env = append(os.Environ(), "HARK_HOME="+filepath.Join(c.work, "home"), "ANSIBLE_CONFIG=/dev/null", "HARK_BROKER=")
	return cmd
}

func (c *cluster) run(name string, args ...string) []byte {
	c.t.Helper()
	cmd := c.command(name, args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%s %s: %v: %s%s", name, strings.Join(args, " "), err, out, &said)
	}
	return out
}

// start runs a program until the test ends; it logs to NAME.log.
func (c *cluster) start(name, dir, path string, args ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.Create(filepath.Join(c.work, name+".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = c.command("hark").Env
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		killer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer killer.Stop()
		_ = cmd.Wait()
		log.Close()
		if c.t.Failed() {
			text, _ := os.ReadFile(log.Name())
			c.t.Logf("--- %s\n%s", name, text)
		}
	})
	return cmd
}

// enrol starts agents and waits until they are there.
func (c *cluster) enrol(names ...string) {
	c.t.Helper()
	token := strings.TrimSpace(string(c.run("hark", "agents", "token", "--approve", "--uses", fmt.Sprint(len(names)))))
	for _, name := range names {
		state := filepath.Join(c.work, name)
		c.run("hark-agent", "join", "--name", name, "--state-dir", state, token)
		c.start("agent-"+name, c.work, filepath.Join(c.bin, "hark-agent"), "run", "--state-dir", state)
		await(c.t, "agent "+name, func() bool { return c.command("hark", "agents", "show", name, "--present").Run() == nil })
	}
}

// done is how many tasks a host has run.
func (c *cluster) done(host string) int {
	text, _ := os.ReadFile(filepath.Join(c.work, host+".done"))
	return strings.Count(string(text), "\n")
}
