package builtin

import (
	"hark/modules"
	"hark/modules/ansible/builtin/internal/facts"
)

// MountFacts is ansible.builtin.mount_facts.
var MountFacts = modules.Define("ansible.builtin.mount_facts", "Retrieve mount information.", facts.Mounts,
	modules.StartsInCheck("lsblk", "mount", "findmnt"),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.mount_facts: {devices: ["/dev/*"], timeout: 5, on_timeout: warn}
- ansible.builtin.mount_facts: {sources: [/etc/fstab]}
`
		m.Returns = []modules.Return{{Name: "ansible_facts", Type: "dict", When: "always",
			Doc: "mount_points by path, and aggregate_mounts, a list of all."}}
	}), modules.Programs("mount_binary"))
