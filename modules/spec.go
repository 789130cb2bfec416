package modules

import (
	"fmt"
	"hark/modules/py/value"
	"reflect"
	"sort"
)

// Decode checks arguments against an argument struct of its own and fills it: for stages that Ansible's actions check
// by themselves. name is the module as written.
func Decode[A any](name string, args map[string]any, rules Rules) (A, error) {
	var a A
	m := &Module{Name: name, params: paramsOf[A], Rules: rules}
	p, err := m.Parse(name, args, nil)
	if err == nil {
		err = fill(m.Params(), p.Params, reflect.ValueOf(&a).Elem())
	}
	return a, err
}

// CheckSpec checks arguments against a specification as roles have it in meta/argument_specs.yml. It gives the messages of
// all that is wrong.
func CheckSpec(spec, args map[string]any) []string {
	own := make(map[string]any, len(args))
	for k, v := range args {
		own[k] = v
	}
	c := &checker{parsed: &Parsed{Params: own}, text: "ansible.parsing.yaml.objects.AnsibleUnicode"}
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

// specParams reads a specification. What is unknown in it does not matter; the order of a mapping is lost on the way, so
// parameters are checked by name.
func specParams(spec map[string]any) []Param {
	names := make([]string, 0, len(spec))
	for name := range spec {
		names = append(names, name)
	}
	sort.Strings(names)
	list := make([]Param, 0, len(names))
	for _, name := range names {
		attrs, _ := spec[name].(map[string]any)
		list = append(list, specParam(name, attrs))
	}
	return list
}

func specParam(name string, attrs map[string]any) Param {
	p := Param{Name: name, Type: "str", Default: attrs["default"], Aliases: texts(attrs["aliases"]), Choices: texts(attrs["choices"])}
	if t, ok := attrs["type"].(string); ok {
		p.Type = t
	}
	p.Elements, _ = attrs["elements"].(string)
	p.Required = saysYes(attrs["required"])
	p.NoLog = saysYes(attrs["no_log"])
	if sub, ok := attrs["options"].(map[string]any); ok {
		p.Options = specParams(sub)
	}
	p.ApplyDefaults = saysYes(attrs["apply_defaults"])
	p.Rules = Rules{
		Exclusive: groups(attrs["mutually_exclusive"]), Together: groups(attrs["required_together"]),
		OneOf: groups(attrs["required_one_of"]), By: requiredBy(attrs["required_by"]),
	}
	for _, rule := range anySlice(attrs["required_if"]) {
		if r, ok := requiredIf(anySlice(rule)); ok {
			p.Rules.If = append(p.Rules.If, r)
		}
	}
	return p
}

func requiredIf(rule []any) (RequiredIf, bool) {
	if len(rule) < 3 {
		return RequiredIf{}, false
	}
	r := RequiredIf{Param: Str(rule[0]), Value: rule[1], Names: texts(rule[2])}
	if len(rule) > 3 {
		r.Any = saysYes(rule[3])
	}
	return r, true
}

func requiredBy(v any) map[string][]string {
	m, _ := v.(map[string]any)
	out := make(map[string][]string, len(m))
	for k, names := range m {
		out[k] = texts(names)
	}
	return out
}

func saysYes(v any) bool { return value.SaysYes(plainly(v)) }

func anySlice(v any) []any {
	list, _ := v.([]any)
	return list
}

// texts are the elements of a list, or one text.
func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	var out []string
	for _, x := range anySlice(v) {
		out = append(out, Str(x))
	}
	return out
}

// groups reads a list of lists of names, or one list of names.
func groups(v any) [][]string {
	list := anySlice(v)
	if len(list) == 0 {
		return nil
	}
	if _, nested := list[0].([]any); !nested {
		return [][]string{texts(v)}
	}
	var out [][]string
	for _, x := range list {
		out = append(out, texts(x))
	}
	return out
}

// typeName is TypeName with the class that texts have in this check.
func (c *checker) typeName(v any) string {
	if _, ok := v.(string); ok && c.text != "" {
		return fmt.Sprintf("<class '%s'>", c.text)
	}
	return TypeName(v)
}
