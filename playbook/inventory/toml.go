package inventory

import (
	"context"
	"path/filepath"
	"time"

	"github.com/BurntSushi/toml"

	"hark/modules/py/value"
)

func wantsTOML(r *reading, path string) bool {
	return wantsFile(r, path) && filepath.Ext(path) == ".toml"
}

// parseTOML reads an inventory of groups, each with vars, hosts and a list of children.
func parseTOML(_ context.Context, from *reading, path string) error {
	data, err := from.o.Loader.Read(path)
	if err != nil {
		return err
	}
	var raw map[string]any
	meta, err := toml.Decode(string(data), &raw)
	if err != nil {
		return failf("TOML file (%s) is invalid: %s", path, err)
	}
	d := tomlDict(raw, meta.Keys())
	if d.Len() == 0 {
		return failf("Parsed empty TOML file")
	}
	if plugin, _ := d.Get("plugin"); plugin != nil && !value.Falsy(plugin) {
		return failf("Plugin configuration TOML file, not TOML inventory")
	}
	r := tomlReader{tree: from.tree, notices: from.notices}
	for i := range d.Len() {
		k, v := d.At(i)
		if err := r.group(value.Printed(k), v); err != nil {
			return err
		}
	}
	return nil
}

// tomlDict returns a dict of a table, with its keys in the order of the file.
func tomlDict(m map[string]any, keys []toml.Key) *value.Dict {
	d := value.NewDict()
	for i, key := range keys {
		v, ok := m[key[0]]
		if _, done := d.Get(key[0]); done || !ok {
			continue
		}
		var below []toml.Key
		for _, k := range keys[i:] {
			if k[0] == key[0] && len(k) > 1 {
				below = append(below, k[1:])
			}
		}
		d.Set(key[0], tomlValue(v, below))
	}
	return d
}

func tomlValue(v any, keys []toml.Key) value.Value {
	switch v := v.(type) {
	case map[string]any:
		return tomlDict(v, keys)
	case []map[string]any:
		l := value.NewList()
		for _, item := range v {
			l.Items = append(l.Items, tomlDict(item, keys))
		}
		return l
	case []any:
		l := value.NewList()
		for _, item := range v {
			l.Items = append(l.Items, tomlValue(item, keys))
		}
		return l
	case time.Time:
		return value.SourceText(v.Format("2006-01-02 15:04:05Z07:00"))
	}
	return value.FromGo(v, value.KindSource)
}

// tomlReader reads groups side by side.
type tomlReader struct {
	tree    *tree
	notices *notices
}

func (r tomlReader) group(name string, v value.Value) error {
	d, ok := v.(*value.Dict)
	if !ok {
		r.notices.warn("Skipping '%s' as this is not a valid group definition", name)
		return nil
	}
	g, err := r.tree.addGroup(name)
	if err != nil {
		return err
	}
	for i := range d.Len() {
		k, section := d.At(i)
		if err := r.section(g, value.Printed(k), section); err != nil {
			return err
		}
	}
	return nil
}

func (r tomlReader) section(g *Group, key string, v value.Value) error {
	d, isDict := v.(*value.Dict)
	l, isList := v.(*value.List)
	switch {
	case key == "vars" && isDict:
		for i := range d.Len() {
			k, item := d.At(i)
			if err := r.tree.setVariable(g.Name, value.Printed(k), item); err != nil {
				return err
			}
		}
	case key == "hosts" && isDict:
		for i := range d.Len() {
			k, item := d.At(i)
			if err := r.tree.hostEntry(g, k, item); err != nil {
				return err
			}
		}
	case key == "children" && isList:
		for _, item := range l.Items {
			child, err := r.tree.addGroup(value.Printed(item))
			if err != nil {
				return err
			}
			if err := r.tree.addChild(g, child); err != nil {
				return err
			}
		}
	case key == "vars" || key == "hosts":
		return failf(`Invalid "%s" entry for "%s" group, requires a dict, found "<class '%s'>" instead.`, key, g.Name,
			v.Type())
	case key == "children":
		return failf(`Invalid "children" entry for "%s" group, requires a list, found "<class '%s'>" instead.`, g.Name,
			v.Type())
	default:
		r.notices.warn(`Skipping unexpected key "%s" in group "%s", only "vars", "children" and "hosts" are valid`, key,
			g.Name)
	}
	return nil
}
