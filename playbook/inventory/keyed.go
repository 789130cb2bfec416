package inventory

import (
	"context"

	"hark/modules/py/value"
)

// keyed makes groups of the value of an expression: a name, a list of names, or a mapping whose entries are joined to
// names.
func (c *constructed) keyed(ctx context.Context, h *Host, entry value.Value, vars *value.Dict) error {
	d, ok := entry.(*value.Dict)
	if !ok || d.Len() == 0 {
		return failf("Invalid keyed group entry, it must be a dictionary: %s ", value.Printed(entry))
	}
	expr, _ := d.Get("key")
	key, err := c.eval(ctx, value.OrNone(expr), vars)
	if err != nil {
		if c.strict {
			return failf("Could not generate group for host %s from %s entry: %s", h.Name, value.Printed(value.OrNone(expr)),
				err)
		}
		return nil
	}
	fallback, hasFallback := given(d, "default_value")
	trailing, hasTrailing := given(d, "trailing_separator")
	if hasFallback && hasTrailing {
		return failf("parameters are mutually exclusive for keyed groups: default_value|trailing_separator")
	}
	if text, isText := value.Text(key); value.Falsy(key) && !(isText && text == "" && hasFallback) {
		if c.strict && !isEmptyContainer(key) {
			return failf("No key or key resulted empty for %s in host %s, invalid entry", value.Printed(value.OrNone(expr)),
				h.Name)
		}
		return nil
	}
	sep := textOption(d, "separator", "_")
	parent, skip, err := c.parent(ctx, d, key, vars)
	if err != nil || skip {
		return err
	}
	names, err := keyedNames(key, sep, fallback, hasTrailing && !value.SaysYes(trailing))
	if err != nil {
		return err
	}
	prefix := textOption(d, "prefix", "")
	if prefix == "" && !c.lead {
		sep = ""
	}
	for _, name := range names {
		if err := c.join(h, sanitize(prefix+sep+name), parent); err != nil {
			return err
		}
	}
	return nil
}

func (c *constructed) join(h *Host, name, parent string) error {
	g, err := c.tree.addGroup(name)
	if err != nil {
		return err
	}
	g.addHost(h)
	if parent == "" {
		return nil
	}
	p, err := c.tree.addGroup(sanitize(parent))
	if err != nil {
		return err
	}
	return c.tree.addChild(p, g)
}

// parent renders parent_group; skip says that it could not be rendered and the entry must be skipped.
func (c *constructed) parent(ctx context.Context, d *value.Dict, key value.Value,
	vars *value.Dict) (name string, skip bool, err error) {
	raw, ok := given(d, "parent_group")
	if !ok || value.Falsy(raw) {
		return "", false, nil
	}
	v, err := c.templates.of(vars).Template(ctx, raw)
	if err == nil {
		return value.Printed(v), false, nil
	}
	if c.strict {
		return "", false, failf("Could not generate parent group %s for group %s: %s", value.Printed(raw), value.Printed(key),
			err)
	}
	return "", true, nil
}

func given(d *value.Dict, key string) (value.Value, bool) {
	v, ok := d.Get(key)
	return v, ok && !value.IsNone(v)
}

func textOption(d *value.Dict, key, def string) string {
	v, ok := d.Get(key)
	if !ok {
		return def
	}
	return value.Printed(v)
}

func isEmptyContainer(v value.Value) bool {
	switch v := v.(type) {
	case *value.List:
		return len(v.Items) == 0
	case *value.Dict:
		return v.Len() == 0
	}
	return false
}

// keyedNames returns the names of a key, without the prefix. The fallback, if there is one, replaces an empty name.
func keyedNames(key value.Value, sep string, fallback value.Value, bare bool) ([]string, error) {
	or := func(v value.Value) string {
		if s, ok := value.Text(v); ok && s == "" && fallback != nil && !value.IsNone(fallback) {
			return value.Printed(fallback)
		}
		return value.Printed(v)
	}
	switch key := key.(type) {
	case *value.List:
		var names []string
		for _, item := range key.Items {
			names = append(names, or(item))
		}
		return names, nil
	case *value.Dict:
		var names []string
		for i := range key.Len() {
			k, v := key.At(i)
			name := value.Printed(k) + sep + or(v)
			if s, ok := value.Text(v); ok && s == "" && bare {
				name = value.Printed(k)
			}
			names = append(names, name)
		}
		return names, nil
	}
	if _, ok := value.Text(key); ok {
		return []string{or(key)}, nil
	}
	return nil, failf("Invalid group name format, expected a string or a list of them or dictionary, got: <class '%s'>",
		key.Type())
}
