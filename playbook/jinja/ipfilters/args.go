package ipfilters

import (
	"fmt"
	"sort"
	"strings"

	"hark/playbook/jinja"
	"hark/playbook/jinja/netaddr"
	"hark/playbook/jinja/value"
)

// option is an argument of a filter, checked and converted as the arguments of modules are.
type option struct {
	name string
	kind string // str, int, list or raw
	def  value.Value
}

// bind gives the value of each option; the first is what is filtered. Positional arguments beyond the last are ignored.
func bind(in value.Value, args *jinja.Args, options ...option) ([]value.Value, error) {
	out := make([]value.Value, len(options))
	for i, v := range append([]value.Value{in}, args.Pos...) {
		if i < len(out) {
			out[i] = v
		}
	}
	var unknown []string
	for _, k := range args.Kw {
		known := false
		for i, o := range options {
			if o.name == k.Name {
				out[i], known = k.V, true
			}
		}
		if !known {
			unknown = append(unknown, k.Name)
		}
	}
	if len(unknown) > 0 {
		return nil, invalid(unknownOptions(unknown, options))
	}
	for i, o := range options {
		if out[i] == nil {
			out[i] = none
			if o.def != nil {
				out[i] = o.def
			}
			continue
		}
		v, err := convert(out[i], o.kind)
		if _, refused := err.(*refusal); refused {
			err = invalid(fmt.Sprintf("argument '%s' is of type %s and we were unable to convert to %s: %s", o.name, class(out[i]), o.kind, err))
		}
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// invalid is the error of arguments: Ansible prints a list of what is wrong.
func invalid(problem string) error { return value.FilterErrorf("[%s]", value.ReprText(problem)) }

func unknownOptions(unknown []string, options []option) string {
	var names []string
	for _, o := range options {
		names = append(names, o.name)
	}
	sort.Strings(names)
	sort.Strings(unknown)
	return strings.Join(unknown, ", ") + ". Supported parameters include: " + strings.Join(names, ", ") + "."
}

func class(v value.Value) string {
	if _, undefined := v.(*value.Undefined); undefined {
		return "<class 'ansible.template.native_helpers.AnsibleUndefined'>"
	}
	return value.ClassOf(v).Str()
}

// refusal says that a value cannot be converted.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func convert(v value.Value, kind string) (value.Value, error) {
	if value.IsNone(v) || kind == "raw" {
		return v, nil
	}
	switch kind {
	case "str":
		if value.IsText(v) {
			return v, nil
		}
		s, err := value.ToStr(v)
		return text(s), err
	case "int":
		return toInt(v)
	}
	return toList(v)
}

func toInt(v value.Value) (value.Value, error) {
	if n := value.AsBig(v); n != nil {
		return v, nil
	}
	if s, ok := value.Text(v); ok {
		if n, ok := netaddr.PythonInt(s); ok {
			return value.NewInt(n), nil
		}
	}
	return nil, &refusal{class(v) + " cannot be converted to an int"}
}

// toList gives a list of texts.
func toList(v value.Value) (value.Value, error) {
	items, isList := elements(v)
	s, isText := value.Text(v)
	_, isFloat := v.(value.Float)
	switch {
	case isText:
		for _, part := range strings.Split(s, ",") {
			items = append(items, value.TextLike(v, part))
		}
	case isFloat || value.AsBig(v) != nil:
		items = []value.Value{v}
	case !isList:
		return nil, &refusal{class(v) + " cannot be converted to a list"}
	}
	out := value.NewList()
	for _, item := range items {
		converted, err := convert(item, "str")
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, converted)
	}
	return out, nil
}
