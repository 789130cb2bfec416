//go:build hostile

package hostile

import (
	"os"
	"strings"
	"testing"
)

// An agent that lies takes part, and what it says is seen, of its own steps and of calls.
func TestLyingAgentsTakePart(t *testing.T) {
	s := newSite(t)
	s.evil.lies(everywhere(map[string]any{"plain": "set"}))
	o := s.play(project{"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: echo ran
  - command: echo {{ lookup('pipe', 'echo ran') }}
  - debug: msg="{{ inventory_hostname }} plain {{ hostvars[inventory_hostname].plain | default('not') }}"
`})
	if o.code != 0 || !strings.Contains(o.out, "web1 plain set") || !strings.Contains(o.out, "web2 plain not") {
		t.Error(o)
	}
}

// decisive are the variables by which a host would be reached, entered, done by another agent or as somebody else,
// with what a
// liar would have there: the controller would run something, or another host would do what is meant for it.
func decisive(witness string) map[string]any {
	run := "sh -c 'touch " + witness + "'"
	all := map[string]any{
		"ansible_connection": "local", "hark_agent": "db1", "ansible_host": "db1", "inventory_hostname": "db1",
		"ansible_ssh_common_args": "-oProxyCommand=\"" + run + "\"", "ansible_ssh_executable": "/bin/sh",
		"ansible_podman_executable": "sh", "ansible_podman_extra_args": "-c 'touch " + witness + "' x",
		"ansible_docker_extra_args": "--host=tcp://127.0.0.1:1", "ansible_docker_host": "db1", "ansible_chroot_exe": witness + "-exe",
		"ansible_control_path_dir": witness + "-dir", "ansible_ssh_host_key_checking": false, "ansible_user": "nobody",
		"ansible_python_interpreter": witness + "-python", "ansible_async_dir": witness + "-jobs", "ansible_become": true,
		"ansible_become_exe": run, "ansible_become_user": "nobody", "ansible_port": 1, "ansible_facts_modules": []any{"nothing"},
		"playbook_dir": "/nowhere", "group_names": []any{"all"},
	}
	return all
}

// A host that tells of every decisive variable, in every layer and in the results of all calls, changes nothing for
// anybody: not
// for itself in later plays, not for hosts that delegate to it, not for the next command with a fact cache.
func TestLyingAgentsDecideNothing(t *testing.T) {
	s := newSite(t)
	witness := s.witness()
	p := project{
		"host_vars/db1.yml": "db_secret: " + canary + "-DB\n",
		"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: echo own
    register: r
  - set_fact: {"app_{{ inventory_hostname }}": 1, plain: "{{ r.stdout }}"}
  - command: echo {{ lookup('pipe', 'echo of the controller') }}
  - command: echo delegated
    delegate_to: web1
  - setup:
    delegate_to: web1
    delegate_facts: true
    run_once: true
- hosts: db1,web2
  gather_facts: false
  tasks:
  - command: echo once
    delegate_to: web1
    run_once: true
- hosts: all
  gather_facts: false
  tasks:
  - debug: msg="{{ plain }} {{ inventory_hostname }} {{ group_names }} {{ playbook_dir | basename | length }}"
  - command: echo {{ db_secret | default('none') | length }} {{ ansible_host | default('its own') }}
  - command: echo {{ lookup('pipe', 'echo late') }}
  - command: echo job
    async: 5
    delegate_to: localhost
- hosts: web1
  gather_facts: false
  connection: ssh
  tasks:
  - ping:
    ignore_unreachable: true
`,
	}
	s.write(s.dir+"/ansible.cfg", "[defaults]\nfact_caching=jsonfile\nfact_caching_connection="+s.dir+"/facts\n"+
		"[ssh_connection]\nssh_executable="+s.dir+"/nossh\n")
	s.write(s.dir+"/nossh", "#!/bin/sh\nexit 255\n")
	if err := os.Chmod(s.dir+"/nossh", 0o700); err != nil {
		t.Fatal(err)
	}
	control, attacked := s.attack(p, func(h *hostile) { h.lies(everywhere(decisive(witness))) })
	if control.code != attacked.code || control.of(taken) != attacked.of(taken) {
		t.Errorf("the liar fares otherwise: %s\nwithout the attack: %s", attacked, control)
	}
	// The next command, with the cache that the lies were kept in.
	after := s.play(project{"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - command: echo {{ inventory_hostname }}\n"})
	if after.code != 0 || after.recap(taken)["ok"] != 1 {
		t.Error(after)
	}
}

// The same of hosts that have no agent of their own, over ssh and in containers.
func TestLyingTargetsDecideNothing(t *testing.T) {
	s := newFarSite(t)
	witness := s.witness()
	p := project{
		"inventory": "web1 ansible_connection=ssh\nbox1 ansible_connection=podman\nroot1 ansible_connection=chroot\n" +
			"dock1 ansible_connection=docker\ndb1 ansible_connection=ssh db_secret=of-db1\n",
		"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - ping:
  - set_fact: {"app_{{ inventory_hostname }}": 1}
  - command: echo {{ lookup('pipe', 'echo of the controller') }}
    loop: [1, 2]
- hosts: all
  gather_facts: false
  tasks:
  - command: echo {{ inventory_hostname }}
    register: r
  - debug: msg="{{ r.stdout }} reached by {{ hostvars[inventory_hostname].ansible_connection }}"
  - command: echo {{ db_secret | default('none') }}
    delegate_to: "{{ inventory_hostname }}"
- hosts: db1
  gather_facts: false
  tasks:
  - command: echo asked
    delegate_to: "{{ item }}"
    loop: [web1, box1]
- hosts: all
  gather_facts: false
  tasks:
  - command: echo end
`,
	}
	control := s.play(p)
	l := everywhere(decisive(witness))
	s.far(map[string]lie{"web1": l, "box1": l, "root1": l, "dock1": l})
	attacked := s.play(p)
	if control.code != 0 || attacked.code != 0 {
		t.Errorf("%s\nwithout the attack: %s", attacked, control)
	}
	for _, host := range []string{"web1", "box1", "root1", "dock1", "db1"} {
		if was, is := control.of(host), attacked.of(host); was != is {
			t.Errorf("%s fared otherwise:\n%s\nwithout the attack:\n%s", host, is, was)
		}
	}
}

// What a host says is secret in the result of a call is hidden where it has done the task, and takes no word out of
// what others say, of later tasks or of the playbook.
func TestLyingAgentsHideNoWordsOfOthers(t *testing.T) {
	s := newSite(t)
	p := project{"ansible.cfg": "", "site.yml": `- hosts: db1
  gather_facts: false
  tasks:
  - command: echo hello
    delegate_to: web1
  - command: echo {{ lookup('pipe', 'echo hello') }}
    register: r
  - debug: msg="hello {{ r.stdout }}"
  - command: /nothing/hello
    ignore_errors: true
- hosts: all
  gather_facts: false
  tasks:
  - debug: msg="hello from {{ inventory_hostname }}"
`}
	words := lie{Result: map[string]any{"_ansible_new_secrets": []any{"changed", "hello", "stdout", "db1"}}}
	_, attacked := s.attack(p, func(h *hostile) { h.lies(words) }, "--level", "2.22")
	if strings.Contains(attacked.of("db1")+attacked.of("web2"), "REDACTED") || !strings.Contains(attacked.out, "hello from db1") {
		t.Error(attacked)
	}
}

// A host that says a lot in results of calls, or of its own steps, is refused before that takes the controller's
// memory.
func TestFloodsOfLiesAreBounded(t *testing.T) {
	const size = 20 << 20
	many := func(one string) lie {
		list := strings.Repeat(one+",", size/(len(one)+1)) + one
		return lie{Raw: []byte(`{"changed":true,"ansible_facts":{"f":[` + list + `]}}`)}
	}
	s := newSite(t)
	for name, one := range map[string]string{"lists": "[]", "texts": `"` + strings.Repeat("x", 1000) + `"`} {
		dir := s.lay(project{"site.yml": `- hosts: web1
  gather_facts: false
  tasks:
  - command: echo {{ lookup('pipe', 'echo x') }} {{ item }}
    loop: "{{ range(0, 7) | list }}"
    register: r
    delegate_to: web1
    ignore_errors: true
- hosts: web2,db1
  gather_facts: false
  tasks:
  - ping:
`})
		s.evil.reset()
		s.evil.lies(many(one))
		o, peak := s.watched(dir)
		if peak > mostMemory {
			t.Errorf("with %s the controller needs %d MB", name, peak)
		}
		if o.recap("web2")["ok"] != 1 || o.recap("db1")["ok"] != 1 {
			t.Errorf("with %s others do not go on: %.2000s", name, o)
		}
	}
}

// An event that would take more than one host may say is refused before it is read, and its host is given up.
func TestFloodsOfEventsAreBounded(t *testing.T) {
	s := newSite(t)
	dir := s.lay(project{"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - command: echo own\n  - ping:\n"})
	s.evil.lies(lie{Of: []string{"command"}, Raw: []byte(`{"changed":true,"f":[` + strings.Repeat("[],", 7<<20) + `0]}`)})
	o, peak := s.watched(dir)
	if peak > mostMemory {
		t.Errorf("the controller needs %d MB", peak)
	}
	if o.recap(taken)["unreachable"] != 1 || o.recap("web2")["ok"] != 2 || o.recap("db1")["ok"] != 2 {
		t.Errorf("%.3000s", o)
	}
}
