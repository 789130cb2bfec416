package utils

import (
	"fmt"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
)

func indexFailure(format string, args ...any) error {
	return value.Errorf("AnsibleError", "Error when using plugin 'index_of': "+format, args...)
}

func indexOf(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "data", Kind: "items"},
		argspec.Option{Name: "test", Kind: "str", Required: true},
		argspec.Option{Name: "value", Kind: "raw"}, argspec.Option{Name: "key", Kind: "str"},
		argspec.Option{Name: "fail_on_missing", Kind: "bool"}, argspec.Option{Name: "wantlist", Kind: "bool"})
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(a[0])
	if err != nil {
		return nil, err
	}
	entries, err := subjects(items, a[3], a[4])
	if err != nil {
		return nil, err
	}
	test, _ := value.Text(a[1])
	out := value.NewList()
	for i, entry := range entries {
		if entry == nil {
			continue
		}
		met, err := meets(c, entry, test, a[2])
		if err != nil {
			return nil, err
		}
		if met {
			out.Items = append(out.Items, value.Int(i))
		}
	}
	if len(out.Items) == 1 && a[5] != value.Bool(true) {
		return out.Items[0], nil
	}
	return out, nil
}

// subjects returns what is tested of each item: itself or the value of a key; nil where the key is missing.
func subjects(items []value.Value, key, failOnMissing value.Value) ([]value.Value, error) {
	if value.IsNone(key) {
		return items, nil
	}
	var kinds, missing []string
	dicts := true
	for _, item := range items {
		kinds = append(kinds, plainType(item))
		dicts = dicts && value.IsMapping(item)
	}
	if !dicts {
		return nil, indexFailure("When a key name is provided, all list entries are required to be dictionaries, got %s",
			joined(kinds))
	}
	out := make([]value.Value, len(items))
	for i, item := range items {
		v, ok, err := value.Item(item, key)
		if err != nil {
			return nil, err
		}
		if ok {
			out[i] = v
		} else if failOnMissing == value.Bool(true) {
			missing = append(missing, fmt.Sprintf("'%s' was not found in '%s' at [%d]", value.Printed(key), value.Printed(item),
				i))
		}
	}
	if len(missing) > 0 {
		return nil, indexFailure("%s. fail_on_missing=True", joined(missing))
	}
	return out, nil
}

func joined(all []string) string {
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// plainType returns the type that a value has after it went through JSON.
func plainType(v value.Value) string {
	if value.IsText(v) {
		return "str"
	}
	return v.Type()
}

// meets applies a test, which may be negated with ! or not.
func meets(c *jinja.Call, entry value.Value, test string, right value.Value) (bool, error) {
	said := fmt.Sprintf("Error encountered when testing value '%s' (type=%s) against '%s' (type=%s) with '%s'. ",
		value.Printed(entry), plainType(entry), value.Printed(right), plainType(entry), test)
	name, inverted := test, false
	if rest, ok := strings.CutPrefix(test, "!"); ok {
		name, inverted = strings.TrimLeft(rest, "!"), true
		if name == "=" {
			name = "=="
		}
	} else if rest, ok := strings.CutPrefix(test, "not "); ok {
		name, inverted = strings.TrimLeft(rest, "not "), true
	}
	if c.Env.Tests[name] == nil {
		return false, indexFailure("%s Error was: the test '%s' was not found.", said, name)
	}
	args := &jinja.Args{}
	if _, isList := right.(*value.List); !isList && name == "in" {
		right = value.NewList(right)
	}
	if !value.IsNone(right) {
		args.Pos = []value.Value{right}
	}
	met, err := c.Test(name, entry, args)
	if err != nil {
		return false, indexFailure("%s Error was: %s", said, err)
	}
	return met != inverted, nil
}
