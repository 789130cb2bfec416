package lookups

import (
	"context"

	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

func vars(c *jinja.Call, terms []value.Value, kw *value.Dict) ([]value.Value, error) {
	def, hasDefault := kw.Get("default")
	out := []value.Value{}
	for _, t := range terms {
		name, ok := value.Text(t)
		if !ok {
			return nil, failf("Invalid setting identifier, \"%s\" is not a string, its a %s", value.PrintedRepr(t), class(t))
		}
		v, found, err := c.Scope.Var(c.Ctx, name)
		if err != nil {
			return nil, err
		}
		if u, undefined := v.(*value.Undefined); undefined {
			if !hasDefault {
				return nil, u.Use()
			}
			found = false
		}
		switch {
		case found:
			out = append(out, v)
		case hasDefault:
			out = append(out, def)
		default:
			return nil, &value.UndefinedError{Msg: "No variable found with this name: " + name, Undefined: &value.Undefined{
				Name: name, Msg: "No variable found with this name: " + name}}
		}
	}
	return out, nil
}

func class(v value.Value) string { return "<class '" + v.Type() + "'>" }

// namer is a scope that can list its variables.
type namer interface {
	Names(ctx context.Context) []string
}

func varNames(c *jinja.Call, terms []value.Value, _ *value.Dict) ([]value.Value, error) {
	scope, ok := c.Scope.(namer)
	if !ok {
		return nil, failf("No variables available to search")
	}
	names := scope.Names(c.Ctx)
	out := []value.Value{}
	for _, t := range terms {
		pattern, ok := value.Text(t)
		if !ok {
			return nil, failf("Invalid setting identifier, \"%s\" is not a string, it is a %s", value.PrintedRepr(t), class(t))
		}
		re, err := pyre.Compile(pattern, pyre.Options{})
		if err != nil {
			return nil, failf("Unable to use \"%s\" as a search parameter: %v", pattern, err)
		}
		for _, name := range names {
			found, err := re.Matches(name)
			if err != nil {
				return nil, err
			}
			if found {
				out = append(out, value.Str(name))
			}
		}
	}
	return out, nil
}
