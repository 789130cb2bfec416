package rpm

import (
	"testing"

	"hark/modules/modtest"
)

func TestCases(t *testing.T) {
	tools := modtest.Tools(t)
	for _, m := range All() {
		if m.Name == "ansible.builtin.yum" || m.Name == "ansible.builtin.dnf5" {
			continue // dnf by other names
		}
		t.Run(m.Name, func(t *testing.T) { modtest.Run(t, m, modtest.Options{Tools: tools}) })
	}
}
