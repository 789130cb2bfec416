//go:build fleet

package fleet

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// enrolled are the hosts that have an agent.
var enrolled = struct {
	sync.Mutex
	hosts map[machine]bool
}{hosts: map[machine]bool{}}

// wiped notes that machines have no agent any more, nor their users.
func wiped(hosts ...machine) {
	enrolled.Lock()
	defer enrolled.Unlock()
	for _, m := range hosts {
		maps.DeleteFunc(enrolled.hosts, func(name machine, _ bool) bool {
			return name == m || strings.HasPrefix(string(name), string(m)+"-")
		})
	}
}

// fleetOf gives the first n hosts, each with an agent that is there.
func fleetOf(t *testing.T, n int) []machine {
	t.Helper()
	hosts := machines(n)
	var bare []machine
	enrolled.Lock()
	defer enrolled.Unlock()
	for _, m := range hosts {
		if !enrolled.hosts[m] {
			bare = append(bare, m)
		}
	}
	binary, err := os.ReadFile(filepath.Join(site.control.bin, "hark-agent"))
	if err != nil {
		t.Fatal(err)
	}
	each(t, bare, func(m machine) error { return site.control.enrol(m, binary) })
	for _, m := range bare {
		enrolled.hosts[m] = true
	}
	present(t, hosts...)
	return hosts
}

// enrol puts an agent on a host, as its service, in place of whatever was there.
func (c *control) enrol(m machine, binary []byte) error {
	if err := m.put("/usr/bin/hark-agent", 0o755, binary); err != nil {
		return err
	}
	if _, err := m.try(nil, "hark-agent uninstall && rm -rf /var/lib/hark /etc/hark /usr/local/bin/hark-agent"); err != nil {
		return err
	}
	c.forget(m)
	return c.join(m)
}

// join enrols the agent that is on a host.
func (c *control) join(m machine) error {
	_, err := m.try(bytes.NewReader(c.token), "hark-agent join --install --name "+string(m)+" -")
	return err
}

// known is what hark agents list tells of one agent.
type known struct {
	Name, Version string
	Present       bool
	Started       string
}

func (c *control) agents(t *testing.T) map[string]known {
	t.Helper()
	out, err := c.command(bg, "agents", "list", "--json").Output()
	if err != nil {
		t.Logf("hark agents list: %v", err)
		return nil
	}
	var list []known
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]known{}
	for _, a := range list {
		all[a.Name] = a
	}
	return all
}

// present waits until the agents of the hosts are there.
func present(t *testing.T, hosts ...machine) {
	t.Helper()
	await(t, "agents are present", func() bool {
		all := site.control.agents(t)
		for _, m := range hosts {
			if !all[string(m)].Present {
				return false
			}
		}
		return true
	})
}

// answers waits until the agents of the hosts do what they are told: the roster may not know yet that one was cut off.
func answers(t *testing.T, hosts ...machine) {
	t.Helper()
	dir := project(t, hosts, map[string]string{})
	await(t, "agents answer", func() bool {
		cmd := site.control.command(bg, "run", "-i", "inventory", "all", "-m", "ping")
		cmd.Dir = dir
		return cmd.Run() == nil
	})
}

// forget lets a host that is made anew take its name. It need not have been known.
func (c *control) forget(m machine) {
	_ = c.command(bg, "agents", "remove", string(m)).Run()
}

// recap is the last line of a play for each host.
func recap(out string) map[string]string {
	_, tail, _ := strings.Cut(out, "PLAY RECAP")
	lines := map[string]string{}
	for _, line := range strings.Split(tail, "\n")[1:] {
		if host, counts, ok := strings.Cut(line, ":"); ok {
			if _, twice := lines[strings.TrimSpace(host)]; twice {
				counts = "twice"
			}
			lines[strings.TrimSpace(host)] = strings.Join(strings.Fields(counts), " ")
		}
	}
	return lines
}
