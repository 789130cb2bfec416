package filters

import (
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// selecting returns the filters that apply others to the elements of a sequence.
func selecting() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"map":        mapFilter,
		"select":     selectFilter(true, false),
		"reject":     selectFilter(false, false),
		"selectattr": selectFilter(true, true),
		"rejectattr": selectFilter(false, true),
		"default":    defaultFilter,
		"d":          defaultFilter,
		"attr":       attrFilter,
	}
}

func defaultFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_default", value.Opt("default_value", value.Str("")), value.Opt("boolean", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	if _, ok := in.(*value.Undefined); ok {
		return a[0], nil
	}
	falsy, err := value.Truth(a[1])
	if err != nil || !falsy {
		return in, err
	}
	ok, err := value.Truth(in)
	if err != nil || ok {
		return in, err
	}
	return a[0], nil
}

func attrFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_attr", value.Req("name"))
	if err != nil {
		return nil, err
	}
	if err := value.Hashable(a[0]); err != nil {
		return nil, err
	}
	name, isText := value.Text(a[0])
	if !isText {
		if err := defined(a[0]); err != nil {
			return nil, err
		}
		return nil, value.TypeErrorf("attribute name must be string, not '%s'", value.NativeType(a[0]))
	}
	v, ok, err := jinja.Attribute(in, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return value.UndefinedAttr(in, value.Str(name)), nil
	}
	return v, nil
}

// getter looks an attribute path such as a.b.0 up, as the attribute arguments of filters do.
type getter struct {
	parts []value.Value
	def   value.Value
}

// newGetter reads an attribute argument: text with dots, or an int.
func newGetter(attribute, def value.Value) getter {
	g := getter{def: def}
	if value.IsNone(attribute) {
		return g
	}
	s, ok := value.Text(attribute)
	if !ok {
		g.parts = []value.Value{attribute}
		return g
	}
	for _, part := range strings.Split(s, ".") {
		if i, err := strconv.ParseInt(part, 10, 64); err == nil && i >= 0 && !strings.HasPrefix(part, "+") {
			g.parts = append(g.parts, value.Int(i))
			continue
		}
		g.parts = append(g.parts, value.Str(part))
	}
	return g
}

func (g getter) get(v value.Value) (value.Value, error) {
	for _, part := range g.parts {
		item, err := jinja.GetItem(v, part)
		if err != nil {
			return nil, err
		}
		if _, undefined := item.(*value.Undefined); undefined && g.def != nil && !value.IsNone(g.def) {
			item = g.def
		}
		v = item
	}
	return v, nil
}

func mapFilter(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if any, err := value.Truth(in); err != nil || !any {
		return list(nil), err
	}
	apply, err := mapper(c, args)
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(items))
	for i, item := range items {
		if out[i], err = apply(item); err != nil {
			return nil, err
		}
	}
	return list(out), nil
}

func mapper(c *jinja.Call, args *jinja.Args) (func(value.Value) (value.Value, error), error) {
	attribute, ok := args.KwOf("attribute")
	if len(args.Pos) == 0 && ok {
		def := value.Value(none)
		for _, k := range args.Kw {
			switch k.Name {
			case "attribute":
			case "default":
				def = k.V
			default:
				return nil, filterArgError("Unexpected keyword argument %s", value.ReprText(k.Name))
			}
		}
		return newGetter(attribute, def).get, nil
	}
	if len(args.Pos) == 0 {
		return nil, filterArgError("map requires a filter argument")
	}
	name, err := pluginName(args.Pos[0])
	if err != nil {
		return nil, err
	}
	rest := &jinja.Args{Pos: args.Pos[1:], Kw: args.Kw}
	return func(v value.Value) (value.Value, error) { return c.Filter(name, v, rest) }, nil
}

// pluginName returns the name of a filter or test that is given as an argument.
func pluginName(v value.Value) (string, error) {
	s, ok := value.Text(v)
	if !ok {
		return "", value.ValueErrorf("key must be a string, got %s instead", value.ClassOf(v).Str())
	}
	return s, nil
}

func filterArgError(format string, args ...any) error {
	return value.Errorf("FilterArgumentError", format, args...)
}

// selectFilter keeps the elements for which a test is want. With attr it tests an attribute of them.
func selectFilter(want, attr bool) jinja.Filter {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		if any, err := value.Truth(in); err != nil || !any {
			return list(nil), err
		}
		pos := args.Pos
		var g getter
		if attr {
			if len(pos) == 0 {
				return nil, filterArgError("Missing parameter for attribute name")
			}
			g = newGetter(pos[0], none)
			pos = pos[1:]
		}
		test, err := tester(c, pos, args.Kw)
		if err != nil {
			return nil, err
		}
		items, err := value.Elements(in)
		if err != nil {
			return nil, err
		}
		out := []value.Value{}
		for _, item := range items {
			v, err := g.get(item)
			if err != nil {
				return nil, err
			}
			ok, err := test(v)
			if err != nil {
				return nil, err
			}
			if ok == want {
				out = append(out, item)
			}
		}
		return list(out), nil
	}
}

func tester(c *jinja.Call, pos []value.Value, kw []jinja.Kwarg) (func(value.Value) (bool, error), error) {
	if len(pos) == 0 {
		return value.Truth, nil
	}
	name, err := pluginName(pos[0])
	if err != nil {
		return nil, err
	}
	rest := &jinja.Args{Pos: pos[1:], Kw: kw}
	return func(v value.Value) (bool, error) { return c.Test(name, v, rest) }, nil
}
