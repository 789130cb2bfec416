//go:build hostile

package hostile

import (
	"strings"
	"testing"
)

// weirdPlugin is a plug-in of the project, or of a collection, whose option a variable of any name sets.
func weirdPlugin(variable string) string {
	return `from ansible.plugins.lookup import LookupBase
DOCUMENTATION = r'''
name: weird
options:
  exe:
    default: harmless
    vars:
      - name: ` + variable + `
'''
class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        return ['exe is ' + str(self.get_option('exe'))]
`
}

// A host that lies sets no option of a plug-in in Python, whatever the name of its variable: not by facts of its steps,
// results of calls, add_host of a name that it makes up, nor by a fact that a cache kept. The playbook may.
func TestLyingAgentsSetNoOptionOfAPlugin(t *testing.T) {
	s := newSite(t)
	p := project{
		"lookup_plugins/weird.py":                                            weirdPlugin("my_weird_var"),
		"roles/r/lookup_plugins/weird_of_role.py":                            weirdPlugin("my_weird_role_var"),
		"collections/ansible_collections/acme/tools/plugins/lookup/weird.py": weirdPlugin("acme_weird_var"),
		"roles/r/tasks/main.yml":                                             "- ping:\n",
		"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: echo own
    register: r
  - set_fact: {"app_{{ inventory_hostname }}": 1}
  - command: echo {{ lookup('pipe', 'echo of the controller') }}
  - command: echo delegated
    delegate_to: web1
  - add_host: {name: "new-{{ inventory_hostname }}", "{{ r.more | default('some') }}": "{{ r.stdout }}"}
- hosts: all
  gather_facts: false
  roles: [r]
- hosts: all
  gather_facts: false
  tasks:
  - debug:
      msg: >-
        own {{ lookup('weird') }}, collection's {{ lookup('acme.tools.weird') }}, role's {{ lookup('weird_of_role') }}
  - set_fact: {my_weird_var: "set by the playbook"}
  - debug: msg="then {{ lookup('weird') }}"
`,
	}
	s.write(s.dir+"/ansible.cfg", "[defaults]\nfact_caching=jsonfile\nfact_caching_connection="+s.dir+"/facts\n")
	told := map[string]any{"my_weird_var": "evil", "acme_weird_var": "evil", "my_weird_role_var": "evil"}
	l := everywhere(told)
	l.Result["more"] = "my_weird_var"
	_, attacked := s.attack(p, func(h *hostile) { h.lies(l) })
	harmless := "own exe is harmless, collection's exe is harmless, role's exe is harmless"
	if strings.Contains(attacked.out, "is evil") || strings.Count(attacked.out, harmless) != 3 ||
		strings.Count(attacked.out, "then exe is set by the playbook") != 3 {
		t.Error(attacked)
	}
	s.evil.reset()
	after := s.play(project{
		"lookup_plugins/weird.py": p["lookup_plugins/weird.py"],
		"site.yml":                "- hosts: all\n  gather_facts: no\n  tasks:\n  - debug: msg=\"{{ lookup('weird') }}\"\n",
	})
	if strings.Count(after.out, "exe is harmless") != 3 {
		t.Error(after)
	}
}
