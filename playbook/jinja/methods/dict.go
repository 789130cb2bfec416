package methods

import (
	"hark/modules/py/value"
)

func dictMethod(name string) Func {
	switch name {
	case "items", "keys", "values":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("dict."+name, 0)
			return &value.View{Dict: self.(*value.Dict), Kind: "dict_" + name}, err
		}
	case "get":
		return get
	case "update":
		return update
	case "setdefault":
		return setDefault
	case "pop":
		return dictPop
	case "popitem":
		return popItem
	case "copy":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("dict.copy", 0)
			return self.(*value.Dict).Copy(), err
		}
	case "clear":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			*self.(*value.Dict) = value.Dict{}
			return value.None{}, nil
		}
	case "fromkeys":
		return func(_ value.Value, args *value.Args) (value.Value, error) { return FromKeys(args) }
	}
	return nil
}

// FromKeys is dict.fromkeys.
func FromKeys(args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("dict.fromkeys", 1, "", "")
	if err != nil {
		return nil, err
	}
	v := a[1]
	if v == nil {
		v = value.None{}
	}
	keys, err := value.Elements(a[0])
	if err != nil {
		return nil, err
	}
	d := value.NewDict()
	for _, k := range keys {
		if !d.SetKey(k, v) {
			return nil, value.Hashable(k)
		}
	}
	return d, nil
}

func get(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("dict.get", 1, "", "")
	if err != nil {
		return nil, err
	}
	if err := value.Hashable(a[0]); err != nil {
		return nil, err
	}
	v, ok, err := value.Item(self, a[0])
	if ok || err != nil {
		return v, err
	}
	if a[1] == nil {
		return value.None{}, nil
	}
	return a[1], nil
}

func update(self value.Value, args *value.Args) (value.Value, error) {
	if len(args.Pos) > 1 {
		return nil, value.TypeErrorf("update expected at most 1 argument, got %d", len(args.Pos))
	}
	d := self.(*value.Dict)
	for _, v := range args.Pos {
		if err := Merge(d, v); err != nil {
			return nil, err
		}
	}
	for _, k := range args.Kw {
		d.SetKey(value.Str(k.Name), k.V)
	}
	return value.None{}, nil
}

// Merge adds the entries of a mapping, or the pairs of an iterable, to d.
func Merge(d *value.Dict, from value.Value) error {
	if value.IsMapping(from) {
		src, err := value.ToDict(from)
		if err != nil {
			return err
		}
		for i := range src.Len() {
			d.SetKey(src.At(i))
		}
		return nil
	}
	pairs, err := value.Elements(from)
	if err != nil {
		return err
	}
	for i, p := range pairs {
		kv, err := value.Elements(p)
		if err != nil {
			return value.TypeErrorf("cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		if len(kv) != 2 {
			return value.ValueErrorf("dictionary update sequence element #%d has length %d; 2 is required", i, len(kv))
		}
		if !d.SetKey(kv[0], kv[1]) {
			return value.Hashable(kv[0])
		}
	}
	return nil
}

func setDefault(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("dict.setdefault", 1, "", "")
	if err != nil {
		return nil, err
	}
	d := self.(*value.Dict)
	if v, ok := d.GetKey(a[0]); ok {
		return v, nil
	}
	if a[1] == nil {
		a[1] = value.None{}
	}
	if !d.SetKey(a[0], a[1]) {
		return nil, value.Hashable(a[0])
	}
	return a[1], nil
}

func dictPop(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("dict.pop", 1, "", "")
	if err != nil {
		return nil, err
	}
	d := self.(*value.Dict)
	if v, ok := d.GetKey(a[0]); ok {
		d.Delete(a[0])
		return v, nil
	}
	if a[1] != nil {
		return a[1], nil
	}
	return value.Get(d, a[0])
}

func popItem(self value.Value, args *value.Args) (value.Value, error) {
	d := self.(*value.Dict)
	if d.Len() == 0 {
		return nil, value.Errorf("KeyError", "'popitem(): dictionary is empty'")
	}
	k, v := d.At(d.Len() - 1)
	d.Delete(k)
	return value.NewTuple(k, v), nil
}

// mappingMethod returns what a dict that is looked up on demand can do.
func mappingMethod(name string) Func {
	switch name {
	case "get":
		return get
	case "keys":
		return func(self value.Value, _ *value.Args) (value.Value, error) {
			keys, err := self.(value.Mapping).Keys()
			return value.NewList(keys...), err
		}
	case "items", "values":
		return func(self value.Value, _ *value.Args) (value.Value, error) {
			d, err := value.ToDict(self)
			return &value.View{Dict: d, Kind: "dict_" + name}, err
		}
	}
	return nil
}

func viewMethod(name string) Func {
	if name != "isdisjoint" {
		return nil
	}
	return func(self value.Value, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("isdisjoint", 1, "")
		if err != nil {
			return nil, err
		}
		items, err := value.Elements(a[0])
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if ok, err := value.Contains(self, item); ok || err != nil {
				return value.Bool(false), err
			}
		}
		return value.Bool(true), nil
	}
}
