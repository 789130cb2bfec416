// Package pyjson prints values as Python's json module does, which is how Ansible shows and exports them, and prints
// everything: what JSON does not know is shown as text. It does not read JSON.
package pyjson

import (
	"fmt"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// Options are the arguments of Python's json.dumps that are used here.
type Options struct {
	// Indent is the number of blanks for each level; Inline puts all on one line instead. An Indent of 0
	// without Inline breaks lines and does not indent.
	Indent int
	Inline bool
	// SortKeys orders mappings by key, else they keep their order.
	SortKeys bool
	// ASCII escapes everything beyond it.
	ASCII bool
}

// maxIndentation is how many blanks a value may be indented by. What is deep and wide is printed on one line: a host could otherwise make
// gigabytes of a few megabytes.
const maxIndentation = 64 << 20

// TooDeep tells whether a value with an indent for each level would be mostly blanks.
func TooDeep(v value.Value, indent int) bool {
	budget := maxIndentation
	return indent > 0 && !within(v, indent, indent, &budget)
}

func within(v value.Value, depth, indent int, budget *int) bool {
	each := func(item value.Value) bool {
		*budget -= depth
		return *budget > 0 && within(item, depth+indent, indent, budget)
	}
	fits := true
	switch v := v.(type) {
	case *value.Dict:
		v.Each(func(_, item value.Value) bool {
			fits = each(item)
			return fits
		})
	case *value.List:
		fits = !slices.ContainsFunc(v.Items, func(item value.Value) bool { return !each(item) })
	case *value.Tuple:
		fits = !slices.ContainsFunc(v.Items, func(item value.Value) bool { return !each(item) })
	}
	return fits
}

// Dumps is v as JSON. Values that JSON does not know are printed as text.
func Dumps(v value.Value, o Options) string {
	if !o.Inline && TooDeep(v, o.Indent) {
		o.Inline, o.Indent = true, 0
	}
	json := pyyaml.JSONOptions{Item: ",", Colon: ": ", ASCII: o.ASCII, Sorted: o.SortKeys, Lines: !o.Inline,
		Indent: strings.Repeat(" ", o.Indent), Replace: replace}
	if o.Inline {
		json.Item = ", "
	}
	text, err := pyyaml.DumpJSON(v, json)
	if err != nil {
		// Keys of several types have no order, and some are no keys in JSON: as text they are, and do.
		text, err = pyyaml.DumpJSON(textKeys(v), json)
	}
	if err != nil {
		return fmt.Sprintf("<%v>", err)
	}
	return text
}

// replace leaves what JSON knows and makes text of the rest.
func replace(v value.Value) value.Value {
	switch v := v.(type) {
	case nil:
		return value.None{}
	case value.None, value.Bool, value.Int, *value.BigInt, value.Float, *value.List, *value.Tuple, *value.Dict:
		return v
	case value.Mapping:
		d, err := value.ToDict(v)
		if err != nil {
			return value.Str(fmt.Sprintf("<%v>", err))
		}
		return d
	}
	return value.Str(plain(v))
}

// plain is v as Python's str has it; what cannot be printed is shown as its error.
func plain(v value.Value) string {
	s, err := value.ToStr(v)
	if err != nil {
		return fmt.Sprintf("<%v>", err)
	}
	return s
}

// textKeys is v with all keys as the text that JSON has for them.
func textKeys(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		return value.NewList(textItems(v.Items)...)
	case *value.Tuple:
		return value.NewList(textItems(v.Items)...)
	case *value.Dict:
		d := value.NewDict()
		v.Each(func(k, item value.Value) bool {
			d.Set(keyText(k), textKeys(item))
			return true
		})
		return d
	}
	return v
}

func textItems(items []value.Value) []value.Value {
	out := make([]value.Value, len(items))
	for i, item := range items {
		out[i] = textKeys(item)
	}
	return out
}

func keyText(k value.Value) string {
	switch k.(type) {
	case value.None, value.Bool, value.Float:
		text, err := pyyaml.DumpJSON(k, pyyaml.JSONOptions{})
		if err == nil {
			return text
		}
	}
	return plain(k)
}
