package filters

import (
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Tagged returns the filters that do something else in the language of ansible-core 2.19, by name.
func Tagged() map[string]jinja.Filter {
	have := map[string]jinja.Filter{
		"type_debug": plainTypeDebug, "human_to_bytes": exactBytes, "mandatory": taggedMandatory, "bool": taggedBool,
		"default": strictDefault, "d": strictDefault,
	}
	return named(dialect.Filters(), func(row *dialect.Plugin) (jinja.Filter, bool) {
		f := have[row.Name]
		return f, f != nil && row.Collection == ""
	})
}

func plainTypeDebug(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	return value.Str(value.PlainType(in)), nil
}

// taggedBool always gives a bool.
func taggedBool(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("to_bool"); err != nil {
		return nil, err
	}
	if b, ok := value.AsBool(in); ok {
		return value.Bool(b), nil
	}
	one := value.Same(in, value.Int(1))
	if d, ok := c.Scope.(interface{ Deprecate(msg string) }); ok && !one && !value.Same(in, value.Int(0)) {
		d.Deprecate("The `bool` filter coerced invalid value " + value.PrintedRepr(in) + " (" + value.PlainType(in) +
			") to False.")
	}
	return value.Bool(one), nil
}

// strictDefault takes nothing but bools as its second argument.
func strictDefault(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("ansible_default", value.Opt("default_value", value.Str("")),
		value.Opt("boolean", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	boolean, ok := a[1].(value.Bool)
	if !ok {
		return nil, value.TypeErrorf("The 'boolean' argument must be of type 'bool', not %s.",
			value.ReprText(value.PlainType(a[1])))
	}
	if _, undefined := in.(*value.Undefined); undefined || bool(boolean) && value.Falsy(in) {
		return a[0], nil
	}
	return in, nil
}

// taggedMandatory is mandatory with another word.
func taggedMandatory(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	v, err := mandatory(c, in, args)
	if u, undefined := in.(*value.Undefined); err != nil && undefined && u.Name != "" {
		if plain := "Mandatory variable " + value.ReprText(u.Name) + "  not defined."; err.Error() == plain {
			return nil, value.FilterErrorf("Mandatory variable %s not defined.", value.ReprText(u.Name))
		}
	}
	return v, err
}
