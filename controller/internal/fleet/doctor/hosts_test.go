package doctor

import (
	"errors"
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
			d.judgeHosts(tc.enrolled)
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
