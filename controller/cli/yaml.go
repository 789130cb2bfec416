package cli

import (
	"hark/controller/internal/pyjson"
	"hark/playbook/jinja/value"
)

// yamlText is v as YAML, in the part of it that is JSON.
func yamlText(v value.Value) (string, error) {
	return pyjson.Dumps(v, pyjson.Options{Indent: 4, SortKeys: true}), nil
}
