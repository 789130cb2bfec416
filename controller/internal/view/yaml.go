package view

import (
	"hark/controller/internal/pyjson"
	"hark/playbook/jinja/value"
)

func (d dumper) yaml(res *value.Dict, indent int) string {
	return pyjson.Dumps(res, pyjson.Options{Indent: max(indent, 0), Inline: indent < 0, SortKeys: true})
}

func (d dumper) yamlDiff(v value.Value) string {
	return pyjson.Dumps(v, pyjson.Options{Indent: 4, SortKeys: true, ASCII: true}) + "\n"
}
