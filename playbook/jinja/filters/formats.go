package filters

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"hark/modules/py/datetime"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/pyyaml"
)

// ansibleFormats are Ansible's filters that read and write YAML and readable JSON.
func ansibleFormats() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"to_yaml":       toYAML,
		"to_nice_yaml":  toNiceYAML,
		"from_yaml":     fromYAML,
		"from_yaml_all": fromYAMLAll,
		"type_debug":    typeDebug,
	}
}

// dumpOptions reads the keyword arguments of yaml.dump.
func dumpOptions(o *pyyaml.DumpOptions, kw []jinja.Kwarg) error {
	for _, k := range kw {
		var err error
		switch k.Name {
		case "indent":
			o.Indent, err = optional(k.V)
		case "width":
			o.Width, err = optional(k.V)
		case "allow_unicode":
			err = value.TypeErrorf("yaml.dump() got multiple values for keyword argument '%s'", k.Name)
		case "default_flow_style":
			o.Flow = pyyaml.FlowLeaves
			if !value.IsNone(k.V) {
				var on bool
				on, err = value.Truth(k.V)
				o.Flow = map[bool]pyyaml.Flow{true: pyyaml.FlowAlways, false: pyyaml.FlowNever}[on]
			}
		case "sort_keys":
			var on bool
			on, err = value.Truth(k.V)
			o.Unsorted = !on
		case "explicit_start":
			o.Start, err = value.Truth(k.V)
		case "explicit_end":
			o.End, err = value.Truth(k.V)
		case "default_style":
			if s, ok := value.Text(k.V); ok && s != "" {
				o.Style = s[0]
			}
		case "line_break", "encoding", "version", "tags", "canonical":
			// they do not change what a template can see of a text
		default:
			err = value.TypeErrorf("dump_all() got an unexpected keyword argument '%s'", k.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func optional(v value.Value) (int, error) {
	if value.IsNone(v) {
		return 0, nil
	}
	return intArg(v)
}

// dump prints YAML for the filter fn, which puts its name before every error.
func dump(fn string, in value.Value, o pyyaml.DumpOptions, kw []jinja.Kwarg) (value.Value, error) {
	err := dumpOptions(&o, kw)
	if err == nil {
		var s string
		if s, err = pyyaml.Dump(in, o); err == nil {
			return value.NativeStr(s), nil
		}
	}
	return nil, value.FilterErrorf("%s - %s. %s", fn, err, err)
}

func toYAML(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return dump("to_yaml", in, pyyaml.DumpOptions{Unicode: true, Flow: pyyaml.FlowLeaves}, args.Kw)
}

func toNiceYAML(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, rest, err := bindSome(args, "to_nice_yaml", value.Opt("indent", value.Int(4)))
	if err != nil {
		return nil, err
	}
	kw := append([]jinja.Kwarg{{Name: "indent", V: a[0]}}, rest...)
	return dump("to_nice_yaml", in, pyyaml.DumpOptions{Unicode: true}, kw)
}

func textKind(v value.Value) value.Kind {
	if value.IsUnsafe(v) {
		return value.KindUnsafe
	}
	return value.KindStr
}

func fromYAML(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, ok := value.Text(in)
	if !ok {
		if u, undefined := in.(*value.Undefined); undefined {
			return nil, u.Use()
		}
		return in, nil
	}
	n, err := pyyaml.Load([]byte(s), pyyaml.Options{Text: textKind(in), Time: datetime.Printed})
	if err != nil {
		return nil, yamlError(err)
	}
	return n.Value, nil
}

func fromYAMLAll(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, ok := value.Text(in)
	if !ok {
		return in, nil
	}
	nodes, err := pyyaml.LoadAll([]byte(s), pyyaml.Options{Text: textKind(in), Time: datetime.Printed})
	if err != nil {
		return nil, yamlError(err)
	}
	var out []value.Value
	for _, n := range nodes {
		out = append(out, n.Value)
	}
	return list(out), nil
}

// yamlError words what is wrong with text as PyYAML does.
func yamlError(err error) error {
	var bad *pyyaml.Error
	if !errors.As(err, &bad) || bad.Mark == (pyyaml.Mark{}) {
		return err
	}
	text := ""
	if bad.Context != "" {
		text = bad.Context + "\n"
		if bad.ContextMark != bad.Mark {
			text += placed(bad.ContextMark) + "\n"
		}
	}
	problem := bad.Problem
	if strings.HasPrefix(problem, "found unacceptable key") { // so Ansible's own loader says
		problem = "found unhashable key"
	}
	return value.Errorf(cmp.Or(bad.Class, "ConstructorError"), "%s%s\n%s", text, problem, placed(bad.Mark))
}

func placed(m pyyaml.Mark) string {
	return fmt.Sprintf("  in \"<unicode string>\", line %d, column %d", m.Line, m.Column)
}

func typeDebug(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	return value.Str(in.Type()), nil
}
