//go:build fleet

package fleet

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hark/packaging/pages"
)

// newcomer is somebody who does what docs/tutorial.md says, on hosts that have no hark.
type newcomer struct {
	hub   machine
	hosts map[string]machine // by the names that the tutorial gives them
	ends  []func()           // of the commands that go on
}

// TestTheTutorialIsTrue: its files are written and its commands typed, each prints what the page shows; then so do
// the drill of docs/broker.md, with which a lost broker comes back, and the words of docs/install.md that take all of
// it away.
func TestTheTutorialIsTrue(t *testing.T) {
	n := newcomer{hub: "h6", hosts: map[string]machine{"web1": "h7", "web2": "h8", "db1": "h9", "old1": "h10"}}
	n.clean(t)
	n.meet(t)
	bring(t, n.hub, packages(t, "1.0.0"), "/root")
	n.galaxy(t)
	n.follow(t, page(t, "tutorial.md", ""))
	n.end()
	if t.Failed() {
		return
	}
	n.restores(t)
	n.follow(t, page(t, "install.md", "Taking it away"))
	for name, m := range n.hosts {
		if left := m.sh(t, "ls -d /var/lib/hark /etc/hark /usr/local/bin/hark-agent /etc/systemd/system/hark* 2>/dev/null; pgrep -x hark-agent || true"); left != "" {
			t.Errorf("on %s is left %s", name, left)
		}
	}
	if left := n.hub.sh(t, "ls -d /usr/bin/hark* /usr/bin/ansible* /usr/lib/hark /var/lib/hark-broker /root/.config/hark 2>/dev/null; pgrep -x hark || true"); left != "" {
		t.Errorf("on the controller is left %s", left)
	}
}

func (n *newcomer) all() []machine {
	return append(slices.Collect(maps.Values(n.hosts)), n.hub)
}

// page are the blocks of code of a page of docs, or of one of its sections.
func page(t *testing.T, name, section string) []pages.Block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	part := string(text)
	if section != "" {
		_, part, _ = strings.Cut(part, "\n## "+section+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
	}
	blocks := pages.Blocks(part)
	if len(blocks) == 0 {
		t.Fatalf("%s %s has no commands", name, section)
	}
	return blocks
}

// clean takes away what other tests have left on the hosts, and afterwards what this one has.
func (n *newcomer) clean(t *testing.T) {
	all := n.all()
	wiped(all...)
	wipe := func(m machine) error {
		_, err := m.try(nil, `hark broker uninstall >/dev/null 2>&1; pkill -x hark
			dpkg -P hark-ansible-names hark hark-agent >/dev/null 2>&1; hark-agent uninstall >/dev/null 2>&1
			rm -rf /usr/local/bin/hark* /usr/bin/hark* /var/lib/hark* /etc/hark /root/.config /root/.cache/hark /root/.ansible /root/shop /root/*.deb /root/*.rpm /root/*.tgz /srv/shop; : >/etc/motd
			sed -i '/ tutorial$/d' /etc/hosts; rm -f /root/.ssh/config /root/.ssh/id_ed25519 /root/.ssh/known_hosts; userdel hark-broker 2>/dev/null; true`)
		return err
	}
	each(t, all, wipe)
	t.Cleanup(func() { each(t, all, wipe) })
}

// meet gives the hosts the tutorial's names, and the controller a key for them.
func (n *newcomer) meet(t *testing.T) {
	lines := fmt.Sprintf("%s.1 galaxy.example.org # tutorial\n", net())
	names := maps.Clone(n.hosts)
	names["hub.example.org"] = n.hub
	for name, m := range names {
		number, err := strconv.Atoi(string(m[1:]))
		if err != nil {
			t.Fatal(err)
		}
		lines += fmt.Sprintf("%s.%d %s # tutorial\n", net(), 100+number, name)
	}
	for _, m := range n.all() {
		if _, err := m.try(strings.NewReader(lines), "cat >>/etc/hosts"); err != nil {
			t.Fatal(err)
		}
	}
	key, err := os.ReadFile(filepath.Join(os.Getenv("FLEET_DIR"), "id_ed25519"))
	if err == nil {
		err = n.hub.put("/root/.ssh/id_ed25519", 0o600, key)
	}
	if err == nil {
		err = n.hub.put("/root/.ssh/config", 0o600, []byte("StrictHostKeyChecking accept-new\nLogLevel ERROR\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// galaxy serves the collection that the tutorial's project asks for.
func (n *newcomer) galaxy(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "serve")
	if out, err := exec.Command("go", "build", "-o", bin, "hark/controller/internal/ansible/galaxy/galaxytest/serve").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	serve := exec.Command(bin, net()+".1:80", "acme.greeting=1.0.0=testdata/greeting")
	in, err := serve.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = serve.Wait() // it was told to end
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal("the Galaxy server does not say that it is there")
	}
}

// follow does what blocks say: files are written into the project, commands typed there. "console stays" are commands
// that go on until all is done.
func (n *newcomer) follow(t *testing.T, blocks []pages.Block) {
	t.Helper()
	for _, b := range blocks {
		if name := b.File(); name != "" {
			if err := n.hub.put("/root/shop/"+name, 0o644, []byte(strings.Join(b.Lines, "\n")+"\n")); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range b.Commands() {
			switch b.Info {
			case "console":
				n.types(t, c)
			case "console stays":
				n.stays(t, c)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// script is a command as one types it, in the project when there is one.
func script(c pages.Command) string { return "export HOME=/root; cd; cd shop 2>/dev/null\n" + c.Text }

// types runs a command to its end. What a page shows of a list may come a little later: it is looked at again.
func (n *newcomer) types(t *testing.T, c pages.Command) {
	t.Helper()
	from := time.Now()
	for deadline := from.Add(patience); ; time.Sleep(500 * time.Millisecond) {
		out, err := n.hub.try(nil, script(c)+" 2>&1")
		missing := c.Missing(out)
		if err == nil && missing == "" {
			t.Logf("%4.1f s  %s", time.Since(from).Seconds(), c.Text)
			return
		}
		if again := strings.HasPrefix(c.Text, "hark duties list") || strings.HasPrefix(c.Text, "hark duties drift"); !again || time.Now().After(deadline) {
			t.Errorf("line %d: %s\n%s\n%v\nwhat the page shows and is missing: %q", c.Line, c.Text, out, err, missing)
			return
		}
	}
}

// stays starts a command that goes on until the test ends, and waits for what it prints first.
func (n *newcomer) stays(t *testing.T, c pages.Command) {
	t.Helper()
	out := &watched{}
	cmd := tool("exec", string(n.hub), "sh", "-c", script(c))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program := strings.Join(strings.Fields(c.Text)[:2], " ")
	n.ends = append(n.ends, func() {
		_, _ = n.hub.try(nil, "pkill -f '^"+program+"'") // it may have ended
		_ = cmd.Wait()                                   // it was told to
	})
	t.Cleanup(n.end)
	await(t, c.Text, func() bool { return c.Missing(out.String()) == "" })
}

// end ends the commands that go on.
func (n *newcomer) end() {
	for _, end := range n.ends {
		end()
	}
	n.ends = nil
}

// restores does the drill of docs/broker.md: the machine of the broker is lost, and one of its name takes its place.
func (n *newcomer) restores(t *testing.T) {
	drill := page(t, "broker.md", "Backup and restore")
	n.follow(t, drill[:1])
	n.hub.sh(t, "systemctl kill -s KILL hark-broker; HOME=/root hark broker uninstall; userdel hark-broker; rm -rf /var/lib/hark-broker")
	n.follow(t, drill[1:])
	list := pages.Command{Text: "hark run web:db -i inventory --summary -m ping", Shown: []string{"3 hosts expected: 3 ok = 3"}}
	await(t, "the agents are back", func() bool {
		out, err := n.hub.try(nil, script(list))
		return err == nil && list.Missing(out) == ""
	})
	n.types(t, pages.Command{Text: "hark agents revoke web2 && hark agents approve web2", Shown: []string{}})
}
