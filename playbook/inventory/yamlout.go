package inventory

import (
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/value"
)

// writeYAML writes groups as ansible-inventory --yaml does.
func writeYAML(d *value.Dict) (string, error) {
	return pyyaml.Dump(d, pyyaml.DumpOptions{Unicode: true})
}
