package roles

import (
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// Meta is what meta/main.yml says of a role. A role without it has the zero Meta.
type Meta struct {
	AllowDuplicates bool
	Dependencies    []*syntax.RoleEntry
	// Collections are searched for the short names of the role's tasks.
	Collections []string
	// All is the whole file.
	All *value.Dict
}

// ReadMeta reads a role's meta/main.yml. All that is wrong in it is reported together, with what could be read of it.
func ReadMeta(g *syntax.Grammar, f Found) (*Meta, error) {
	files, err := f.Files("meta", "", false)
	if err != nil || len(files) == 0 {
		return &Meta{}, err
	}
	n, err := g.Loader.Once(files[0])
	if err != nil {
		return &Meta{}, err
	}
	if empty(n.Value) {
		return &Meta{}, nil
	}
	d, ok := n.Value.(*value.Dict)
	if !ok {
		return &Meta{}, fail("the 'meta/main.yml' for role %s is not a dictionary", f.FullName())
	}
	m := &Meta{All: d}
	var errs []error
	at := syntax.Place{File: files[0], Line: n.Mark.Line, Column: n.Mark.Column}
	for i, key := range n.Keys {
		name, _ := value.Text(key.Value)
		v := n.Vals[i]
		switch name {
		case "dependencies":
			m.Dependencies, err = dependencies(g, files[0], v, at)
			errs = append(errs, err)
		case "allow_duplicates":
			m.AllowDuplicates, err = value.Truth(v.Value)
			errs = append(errs, err)
		case "collections":
			m.Collections = textList(v.Value)
		default:
			if !metaKeyword(name) {
				errs = append(errs, g.Loader.Errorf(at, dialect.InvalidAttribute.Format, name, "RoleMetadata"))
			}
		}
	}
	return m, syntax.Join(errs...)
}

func dependencies(g *syntax.Grammar, file string, n *syntax.Node, at syntax.Place) ([]*syntax.RoleEntry, error) {
	if empty(n.Value) {
		return nil, nil
	}
	if _, ok := n.Value.(*value.List); !ok {
		return nil, g.Loader.Errorf(at, "Expected role dependencies to be a list.")
	}
	return g.Roles(file, n)
}

// metaKeyword reports whether meta/main.yml may hold a key. Keywords of plays are allowed there and mean nothing.
func metaKeyword(name string) bool {
	k, known := plan.KeywordNamed(name)
	return name == "galaxy_info" || name == "argument_specs" || known && k.On.Has(plan.OnMeta)
}

// textList returns a list of texts, or one text as a list.
func textList(v value.Value) []string {
	if s, ok := value.Text(v); ok {
		return []string{s}
	}
	l, ok := v.(*value.List)
	if !ok {
		return nil
	}
	var out []string
	for _, item := range l.Items {
		if s, ok := value.Text(item); ok {
			out = append(out, s)
		}
	}
	return out
}
