package cli

import (
	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// yamlText is v as Ansible's commands print YAML.
func yamlText(v value.Value) (string, error) {
	return pyyaml.Dump(v, pyyaml.DumpOptions{})
}
