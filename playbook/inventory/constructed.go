package inventory

import (
	"context"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// templar renders with the variables. Lookups are not for inventories, as in Ansible.
func (inv *Inventory) templar(variables *value.Dict) *templar.Templar {
	return inv.templarOf(templar.DictVars{Dict: variables})
}

func (inv *Inventory) templarOf(variables templar.Vars) *templar.Templar {
	if inv.o.Templates.Engine == nil {
		inv.o.Templates.Engine = templar.NewEngine()
	}
	o := inv.o.Templates
	o.Lookup = func(_ context.Context, name string, _ []value.Value, _ *value.Dict) (value.Value, error) {
		return nil, failf("The lookup `%s` was found, however lookups were disabled from templating", name)
	}
	return templar.New(variables, o)
}

// config reads the file of a plug-in.
func (inv *Inventory) config(path, plugin string) (*value.Dict, error) {
	v, err := inv.o.Loader.Value(path)
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
	inv    *Inventory
	strict bool
	extra  bool // use_extra_vars
	files  bool // use_vars_plugins
	lead   bool // leading_separator
	facts  func(host string) *value.Dict
}

// parseConstructed makes variables and groups of what the sources before it told.
func parseConstructed(ctx context.Context, inv *Inventory, path string) error {
	d, err := inv.config(path, "constructed")
	if err != nil {
		return err
	}
	c := newConstructed(inv, d)
	for _, h := range append([]*Host(nil), inv.hostList...) {
		if err := c.host(ctx, h, d); err != nil {
			return failf("failed to parse %s: %s . %s", path, err, err) // Ansible tells the reason twice
		}
	}
	return nil
}

func newConstructed(inv *Inventory, d *value.Dict) *constructed {
	flag := func(name string, def bool) bool {
		v, ok := d.Get(name)
		if !ok || value.IsNone(v) {
			return def
		}
		return value.SaysYes(v)
	}
	return &constructed{
		inv: inv, strict: flag("strict", false), extra: flag("use_extra_vars", inv.o.UseExtra), files: flag("use_vars_plugins", false),
		lead: flag("leading_separator", true), facts: inv.o.Facts,
	}
}

func (c *constructed) host(ctx context.Context, h *Host, d *value.Dict) error {
	vars, err := c.vars(h)
	if err != nil {
		return err
	}
	if compose, ok := get[*value.Dict](d, "compose"); ok {
		if err := c.compose(ctx, h, compose, vars); err != nil {
			return err
		}
	}
	if vars, err = c.vars(h); err != nil { // with what was composed
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

// vars are what the host's templates see: its variables so far, and the magic ones.
func (c *constructed) vars(h *Host) (*value.Dict, error) {
	inv := c.inv
	out := value.NewDict()
	for _, g := range sortedGroups(h.allGroups()) {
		inv.combine(out, g.vars)
	}
	if c.files {
		for _, dir := range c.dirs("group_vars") {
			if err := inv.lay(out, dir, AtTasks, groupNames(h.allGroups())...); err != nil {
				return nil, err
			}
		}
	}
	inv.combine(out, h.vars)
	if c.files {
		for _, dir := range c.dirs("host_vars") {
			if err := inv.lay(out, dir, AtTasks, h.Name); err != nil {
				return nil, err
			}
		}
	}
	inv.combine(out, vars.HostMagic(h.Name, h.groupNames(), h.File(), h.Dir()))
	if c.facts != nil {
		inv.combine(out, c.facts(h.Name))
	}
	return out, nil
}

// dirs are those beside the sources that are read already.
func (c *constructed) dirs(kind string) []*varsDir {
	var out []*varsDir
	for _, s := range c.inv.processed {
		if root, ok := varsRoot(s); ok {
			out = append(out, c.inv.varsDir(root, kind))
		}
	}
	return out
}

// eval renders an expression.
func (c *constructed) eval(ctx context.Context, expr value.Value, vars *value.Dict) (value.Value, error) {
	if c.extra && c.inv.o.Extra != nil {
		vars = vars.Copy()
		c.inv.combine(vars, c.inv.o.Extra)
	}
	return c.inv.templar(vars).Template(ctx, value.YAMLStr("{{"+value.Printed(expr)+"}}"))
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
		if err := c.inv.setVariable(h.Name, value.Printed(k), v); err != nil {
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
		v, err := c.inv.templar(vars).Template(ctx, value.YAMLStr(text))
		if err != nil {
			if c.strict {
				return failf("Could not add host %s to group %s: %s", h.Name, name, err)
			}
			continue
		}
		if !value.SaysYes(v) {
			continue
		}
		g, err := c.inv.addGroup(name)
		if err != nil {
			return err
		}
		g.addHost(h)
	}
	return nil
}
