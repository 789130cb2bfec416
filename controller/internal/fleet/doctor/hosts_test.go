package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hark/controller/internal/fleet"
)

// TestDoctorTellsHowHostsAreReached: those that are reached alike stand together, and what cannot be reached is a
// warning.
func TestDoctorTellsHowHostsAreReached(t *testing.T) {
	hosts := []Host{
		{Name: "h1", Agent: "h1", Way: "over ssh: h1"}, {Name: "h2", Agent: "web", Connection: "smart", Way: "over ssh: joe@h2"},
		{Name: "h3", Agent: "h3", Connection: "ssh", Way: "over ssh: h3"}, {Name: "h4", Connection: "local"}, {Name: "h5", Connection: "docker"},
		{Name: "h6", Connection: "winrm"}, {Name: "h7", Err: errors.New("ansible_port is no number")},
	}
	for name, tc := range map[string]struct {
		noSSH    bool // and no ansible-core
		enrolled []string
		want     string
	}{
		"an agent where there is one": {false, []string{"h1"}, `ok 1 by their agents: h1
ok 1 over ssh, since no agent of their name was ever enrolled: h2 (joe@h2)
ok 1 over ssh, as their connection says: h3 (h3)`},
		"without ssh": {true, []string{"web"}, `warning 2 in no way, since they have no agent and HARK_SSH is off: h1, h3
ok 1 by their agents: h2`},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			d := &doctor{Config: Config{Hosts: hosts, NoSSH: tc.noSSH, Ansible: !tc.noSSH, Dialer: &fleet.Dialer{Home: t.TempDir()}, Tell: func(f Finding) { told = append(told, f.State+" "+f.Text) }}}
			d.judgeHosts(tc.enrolled, nil)
			got := strings.Join(told, "\n")
			want := tc.want + `
ok 1 in this process: h4
ok 1 by docker: h5
` + map[bool]string{
				true:  "warning 1 in no way, since the connection plug-in winrm takes ansible-core, which is not on this machine: h6",
				false: "ok 1 by ansible-core on this machine, over winrm: h6"}[tc.noSSH]
			if got != "failed ansible_port is no number\n"+want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestDoctorTriesSSH: hosts that ssh does not get to are warnings with why, and only those are tried that are reached
// over ssh.
func TestDoctorTriesSSH(t *testing.T) {
	var told []string
	d := &doctor{Config: Config{
		Hosts:  []Host{{Name: "h1", Agent: "h1", Way: "over ssh: h1"}, {Name: "h2", Agent: "h2", Way: "over ssh: h2"}, {Name: "h3", Connection: "local"}, {Name: "h4", Agent: "h4"}},
		Dialer: &fleet.Dialer{Home: t.TempDir()}, Tell: func(f Finding) { told = append(told, f.State+" "+f.Text) },
		Try: func(_ context.Context, host string) error {
			if host == "h3" || host == "h4" {
				t.Errorf("%s was tried", host)
			}
			if host == "h2" {
				return errors.New("Warning: added\nssh: connect to host h2 port 22: Connection refused")
			}
			return nil
		},
	}}
	enrolled := []string{"h4"}
	d.judgeHosts(enrolled, d.tried(t.Context(), enrolled))
	want := `ok 1 over ssh, since no agent of their name was ever enrolled: h1 (h1)
warning 1 that ssh does not get to: h2 (ssh: connect to host h2 port 22: Connection refused)
ok 1 in this process: h3
ok 1 by their agents: h4`
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestDoctorComparesNames: an agent under another name than the inventory's is told, and web1 is not taken for web2.
func TestDoctorComparesNames(t *testing.T) {
	for host, want := range map[Host]string{
		{Name: "web7.example.org", Agent: "web7.example.org"}:        "web7 whose name begins alike",
		{Name: "a", Agent: "a", Address: "10.0.0.7"}:                 "10.0.0.7 which is its address",
		{Name: "databse", Agent: "databse"}:                          "database whose name is nearly the same",
		{Name: "server12", Agent: "server12"}:                        " ",
		{Name: "elsewhere", Agent: "elsewhere", Address: "10.0.0.8"}: " ",
	} {
		name, why := host.other([]string{"10.0.0.7", "database", "server11", "web7"})
		if got := name + " " + why; got != want {
			t.Errorf("%s: %q, want %q", host.Name, got, want)
		}
	}
	var told []string
	d := &doctor{Config: Config{Hosts: []Host{{Name: "web7.example.org", Agent: "web7.example.org"}, {Name: "h1", Agent: "h1"}},
		Tell: func(f Finding) { told = append(told, f.State+" "+f.Text+" "+f.Do) }}}
	d.judgeNames([]string{"h1", "web7"})
	want := "warning web7.example.org is reached over ssh, and there is an agent web7, whose name begins alike " +
		"if it is the same host: write hark_agent=web7 into its variables, or call the host web7\nok 1 agent that no host of this inventory has: web7 "
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestDoctorGroupsEqualFindings: what is wrong with many agents is one line.
func TestDoctorGroupsEqualFindings(t *testing.T) {
	var g group
	for i := range 30 {
		name := fmt.Sprintf("h%d", i)
		g.add(name, Finding{"agent " + name, "failed", "not connected to the broker, last seen " + fmt.Sprint(i) + "m ago", "look; or hark agents remove " + name})
	}
	g.add("other", Finding{"agent other", "warning", "its clock is off", "chrony"})
	found := g.findings()
	if len(found) != 2 || found[0].Check != "agents" || !strings.HasPrefix(found[0].Text, "30 agents: not connected to the broker: h0 (last seen 0m ago), h1 ") ||
		!strings.HasSuffix(found[0].Text, " and 10 more") || found[0].Do != "look; or hark agents remove NAME" {
		t.Errorf("%+v", found)
	}
	if found[1] != (Finding{"agent other", "warning", "its clock is off", "chrony"}) {
		t.Errorf("%+v", found[1])
	}
}
