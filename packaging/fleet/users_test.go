//go:build fleet

package fleet

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The cases of testdata/users/*.txt are played by Ansible over ssh as the user that their first line names, and by
// hark over an agent of that user; the screens must be the same.
//
//	user: ops       as whom Ansible comes and the agent runs
//	args: -e x=y    more arguments for both
//
// The one host is h1.
func TestRunningAsSomebody(t *testing.T) {
	paths, err := filepath.Glob("testdata/users/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	fleetOf(t, 1)
	machine("h1").sh(t, people)
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			user, args := "root", []string{"play.yml"}
			for line := range strings.Lines(string(archive.Comment)) {
				key, val, _ := strings.Cut(strings.TrimSpace(line), ": ")
				switch key {
				case "user":
					user = val
				case "args":
					args = append(args, strings.Fields(val)...)
				}
			}
			agent := agentOf(t, "h1", user)
			files := map[string]string{"inventory": fmt.Sprintf("h1 hark_agent=%s ansible_host=%s.101\n", agent, net())}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			dir := project(t, nil, files)
			want := ansible(t, dir, user, append([]string{"-i", "inventory", "-i", "ssh.ini", "-l", "h1"}, args...)...)
			got := site.control.hark(t, dir, append([]string{"play", "-i", "inventory", "-e", "ansible_python_interpreter=/usr/bin/python3"}, args...)...)
			same(t, want, got)
		})
	}
}

// agentOf gives the name of an agent on the host that runs as a user; that of root is the host's own.
func agentOf(t *testing.T, m machine, user string) string {
	t.Helper()
	if user == "root" {
		return string(m)
	}
	name := string(m) + "-" + user
	enrolled.Lock()
	defer enrolled.Unlock()
	if enrolled.hosts[machine(name)] {
		// The unit is not enabled, so a host that was restarted since has not started it.
		m.sh(t, "systemctl start hark-"+user)
		present(t, machine(name))
		return name
	}
	site.control.forget(machine(name))
	m.sh(t, fmt.Sprintf("systemctl stop hark-%[1]s 2>/dev/null; rm -rf /var/lib/hark-%[1]s; install -d -o %[1]s -m 700 /var/lib/hark-%[1]s", user))
	join := fmt.Sprintf("cd / && setpriv --reuid %[1]s --regid %[1]s --init-groups hark-agent join --state-dir /var/lib/hark-%[1]s --name %[2]s -", user, name)
	if _, err := m.try(bytes.NewReader(site.control.token), join); err != nil {
		t.Fatal(err)
	}
	unit := fmt.Sprintf("[Service]\nType=notify\nUser=%[1]s\nWorkingDirectory=~\nExecStart=/usr/bin/hark-agent run --state-dir /var/lib/hark-%[1]s --name %[2]s\n", user, name)
	if err := m.put("/etc/systemd/system/hark-"+user+".service", 0o644, []byte(unit)); err != nil {
		t.Fatal(err)
	}
	m.sh(t, "systemctl daemon-reload && systemctl start hark-"+user)
	present(t, machine(name))
	enrolled.hosts[machine(name)] = true
	return name
}
