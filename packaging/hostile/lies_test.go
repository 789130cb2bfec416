//go:build hostile

package hostile

import (
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
