package modules

import "hark/modules/py/value"

// SecretArguments returns what a task gives a module's no_log parameters, as it is written: it may hold templates.
// Those of sub-options are among them. Those that the Resolve stage removes are not: Ansible hides the content that
// copy writes nowhere.
func (m *Module) SecretArguments(args *value.Dict) []value.Value {
	return secretArguments(m.Params(), args)
}

func secretArguments(params []Param, args *value.Dict) []value.Value {
	var out []value.Value
	for i := range params {
		p := &params[i]
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			v, given := args.Get(name)
			if !given || p.Resolved {
				continue
			}
			if p.NoLog || p.NoLogIf != "" && value.SaysYes(Argument(args, p.NoLogIf)) {
				out = append(out, v)
			}
			items, isList := v.(*value.List)
			if !isList {
				items = value.NewList(v)
			}
			for _, item := range items.Items {
				if d, isDict := item.(*value.Dict); isDict && p.Options != nil {
					out = append(out, secretArguments(p.Options, d)...)
				}
			}
		}
	}
	return out
}

// SecretTexts returns the texts of a secret argument.
func SecretTexts(v value.Value) []string { return appendLeaves(nil, v) }
