package inventory

import (
	"context"
	"slices"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// templates renders without lookups, which inventories do not have, as in Ansible.
type templates struct{ templar.Options }

// of returns a templar over variables.
func (t templates) of(variables *value.Dict) *templar.Templar {
	return t.over(templar.DictVars{Dict: variables})
}

func (t templates) over(variables templar.Vars) *templar.Templar {
	t.Lookup = func(_ context.Context, name string, _ []value.Value, _ *value.Dict) (value.Value, error) {
		return nil, failf("The lookup `%s` was found, however lookups were disabled from templating", name)
	}
	return templar.New(variables, t.Options)
}

// config reads the file of a plug-in.
func (r *reading) config(path, plugin string) (*value.Dict, error) {
	v, err := r.o.Loader.Value(path)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*value.Dict)
	switch {
	case value.Falsy(v):
		return nil, failf("%s is empty", path)
	case !ok:
		return nil, failf("'%s' object has no attribute 'get'", v.Type())
	}
	given, _ := d.Get("plugin")
	name, _ := value.Text(value.OrNone(given))
	if short := modules.ShortName(name); short != plugin {
		if given == nil {
			name = "none found"
		}
		return nil, failf("Incorrect plugin name in file: %s", name)
	}
	return d, nil
}

// constructed is one reading of a constructed file.
type constructed struct {
	tree         *tree
	vars         *variables
	templates    templates
	extra        *value.Dict                   // of use_extra_vars, nil for none
	sources      []string                      // of use_vars_plugins, nil for none
	facts        func(host string) *value.Dict // nil for none
	strict, lead bool                          // lead is leading_separator
}

// parseConstructed makes variables and groups from what earlier sources defined.
func parseConstructed(ctx context.Context, r *reading, path string) error {
	d, err := r.config(path, "constructed")
	if err != nil {
		return err
	}
	c := newConstructed(r, d)
	c.facts = r.o.Facts
	for _, h := range slices.Clone(r.tree.hostList) {
		if err := c.host(ctx, h, d); err != nil {
			return failf("failed to parse %s: %s . %s", path, err, err) // Ansible shows the reason twice
		}
	}
	return nil
}

func newConstructed(r *reading, d *value.Dict) *constructed {
	flag := func(name string, def bool) bool {
		v, ok := d.Get(name)
		if !ok || value.IsNone(v) {
			return def
		}
		return value.SaysYes(v)
	}
	c := &constructed{tree: r.tree, vars: r.vars, templates: r.templates(), strict: flag("strict", false),
		lead: flag("leading_separator", true)}
	if flag("use_extra_vars", r.o.UseExtra) {
		c.extra = r.o.Extra
	}
	if flag("use_vars_plugins", false) {
		c.sources = r.done
	}
	return c
}

func (c *constructed) host(ctx context.Context, h *Host, d *value.Dict) error {
	vars, err := c.seen(h)
	if err != nil {
		return err
	}
	if compose, ok := get[*value.Dict](d, "compose"); ok {
		if err := c.compose(ctx, h, compose, vars); err != nil {
			return err
		}
	}
	if vars, err = c.seen(h); err != nil { // with what was composed
		return err
	}
	if groups, ok := get[*value.Dict](d, "groups"); ok {
		if err := c.groups(ctx, h, groups, vars); err != nil {
			return err
		}
	}
	if keyed, ok := get[*value.List](d, "keyed_groups"); ok {
		for _, entry := range keyed.Items {
			if err := c.keyed(ctx, h, entry, vars); err != nil {
				return err
			}
		}
	}
	return nil
}

func get[T value.Value](d *value.Dict, key string) (T, bool) {
	v, _ := d.Get(key)
	t, ok := v.(T)
	return t, ok
}

// seen returns what the host's templates see.
func (c *constructed) seen(h *Host) (*value.Dict, error) {
	vars, err := c.vars.soFar(h, c.sources)
	if err == nil && c.facts != nil {
		c.tree.merge.combine(vars, c.facts(h.Name))
	}
	return vars, err
}

// eval renders an expression.
func (c *constructed) eval(ctx context.Context, expr value.Value, vars *value.Dict) (value.Value, error) {
	if c.extra != nil {
		vars = vars.Copy()
		c.tree.merge.combine(vars, c.extra)
	}
	return c.templates.of(vars).Template(ctx, value.SourceText("{{"+value.Printed(expr)+"}}"))
}

func (c *constructed) compose(ctx context.Context, h *Host, compose, vars *value.Dict) error {
	for i := range compose.Len() {
		k, expr := compose.At(i)
		v, err := c.eval(ctx, expr, vars)
		if err != nil {
			if c.strict {
				return failf("Could not set %s for host %s: %s", value.Printed(k), h.Name, err)
			}
			continue
		}
		if err := c.tree.setVariable(h.Name, value.Printed(k), v); err != nil {
			return err
		}
	}
	return nil
}

func (c *constructed) groups(ctx context.Context, h *Host, groups, vars *value.Dict) error {
	for i := range groups.Len() {
		k, cond := groups.At(i)
		name := sanitize(value.Printed(k))
		text := "{% if " + value.Printed(cond) + " %} True {% else %} False {% endif %}"
		v, err := c.templates.of(vars).Template(ctx, value.SourceText(text))
		if err != nil {
			if c.strict {
				return failf("Could not add host %s to group %s: %s", h.Name, name, err)
			}
			continue
		}
		if !value.SaysYes(v) {
			continue
		}
		g, err := c.tree.addGroup(name)
		if err != nil {
			return err
		}
		g.addHost(h)
	}
	return nil
}
