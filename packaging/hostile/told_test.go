//go:build hostile

package hostile

import (
	"strings"
	"testing"
)

// An agent is told of variables what its own steps read, whatever way it hears of them: its plan, its variables,
// answers, calls. The play does what it would without that.
func TestAgentsAreToldWhatTheyRead(t *testing.T) {
	s := newSite(t)
	pass := s.dir + "/pass"
	s.write(pass, "sesame\n")
	vault := s.dir + "/vault.yml"
	s.write(vault, "vv_unused: "+canary+"-VAULT\nvv_used: fine\n")
	s.owner.must("vault", "encrypt", "--vault-password-file", pass, vault)
	sealed := s.read(vault)
	p := project{
		"group_vars/all/vault.yml": sealed, "vf.yml": sealed, "group_vars/all/plain.yml": "gv_unused: " + canary + "-GV\ngv_through: '{{ gv_unused }}'\ngv_used: fine\n",
		"host_vars/db1.yml": "db_secret: " + canary + "-DB\n", "host_vars/web1.yml": "own_unused: " + canary + "-OWN\nown_used: fine\n",
		"roles/r/defaults/main.yml": "rd_unused: " + canary + "-RD\n", "roles/r/vars/main.yml": "rv_unused: " + canary + "-RV\nrv_used: fine\n",
		"roles/r/tasks/main.yml": "- command: echo {{ rv_used }}\n", "late.yml": "lv_unused: " + canary + "-LATE\nlv_used: fine\n",
		"sub.yml":         "- command: echo {{ gv_used }}\n- command: 'echo {{ pv_unused | length }}'\n  delegate_to: db1\n",
		"files/f.txt":     "file\n",
		"templates/t.txt": "{{ vv_used }} {{ own_used | default('none') }}\n",
		"site.yml": `- hosts: all
  gather_facts: false
  vars: {pv_unused: CANARY-PV, pv_used: fine}
  vars_files: [vf.yml]
  roles: [r]
  tasks:
  - command: echo {{ pv_used }} {{ vv_used }} {{ gv_used }} {{ ev_used }}
  - template: {src: t.txt, dest: "{{ playbook_dir }}/t-{{ inventory_hostname }}"}
  - include_vars: late.yml
  - command: echo {{ lv_used }}
  - include_tasks: sub.yml
  - command: echo {{ hostvars['db1'].db_secret | length }} {{ gv_through | length }}
  - command: echo CANARY-DELEGATED
    delegate_to: db1
    register: delegated
  - command: test {{ delegated.stdout | length }} = 16
    delegate_to: db1
  - set_fact: {far: "{{ db_secret | default('') }}"}
    delegate_to: db1
    delegate_facts: true
    run_once: true
  - debug: {msg: "{{ sv_unused | length }}"}
    vars: {sv_unused: CANARY-SV}
    delegate_to: localhost
- hosts: db1
  gather_facts: false
  vars: {p2_unused: CANARY-P2}
  tasks:
  - command: 'test "{{ lv_unused }}{{ p2_unused }}{{ db_secret }}{{ gv_through }}" != ""'
- hosts: all
  gather_facts: false
  tasks:
  - command: echo {{ lv_used }}
`,
	}
	for name, text := range p {
		p[name] = strings.ReplaceAll(text, "CANARY", canary)
	}
	control, attacked := s.attack(p, func(*hostile) {}, "--vault-password-file", pass, "-e", "ev_unused="+canary+"-EV", "-e", "ev_used=fine")
	if control.code != 0 || attacked.code != 0 || attacked.recap(taken)["failed"] != 0 {
		t.Error(attacked)
	}
	if all := strings.Join(s.evil.held(), "\n"); !strings.Contains(all, "own_used") || !strings.Contains(all, "fine") {
		t.Errorf("the case does not see what the agent is told: %d bytes", len(all))
	}
}
