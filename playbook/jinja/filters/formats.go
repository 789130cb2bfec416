package filters

import (
	"strings"

	"hark/playbook/jinja"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/value"
)

// ansibleFormats are Ansible's filters that read and write YAML and readable JSON.
func ansibleFormats() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"to_yaml":       toYAML,
		"to_nice_yaml":  toNiceYAML,
		"from_yaml":     fromYAML,
		"from_yaml_all": fromYAMLAll,
		"to_nice_json":  toNiceJSON,
		"type_debug":    typeDebug,
	}
}

// dumpOptions reads the keyword arguments of yaml.dump.
func dumpOptions(o *pyyaml.DumpOptions, args *jinja.Args) error {
	for _, k := range args.Kw {
		var err error
		switch k.Name {
		case "indent":
			o.Indent, err = optional(k.V)
		case "width":
			o.Width, err = optional(k.V)
		case "default_flow_style":
			o.Flow = pyyaml.FlowLeaves
			if !value.IsNone(k.V) {
				var on bool
				on, err = value.Truth(k.V)
				o.Flow = map[bool]pyyaml.Flow{true: pyyaml.FlowAlways, false: pyyaml.FlowNever}[on]
			}
		case "allow_unicode":
			o.Unicode, err = value.Truth(k.V)
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

func dump(in value.Value, o pyyaml.DumpOptions, args *jinja.Args) (value.Value, error) {
	if err := dumpOptions(&o, args); err != nil {
		return nil, err
	}
	s, err := pyyaml.Dump(in, o)
	if err != nil {
		return nil, err
	}
	return value.NativeStr(s), nil
}

func toYAML(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	o := pyyaml.DumpOptions{Unicode: true, Flow: pyyaml.FlowLeaves}
	if len(args.Pos) > 0 {
		args = &jinja.Args{Kw: append([]jinja.Kwarg{{Name: "default_flow_style", V: args.Pos[0]}}, args.Kw...)}
	}
	return dump(in, o, args)
}

func toNiceYAML(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	o := pyyaml.DumpOptions{Unicode: true, Indent: 4}
	if len(args.Pos) > 0 {
		args = &jinja.Args{Kw: append([]jinja.Kwarg{{Name: "indent", V: args.Pos[0]}}, args.Kw...)}
	}
	return dump(in, o, args)
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
	n, err := pyyaml.Load([]byte(s), pyyaml.Options{Text: textKind(in)})
	if err != nil {
		return nil, err
	}
	return n.Value, nil
}

func fromYAMLAll(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, ok := value.Text(in)
	if !ok {
		return in, nil
	}
	nodes, err := pyyaml.LoadAll([]byte(s), pyyaml.Options{Text: textKind(in)})
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for _, n := range nodes {
		out = append(out, n.Value)
	}
	return list(out), nil
}

func toNiceJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	w := jsonWriter{item: ",", colon: ": ", ascii: true, sorted: true, indent: strings.Repeat(" ", 4)}
	for i, v := range args.Pos {
		if i < 2 {
			args = &jinja.Args{Pos: args.Pos, Kw: append(args.Kw, jinja.Kwarg{Name: []string{"indent", "sort_keys"}[i], V: v})}
		}
	}
	for _, k := range args.Kw {
		if err := w.option(k); err != nil {
			return nil, err
		}
	}
	if err := w.write(in, 0); err != nil {
		return nil, err
	}
	return value.NativeStr(w.b.String()), nil
}

func typeDebug(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	return value.Str(in.Type()), nil
}
