package inventory

import (
	"context"
	"errors"

	"hark/modules/py/value"
)

// Foreign are the inventory plug-ins that are not hark's own.
type Foreign interface {
	// Has reports whether there is a plug-in with the name.
	Has(ctx context.Context, name string) bool
	// Read returns what a plug-in makes of a source: the variables of each host under "hosts", and under "groups" the
	// "hosts", "children" and "vars" of each group. present is what earlier sources made, in the same shape. The error is
	// ErrNoPlugin, ErrDeclined or what is wrong with the source.
	Read(ctx context.Context, name, path string, present *value.Dict) (*value.Dict, error)
}

var (
	// ErrNoPlugin says that there is no plug-in with the name.
	ErrNoPlugin = errors.New("no such inventory plug-in")
	// ErrDeclined says that the plug-in does not read sources of this kind.
	ErrDeclined = errors.New("the inventory plug-in does not want this source")
)

// foreignPlugin returns the plug-in with a name among those that are not hark's own.
func foreignPlugin(name string) plugin {
	return plugin{moduleName(name), func(*reading, string) bool { return true },
		func(ctx context.Context, r *reading, path string) error {
			d, err := r.o.Foreign.Read(ctx, name, path, r.tree.present())
			if err != nil {
				return err
			}
			return r.tree.foreignData(d)
		}}
}

// present returns the inventory so far, for plug-ins that build on it.
func (t *tree) present() *value.Dict {
	hosts, groups := value.NewDict(), value.NewDict()
	for _, h := range t.hostList {
		hosts.Set(h.Name, varsOrNone(h.vars))
	}
	for _, g := range t.groupList {
		members, children := value.NewList(), value.NewList()
		for _, h := range g.hosts {
			members.Items = append(members.Items, h.variable())
		}
		for _, c := range g.children {
			children.Items = append(children.Items, c.variable())
		}
		d := value.NewDict()
		d.Set("hosts", members)
		d.Set("children", children)
		d.Set("vars", varsOrNone(g.vars))
		groups.Set(g.Name, d)
	}
	d := value.NewDict()
	d.Set("hosts", hosts)
	d.Set("groups", groups)
	return d
}

// varsOrNone returns an empty dictionary if there are no variables.
func varsOrNone(d *value.Dict) *value.Dict {
	if d == nil {
		return value.NewDict()
	}
	return d
}

// foreignData adds what a plug-in returned.
func (t *tree) foreignData(d *value.Dict) error {
	err := eachOf(d, "hosts", func(name string, vars value.Value) error {
		list, err := settings(vars)
		if err != nil {
			return err
		}
		return t.populate([]string{name}, list, nil, 0)
	})
	if err != nil {
		return err
	}
	return eachOf(d, "groups", func(name string, v value.Value) error {
		g, err := t.addGroup(name)
		if err != nil {
			return err
		}
		group, ok := v.(*value.Dict)
		if !ok {
			return failf("the group %s is no dictionary: %s", name, value.Printed(v))
		}
		if err := t.foreignHosts(g, group); err != nil {
			return err
		}
		return t.groupRest(g, group)
	})
}

func (t *tree) foreignHosts(g *Group, group *value.Dict) error {
	hosts, _ := group.Get("hosts")
	l, ok := value.OrNone(hosts).(*value.List)
	if !ok {
		return nil
	}
	for _, host := range l.Items {
		if _, err := t.addHost(value.Printed(host), g, 0); err != nil {
			return err
		}
	}
	return nil
}

// eachOf calls f with the entries of the dictionary that d has under a key.
func eachOf(d *value.Dict, key string, f func(name string, v value.Value) error) error {
	v, _ := d.Get(key)
	entries, ok := value.OrNone(v).(*value.Dict)
	if !ok {
		return nil
	}
	for i := range entries.Len() {
		k, item := entries.At(i)
		if err := f(value.Printed(k), item); err != nil {
			return err
		}
	}
	return nil
}
