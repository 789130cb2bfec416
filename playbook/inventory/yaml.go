package inventory

import (
	"context"

	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// parseYAML reads an inventory of nested groups: each has hosts, vars and children.
func parseYAML(_ context.Context, from *reading, path string) error {
	v, err := from.o.Loader.Value(path)
	if err != nil {
		return err
	}
	d, ok := v.(*value.Dict)
	switch {
	case value.Falsy(v):
		return failf("Parsed empty YAML file")
	case !ok:
		return failf("YAML inventory has invalid structure, it should be a dictionary, got: %s", syntax.Class(v))
	}
	if plugin, _ := d.Get("plugin"); plugin != nil && !value.Falsy(plugin) {
		return failf("Plugin configuration YAML file, not YAML inventory")
	}
	r := yamlReader{tree: from.tree, notices: from.notices}
	for i := range d.Len() {
		k, group := d.At(i)
		if _, err := r.group(k, group); err != nil {
			return err
		}
	}
	return nil
}

// yamlReader reads groups within groups.
type yamlReader struct {
	tree    *tree
	notices *notices
}

// group reads one group; nil without an error, and a warning, for a value that is none.
func (r yamlReader) group(name, v value.Value) (*Group, error) {
	d, isDict := v.(*value.Dict)
	if !isDict && !value.IsNone(v) {
		r.notices.warn("Skipping '%s' as this is not a valid group definition", value.Printed(name))
		return nil, nil
	}
	text, ok := value.Text(name)
	if !ok {
		return nil, failf("Unable to add group %s: Invalid group name supplied, expected a string but got %s for %s",
			value.Printed(name), syntax.Class(name), value.Printed(name))
	}
	g, err := r.tree.addGroup(text)
	if err != nil {
		return nil, failf("Unable to add group %s: %s", text, err)
	}
	if !isDict {
		return g, nil
	}
	sections := value.NewDict()
	d.Each(func(k, section value.Value) bool { sections.SetKey(k, section); return true })
	for _, key := range []string{"vars", "children", "hosts"} {
		section, given := sections.Get(key)
		if !given {
			continue
		}
		if _, isText := value.Text(section); isText { // a single name
			one := value.NewDict()
			one.SetKey(section, value.None{})
			sections.Set(key, one)
		} else if _, ok := section.(*value.Dict); !ok && !value.IsNone(section) {
			return nil, failf(`Invalid "%s" entry for "%s" group, requires a dictionary, found "%s" instead.`, key, g.Name,
				syntax.Class(section))
		}
	}
	for i := range sections.Len() {
		k, section := sections.At(i)
		if err := r.section(g, value.Printed(k), section); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (r yamlReader) section(g *Group, key string, v value.Value) error {
	if value.IsNone(v) {
		r.notices.verbose(3, "Skipping empty key (%s) in group (%s)", key, g.Name)
		return nil
	}
	d, ok := v.(*value.Dict)
	if !ok {
		r.notices.warn("Skipping key (%s) in group (%s) as it is not a mapping, it is a %s", key, g.Name, syntax.Class(v))
		return nil
	}
	if key != "vars" && key != "children" && key != "hosts" {
		r.notices.warn(`Skipping unexpected key (%s) in group (%s), only "vars", "children" and "hosts" are valid`, key,
			g.Name)
	}
	for i := range d.Len() {
		k, item := d.At(i)
		var err error
		switch key {
		case "vars":
			err = r.tree.setVariable(g.Name, value.Printed(k), item)
		case "children":
			err = r.child(g, k, item)
		case "hosts":
			err = r.tree.hostEntry(g, k, item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r yamlReader) child(g *Group, name, v value.Value) error {
	child, err := r.group(name, v)
	if err != nil {
		return err
	}
	if child == nil {
		return failf("%s is not a known host nor group", value.Printed(name))
	}
	return r.tree.addChild(g, child)
}

// hostEntry reads the entry of one host, or of a range of them, below a group: its variables, or nothing.
func (t *tree) hostEntry(g *Group, pattern, v value.Value) error {
	text, ok := value.Text(pattern)
	if !ok {
		return failf("Host pattern %s must be a string. Enclose integers/floats in quotation marks.", value.Printed(pattern))
	}
	names, port, err := expandHosts(text)
	if err != nil {
		return err
	}
	vars, err := settings(v)
	if err != nil {
		return err
	}
	return t.populate(names, vars, g, port)
}

// settings returns the variables in a mapping of a host; nothing is an empty one.
func settings(v value.Value) ([]setting, error) {
	if value.Falsy(v) {
		return nil, nil
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, failf("Invalid data from file, expected dictionary and got:\n\n%s", value.Printed(v))
	}
	vars := make([]setting, 0, d.Len())
	d.Each(func(k, item value.Value) bool {
		vars = append(vars, setting{value.Printed(k), item})
		return true
	})
	return vars, nil
}
