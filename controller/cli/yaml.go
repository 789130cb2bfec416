package cli

import (
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/value"
)

// yamlText is v as Ansible's commands print YAML.
func yamlText(v value.Value) (string, error) {
	return pyyaml.Dump(v, pyyaml.DumpOptions{})
}
