package inventory

import (
	"context"

	"hark/modules/py/value"
)

// maxGenerated is how many hosts one generator file may make.
const maxGenerated = 1_000_000

// parseGenerator adds a host for every combination of the layers' words.
func parseGenerator(ctx context.Context, r *reading, path string) error {
	d, err := r.config(path, "generator")
	if err != nil {
		return err
	}
	layers, ok := get[*value.Dict](d, "layers")
	if !ok {
		return failf("'layers'")
	}
	hosts, ok := get[*value.Dict](d, "hosts")
	if !ok {
		return failf("'hosts'")
	}
	gen := generator{tree: r.tree, templates: r.templates(), hosts: hosts, layers: layers}
	return gen.layer(ctx, 0, value.NewDict())
}

type generator struct {
	tree          *tree
	templates     templates
	hosts, layers *value.Dict
	made          int
}

// layer goes through the words of layer i, with words of the layers before it chosen.
func (g *generator) layer(ctx context.Context, i int, chosen *value.Dict) error {
	if i == g.layers.Len() {
		return g.host(ctx, chosen)
	}
	name, words := g.layers.At(i)
	l, ok := words.(*value.List)
	if !ok {
		return failf("'%s' object is not iterable", words.Type())
	}
	for _, word := range l.Items {
		with := chosen.Copy()
		with.SetKey(name, word)
		if err := g.layer(ctx, i+1, with); err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) host(ctx context.Context, vars *value.Dict) error {
	if g.made++; g.made > maxGenerated {
		return failf("the layers give more than %d hosts", maxGenerated)
	}
	pattern, ok := g.hosts.Get("name")
	if !ok {
		return failf("'name'")
	}
	name, err := g.render(ctx, pattern, vars)
	if err != nil {
		return err
	}
	h, err := g.tree.addHost(name, nil, 0)
	if err != nil {
		return err
	}
	return g.parents(ctx, g.hosts, name, vars, func(p *Group) error { p.addHost(h); return nil })
}

func (g *generator) render(ctx context.Context, v value.Value, vars *value.Dict) (string, error) {
	return g.templates.of(vars).Text(ctx, v)
}

// parents creates the groups above a host or group; add puts that into one of them.
func (g *generator) parents(ctx context.Context, of *value.Dict, child string, vars *value.Dict,
	add func(*Group) error) error {
	list, ok := get[*value.List](of, "parents")
	if !ok {
		return nil
	}
	for _, item := range list.Items {
		d, isDict := item.(*value.Dict)
		var pattern value.Value
		if isDict {
			pattern, _ = d.Get("name")
		}
		if pattern == nil {
			return failf("Element %s has a parent with no name element", child)
		}
		name, err := g.render(ctx, pattern, vars)
		if err != nil {
			return err
		}
		p, err := g.tree.addGroup(name)
		if err != nil {
			return err
		}
		if err := g.setVars(ctx, p, d, vars); err != nil {
			return err
		}
		if err := add(p); err != nil {
			return err
		}
		below := func(above *Group) error { return g.tree.addChild(above, p) }
		if err := g.parents(ctx, d, p.Name, vars, below); err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) setVars(ctx context.Context, p *Group, d, vars *value.Dict) error {
	own, ok := get[*value.Dict](d, "vars")
	if !ok {
		return nil
	}
	for i := range own.Len() {
		k, v := own.At(i)
		text, err := g.render(ctx, v, vars)
		if err != nil {
			return err
		}
		if err := p.set(value.Printed(k), value.Str(text), g.tree.merge); err != nil {
			return err
		}
	}
	return nil
}
