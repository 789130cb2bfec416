package utils

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
)

// pathFilters returns the filters by short name.
func pathFilters() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"get_path":           getPath,
		"index_of":           indexOf,
		"keep_keys":          keepKeys,
		"param_list_compare": paramListCompare,
		"remove_keys":        removeKeys,
		"replace_keys":       replaceKeys,
		"to_paths":           toPaths,
	}
}

// wanted wraps a value in a list if a list is wanted.
func wanted(v, wantlist value.Value) value.Value {
	if wantlist == value.Bool(true) {
		return value.NewList(v)
	}
	return v
}

func toPaths(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "var", Kind: "raw"},
		argspec.Option{Name: "prepend", Kind: "str"},
		argspec.Option{Name: "wantlist", Kind: "bool"})
	if err != nil {
		return nil, err
	}
	v := a[0]
	if prepend, ok := value.Text(a[1]); ok && prepend != "" {
		d := value.NewDict()
		d.SetKey(a[1], v)
		v = d
	}
	out := value.NewDict()
	if err := paths(v, "", out); err != nil {
		return nil, err
	}
	return wanted(out, a[2]), nil
}

var plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`) })

// paths adds the leaves of v under their paths.
func paths(v value.Value, name string, out *value.Dict) error {
	if l, ok := v.(*value.List); ok && len(l.Items) > 0 {
		for i, item := range l.Items {
			if err := paths(item, name+"["+strconv.Itoa(i)+"]", out); err != nil {
				return err
			}
		}
		return nil
	}
	d, isDict := v.(*value.Dict)
	switch l, isList := v.(*value.List); {
	case isDict && d.Len() == 0, isList && len(l.Items) == 0:
		if name != "" {
			out.SetKey(text(name), v)
		}
		return nil
	case !isDict:
		out.SetKey(text(name), v)
		return nil
	}
	for i := range d.Len() {
		k, item := d.At(i)
		key, isText := value.Text(k)
		if !isText && name != "" {
			return value.TypeErrorf("expected string or bytes-like object, got '%s'", k.Type())
		}
		path := value.Printed(k)
		if name != "" {
			path = name + "['" + key + "']"
			if plainKey().MatchString(key) {
				path = name + "." + key
			}
		}
		if err := paths(item, path, out); err != nil {
			return err
		}
	}
	return nil
}

// layered is a dict of variables as a scope.
type layered struct {
	jinja.Scope
	vars *value.Dict
}

func getPath(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "var", Kind: "raw"},
		argspec.Option{Name: "path", Kind: "str", Required: true},
		argspec.Option{Name: "wantlist", Kind: "bool"})
	if err != nil {
		return nil, err
	}
	path, _ := value.Text(a[1])
	if !value.IsMapping(a[0]) {
		return nil, value.TypeErrorf("jinja2.nativetypes.NativeTemplate.render() argument after ** must be a mapping, not %s",
			a[0].Type())
	}
	vars, err := value.ToDict(a[0])
	if err != nil {
		return nil, err
	}
	t, err := jinja.Parse("{{ "+path+" }}", jinja.Options{Env: c.Env, Syntax: jinja.NewSyntax(), Concat: theOne})
	if err != nil {
		return nil, err
	}
	v, err := t.Eval(c.Ctx, layered{c.Scope, vars})
	if err != nil {
		return nil, err
	}
	return wanted(v, a[2]), nil
}

// theOne returns the result of a template that is one expression: what that gives. Numbers are text, as in Ansible's
// results.
func theOne(nodes []value.Value) (value.Value, error) {
	if len(nodes) == 0 {
		return text(""), nil
	}
	_, isFloat := nodes[0].(value.Float)
	_, isBool := nodes[0].(value.Bool)
	isNumber := isFloat || value.AsBig(nodes[0]) != nil && !isBool
	if len(nodes) == 1 && !isNumber && !value.IsNone(nodes[0]) {
		return nodes[0], nil
	}
	out := ""
	for _, n := range nodes {
		s, err := value.ToStr(n)
		if err != nil {
			return nil, err
		}
		out += s
	}
	return text(out), nil
}

func paramListCompare(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "base", Kind: "list"},
		argspec.Option{Name: "target", Kind: "list"})
	if err != nil {
		return nil, value.FilterErrorf("argspec validation failed for param_list_compare filter plugin with errors: %v", err)
	}
	base, target := printedItems(a[0]), printedItems(a[1])
	if value.IsNone(a[1]) {
		return nil, value.FilterErrorf("Missing either 'base' or 'other value in filter input,refer " +
			"'ansible.utils.param_list_compare' filter plugin documentation for details")
	}
	switch in.(type) {
	case value.Int, value.Float, value.Bool: // taken for a list of one when it is judged, but not when it is looked into
		if slices.ContainsFunc(target, func(name string) bool { return name != "all" && !strings.HasPrefix(name, "!") }) {
			return nil, value.TypeErrorf("argument of type '%s' is not iterable", in.Type())
		}
	}
	actionable, unsupported := compareLists(base, target)
	out := value.NewDict()
	out.SetKey(text("actionable"), actionable)
	out.SetKey(text("unsupported"), unsupported)
	return out, nil
}
