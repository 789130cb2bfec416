package modules

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// Decoder returns a func that checks arguments against a separate argument struct and fills it: for stages that
// Ansible's actions check by themselves. name is the module as written. Make it once for a struct, which is read on
// first use.
func Decoder[A any](rules Rules) func(name string, args *value.Dict, r Reading) (A, error) {
	m := &Module{params: sync.OnceValue(paramsOf[A]), Rules: rules}
	return func(name string, args *value.Dict, r Reading) (a A, err error) {
		p, err := m.Parse(name, args, r)
		if err == nil {
			err = fill(m.Params(), p.Params, reflect.ValueOf(&a).Elem())
		}
		return a, err
	}
}

// CheckSpec checks arguments against a specification in the form of roles' meta/argument_specs.yml. It returns the
// messages of all errors.
func CheckSpec(spec, args *value.Dict, r Reading) []string {
	own := args.Copy()
	c := &checker{parsed: &Parsed{Params: own}, reading: r, text: "ansible.parsing.yaml.objects.AnsibleUnicode"}
	c.check(specParams(spec), Rules{}, own, nil)
	var out []string
	for _, err := range c.errs {
		out = append(out, err.Error())
	}
	if len(c.unsupported) > 0 {
		sort.Strings(c.unsupported)
		out = append(out, c.unsupportedText())
	}
	return out
}

// specParams reads a specification. It ignores what it does not know.
func specParams(spec *value.Dict) []Param {
	list := make([]Param, 0, spec.Len())
	for i := range spec.Len() {
		k, v := spec.At(i)
		attrs, _ := v.(*value.Dict)
		list = append(list, specParam(Str(k), attrs))
	}
	return list
}

func specParam(name string, attrs *value.Dict) Param {
	of := func(attr string) value.Value { return Argument(attrs, attr) }
	p := Param{Name: name, Type: "str", Aliases: textItems(of("aliases")), Choices: textItems(of("choices"))}
	if v := of("default"); !value.IsNone(v) {
		p.Default = v
	}
	if t, ok := value.Text(of("type")); ok {
		p.Type = t
	}
	p.Elements = attrs.Text("elements")
	p.Required = value.SaysYes(of("required"))
	p.NoLog = value.SaysYes(of("no_log"))
	if sub, ok := of("options").(*value.Dict); ok {
		p.Options = specParams(sub)
	}
	p.ApplyDefaults = value.SaysYes(of("apply_defaults"))
	p.Rules = Rules{
		Exclusive: groups(of("mutually_exclusive")), Together: groups(of("required_together")),
		OneOf: groups(of("required_one_of")), By: requiredBy(of("required_by")),
	}
	rules, _ := value.Items(of("required_if"))
	for _, rule := range rules {
		if r, ok := requiredIf(rule); ok {
			p.Rules.If = append(p.Rules.If, r)
		}
	}
	return p
}

func requiredIf(v value.Value) (RequiredIf, bool) {
	rule, _ := value.Items(v)
	if len(rule) < 3 {
		return RequiredIf{}, false
	}
	r := RequiredIf{Param: Str(rule[0]), Value: rule[1], Names: textItems(rule[2])}
	if len(rule) > 3 {
		r.Any = value.SaysYes(rule[3])
	}
	return r, true
}

func requiredBy(v value.Value) map[string][]string {
	d, _ := v.(*value.Dict)
	out := make(map[string][]string, d.Len())
	for i := range d.Len() {
		k, names := d.At(i)
		out[Str(k)] = textItems(names)
	}
	return out
}

// textItems returns the elements of a list, or one text.
func textItems(v value.Value) []string {
	if s, ok := value.Text(v); ok {
		return []string{s}
	}
	items, _ := value.Items(v)
	var out []string
	for _, x := range items {
		out = append(out, Str(x))
	}
	return out
}

// groups reads a list of lists of names, or one list of names.
func groups(v value.Value) [][]string {
	items, _ := value.Items(v)
	if len(items) == 0 {
		return nil
	}
	if _, nested := value.Items(items[0]); !nested {
		return [][]string{textItems(v)}
	}
	var out [][]string
	for _, x := range items {
		out = append(out, textItems(x))
	}
	return out
}

// typeName is TypeName with the class that texts have in this check.
func (c *checker) typeName(v value.Value) string {
	if value.IsText(v) && c.text != "" {
		return fmt.Sprintf("<class '%s'>", c.text)
	}
	return TypeName(v)
}

// kind returns the name of a value's type for messages.
func (c *checker) kind(v value.Value) string {
	if !c.reading.Release.Has(dialect.ModuleArguments) {
		return c.typeName(v)
	}
	return PlainTypeName(v)
}

// PlainTypeName is TypeName without what surrounds the name.
func PlainTypeName(v value.Value) string {
	return strings.TrimSuffix(strings.TrimPrefix(TypeName(v), "<class '"), "'>")
}
