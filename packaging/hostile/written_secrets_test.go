//go:build hostile

package hostile

import (
	"strings"
	"testing"
)

// At level 2.22 a value that the playbook writes for a no_log argument is a secret of the run: no later task of any
// host shows it. One that a host made is hidden in its own words alone.
func TestSecretsThatPlaybooksWriteAreHiddenEverywhere(t *testing.T) {
	s := newSite(t)
	o := s.play(project{
		"group_vars/all.yml": "site_password: swordfish-of-all\nother: \"{{ site_password }}\"\nlabel: of-the-label\n",
		"library/keeps.py": `#!/usr/bin/python3
from ansible.module_utils.basic import AnsibleModule
m = AnsibleModule(argument_spec=dict(label=dict(), pin=dict(no_log=True, aliases=["code"])))
m.exit_json(said="kept")
`,
		"site.yml": `- hosts: web1
  gather_facts: false
  tasks:
  - command: echo made-by-web1
    register: r
  - uri: {url: "http://127.0.0.1:1/", url_username: u, url_password: "{{ item }}"}
    ignore_errors: true
    loop: ["{{ r.stdout }}"]
  - uri: {url: "http://127.0.0.1:1/", url_username: u, url_password: sesame-written}
    ignore_errors: true
  - uri: {url: "http://127.0.0.1:1/", url_username: u, url_password: "{{ other }}"}
    ignore_errors: true
  - uri: {url: "http://127.0.0.1:1/", url_username: "{{ label }}", url_password: "{{ r.stdout }}"}
    ignore_errors: true
  - keeps: {label: of-the-label, code: sesame-of-python}
    ignore_errors: true # whether there is a Python or not
  - uri: {url: "http://127.0.0.1:1/", url_username: u, url_password: "{{ label }}-and-{{ site_password[:4] }}"}
    ignore_errors: true
  - uri: {url: "http://127.0.0.1:1/", url_username: u, url_password: "{{ label }}-by-{{ r.stdout }}"}
    ignore_errors: true
  - debug: msg="web1 has sesame-written swordfish-of-all made-by-web1"
- hosts: db1,localhost
  gather_facts: false
  tasks:
  - debug: msg="others have sesame-written swordfish-of-all made-by-web1 of-the-label sesame-of-python of-the-label-and-swor of-the-label-by-made-by-web1"
`,
	}, "--level", "2.22")
	for text, times := range map[string]int{
		"web1 has $REDACTED$ $REDACTED$ $REDACTED$": 1, "others have $REDACTED$ $REDACTED$ made-by-web1 of-the-label $REDACTED$ $REDACTED$ of-the-label-by-made-by-web1": 2,
	} {
		if n := strings.Count(o.out, text); n != times {
			t.Errorf("%q is shown %d times", text, n)
		}
	}
	if o.code != 0 || t.Failed() {
		t.Error(o)
	}
}
