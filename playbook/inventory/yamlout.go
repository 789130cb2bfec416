package inventory

import (
	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// writeYAML writes groups as ansible-inventory --yaml does.
func writeYAML(d *value.Dict) (string, error) {
	return pyyaml.Dump(d, pyyaml.DumpOptions{Unicode: true})
}
