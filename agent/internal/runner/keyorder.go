package runner

import (
	"slices"

	"hark/modules"
	"hark/modules/py/value"
)

// keepOrder hands the arguments over as Objects whose order matters to the module.
func keepOrder(mod *modules.Module, args map[string]any, given *value.Dict) error {
	if len(mod.Ordered) == 0 {
		return nil
	}
	for i := range given.Len() {
		k, v := given.At(i)
		name, _ := value.Text(k)
		if _, ok := args[name]; !ok || mod.Ordered[0] != "*" && !slices.Contains(mod.Ordered, name) {
			continue
		}
		o, err := ordered(v)
		if err != nil {
			return err
		}
		args[name] = o
	}
	return nil
}

// ordered is ToGo with Objects for mappings.
func ordered(v value.Value) (any, error) {
	switch v := v.(type) {
	case *value.List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			x, err := ordered(item)
			if err != nil {
				return nil, err
			}
			list[i] = x
		}
		return list, nil
	case *value.Dict:
		o := make(modules.Object, v.Len())
		for i := range v.Len() {
			k, item := v.At(i)
			name, err := value.ToStr(k)
			if err != nil {
				return nil, err
			}
			x, err := ordered(item)
			if err != nil {
				return nil, err
			}
			o[i] = modules.Member{Key: name, Value: x}
		}
		return o, nil
	}
	return value.ToGo(v)
}
