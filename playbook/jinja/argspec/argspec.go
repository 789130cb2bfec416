// Package argspec checks and converts the arguments of filters of collections as those of modules are: the plug-ins
// of ansible.utils do so.
package argspec

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/netaddr"
)

// Option is an argument of a filter.
type Option struct {
	Name string
	// Kind is str, int, bool, list (of texts), items (a list of anything), dict or raw.
	Kind string
	// Required is an option that must be given.
	Required bool
	// Default is nil for an option that is None when it is not given.
	Default value.Value
	// Choices are all that may be given; nil for anything.
	Choices []string
}

// Bind returns the value of each option; the first is what is filtered. Positional arguments beyond the last are
// ignored.
func Bind(in value.Value, args *value.Args, options ...Option) ([]value.Value, error) {
	out := make([]value.Value, len(options))
	for i, v := range append([]value.Value{in}, args.Pos...) {
		if i < len(out) {
			out[i] = v
		}
	}
	unknown := bindNamed(out, args, options)
	problems := missing(out, options)
	for i, o := range options {
		v, err := o.value(out[i])
		if _, refused := err.(*refusal); refused {
			problems = append(problems, err.Error())
		} else if err != nil {
			return nil, err
		}
		out[i] = v
	}
	if len(unknown) > 0 {
		problems = append(problems, unknownOptions(unknown, options))
	}
	if len(problems) > 0 {
		return nil, invalid(problems)
	}
	return out, nil
}

// bindNamed sets the options that are given by name, and gives the names of those that are not there.
func bindNamed(out []value.Value, args *value.Args, options []Option) (unknown []string) {
	for _, k := range args.Kw {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == k.Name })
		if i < 0 {
			unknown = append(unknown, k.Name)
			continue
		}
		out[i] = k.V
	}
	return unknown
}

// missing returns the problem of options that must be given and are not.
func missing(out []value.Value, options []Option) []string {
	var names []string
	for i, o := range options {
		if o.Required && out[i] == nil {
			names = append(names, o.Name)
		}
	}
	if names == nil {
		return nil
	}
	sort.Strings(names)
	return []string{"missing required arguments: " + strings.Join(names, ", ")}
}

// value returns the value of an option, of what was given for it; nil for nothing. A *refusal is a problem with it.
func (o Option) value(given value.Value) (value.Value, error) {
	switch {
	case given == nil && o.Default != nil:
		return o.Default, nil
	case given == nil:
		return value.None{}, nil
	}
	v, err := convert(given, o.Kind)
	if r, refused := err.(*refusal); refused {
		r.text = fmt.Sprintf("argument '%s' is of type %s and we were unable to convert to %s: %s", o.Name,
			value.ClassOf(given).Str(), o.typeName(), r.text)
	}
	if err != nil {
		return nil, err
	}
	return v, o.check(v)
}

// check refuses what is not among the choices.
func (o Option) check(v value.Value) error {
	s, err := value.ToStr(v)
	if o.Choices == nil || err != nil || slices.Contains(o.Choices, s) {
		return err
	}
	return &refusal{dialect.NoSuchChoice.Text(o.Name, strings.Join(o.Choices, ", "), s)}
}

// invalid is the error of arguments: Ansible prints a list of what is wrong.
func invalid(problems []string) error {
	var all []string
	for _, p := range problems {
		all = append(all, value.ReprText(p))
	}
	return value.FilterErrorf("[%s]", strings.Join(all, ", "))
}

func unknownOptions(unknown []string, options []Option) string {
	var names []string
	for _, o := range options {
		names = append(names, o.Name)
	}
	sort.Strings(names)
	sort.Strings(unknown)
	return strings.Join(unknown, ", ") + dialect.SupportedOptions.Text(strings.Join(names, ", ")+".")
}

// refusal says that a value cannot be converted.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// Text returns a value converted to text, as an option of kind str is.
func Text(v value.Value) (string, error) {
	got, err := convert(v, "str")
	if err != nil {
		return "", err
	}
	s, _ := value.Text(got)
	return s, nil
}

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
		return value.Str(s), err
	case "int":
		return toInt(v)
	case "bool":
		return toBool(v)
	case "dict":
		if value.IsMapping(v) {
			return v, nil
		}
		return nil, &refusal{value.ClassOf(v).Str() + " cannot be converted to a dict"}
	}
	return toList(v, kind == "list")
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
	return nil, &refusal{value.ClassOf(v).Str() + " cannot be converted to an int"}
}

func toBool(v value.Value) (value.Value, error) {
	if b, ok := value.AsBool(v); ok {
		return value.Bool(b), nil
	}
	s, err := value.ToStr(v)
	if err != nil {
		return nil, err
	}
	return nil, &refusal{fmt.Sprintf("The value '%s' is not a valid boolean.", s)}
}

// toList returns a list, of texts if these are wanted.
func toList(v value.Value, texts bool) (value.Value, error) {
	items, isList := value.Items(v)
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
		return nil, &refusal{value.ClassOf(v).Str() + " cannot be converted to a list"}
	}
	if !texts {
		return &value.List{Items: items}, nil
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

// typeName returns the kind as Ansible names it.
func (o Option) typeName() string {
	if o.Kind == "items" {
		return "list"
	}
	return o.Kind
}
