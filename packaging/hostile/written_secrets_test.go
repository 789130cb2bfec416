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
  - debug: msg="web1 has sesame-written swordfish-of-all made-by-web1"
- hosts: db1,localhost
  gather_facts: false
  tasks:
  - debug: msg="others have sesame-written swordfish-of-all made-by-web1 of-the-label"
`,
	}, "--level", "2.22")
	for text, times := range map[string]int{
		"web1 has $REDACTED$ $REDACTED$ $REDACTED$": 1, "others have $REDACTED$ $REDACTED$ made-by-web1 of-the-label": 2,
	} {
		if n := strings.Count(o.out, text); n != times {
			t.Errorf("%q is shown %d times", text, n)
		}
	}
	if o.code != 0 || t.Failed() {
		t.Error(o)
	}
}
