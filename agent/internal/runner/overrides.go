package runner

import (
	"context"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// override replaces settings of plug-ins by the host's variables where those take precedence. With origins each entry
// is a pair of a value and its origin. Variables stay as written: Ansible renders none of them here.
func (e *eval) override(ctx context.Context, settings value.Value, over []wire.Override,
	origins bool) (value.Value, error) {
	list, ok := settings.(*value.List)
	if !ok {
		return settings, nil
	}
	out := value.NewList(append([]value.Value(nil), list.Items...)...)
	for _, o := range over {
		if o.At < 0 || o.At >= len(out.Items) {
			continue
		}
		for _, name := range o.Names {
			v, ok, err := e.scope.Raw(ctx, name)
			if err != nil {
				return nil, err
			}
			if !ok || value.IsNone(v) {
				continue
			}
			v = value.Unsafe(v)
			if v, err = asSetting(v, o.Kind); err != nil {
				return nil, &fault{text: "Invalid type for configuration option " + name + ": " + err.Error()}
			}
			out.Items[o.At] = v
			if origins {
				out.Items[o.At] = value.NewList(v, value.Str("var: "+name))
			}
		}
	}
	return out, nil
}

// asSetting converts text to the type of a setting.
func asSetting(v value.Value, kind string) (value.Value, error) {
	if !value.IsText(v) {
		return v, nil
	}
	switch kind {
	case "int":
		n, err := intOf(v)
		return value.Int(n), err
	case "bool":
		b, err := value.StrictBool(v)
		return value.Bool(b), err
	}
	return v, nil
}
