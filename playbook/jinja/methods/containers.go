package methods

import (
	"sort"

	"hark/playbook/jinja/value"
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

// mappingMethod is what a dict that is looked up on demand can do.
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

// sequenceMethod is what lists, tuples and ranges share.
func sequenceMethod(name string) Func {
	switch name {
	case "index":
		return index
	case "count":
		return countItems
	}
	return nil
}

func index(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod(self.Type()+".index", 1, "", "", "")
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(self)
	if err != nil {
		return nil, err
	}
	from, err := bound(a[1], 0, len(items))
	if err != nil {
		return nil, err
	}
	to, err := bound(a[2], len(items), len(items))
	if err != nil {
		return nil, err
	}
	for i := from; i < min(to, len(items)); i++ {
		if ok, err := value.Equal(items[i], a[0]); ok || err != nil {
			return value.Int(i), err
		}
	}
	if self.Type() == "tuple" {
		return nil, value.ValueErrorf("tuple.index(x): x not in tuple")
	}
	r, err := value.Repr(a[0])
	if err != nil {
		return nil, err
	}
	return nil, value.ValueErrorf("%s is not in %s", r, self.Type())
}

func countItems(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod(self.Type()+".count", 1, "")
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(self)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, item := range items {
		ok, err := value.Equal(item, a[0])
		if err != nil {
			return nil, err
		}
		if ok {
			n++
		}
	}
	return value.Int(n), nil
}

func listMethod(name string) Func {
	switch name {
	case "append":
		return appendItem
	case "extend":
		return extend
	case "insert":
		return insert
	case "pop":
		return listPop
	case "remove":
		return remove
	case "reverse":
		return reverse
	case "sort":
		return sortList
	case "copy":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			_, err := args.BindMethod("list.copy", 0)
			return value.NewList(append([]value.Value(nil), self.(*value.List).Items...)...), err
		}
	case "clear":
		return func(self value.Value, args *value.Args) (value.Value, error) {
			self.(*value.List).Items = nil
			return value.None{}, nil
		}
	}
	return sequenceMethod(name)
}

func appendItem(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("list.append", 1, "")
	if err != nil {
		return nil, err
	}
	l := self.(*value.List)
	l.Items = append(l.Items, a[0])
	return value.None{}, tooLong(l)
}

func tooLong(l *value.List) error {
	if len(l.Items) > value.MaxItems {
		return value.Errorf("MemoryError", "the list is too long")
	}
	return nil
}

func extend(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("list.extend", 1, "")
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(a[0])
	if err != nil {
		return nil, err
	}
	l := self.(*value.List)
	l.Items = append(l.Items, items...)
	return value.None{}, tooLong(l)
}

func insert(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("list.insert", 2, "", "")
	if err != nil {
		return nil, err
	}
	l := self.(*value.List)
	i, err := wantInt(a[0])
	if err != nil {
		return nil, err
	}
	if i < 0 {
		i += len(l.Items)
	}
	i = max(0, min(i, len(l.Items)))
	l.Items = append(l.Items, nil)
	copy(l.Items[i+1:], l.Items[i:])
	l.Items[i] = a[1]
	return value.None{}, nil
}

func listPop(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("list.pop", 0, "")
	if err != nil {
		return nil, err
	}
	l := self.(*value.List)
	if len(l.Items) == 0 {
		return nil, value.Errorf("IndexError", "pop from empty list")
	}
	i, err := optInt(a[0], -1)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		i += len(l.Items)
	}
	if i < 0 || i >= len(l.Items) {
		return nil, value.Errorf("IndexError", "pop index out of range")
	}
	v := l.Items[i]
	l.Items = append(l.Items[:i:i], l.Items[i+1:]...)
	return v, nil
}

func remove(self value.Value, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("list.remove", 1, "")
	if err != nil {
		return nil, err
	}
	l := self.(*value.List)
	for i, item := range l.Items {
		ok, err := value.Equal(item, a[0])
		if err != nil {
			return nil, err
		}
		if ok {
			l.Items = append(l.Items[:i:i], l.Items[i+1:]...)
			return value.None{}, nil
		}
	}
	return nil, value.ValueErrorf("list.remove(x): x not in list")
}

func reverse(self value.Value, args *value.Args) (value.Value, error) {
	if _, err := args.BindMethod("list.reverse", 0); err != nil {
		return nil, err
	}
	items := self.(*value.List).Items
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	return value.None{}, nil
}

func sortList(self value.Value, args *value.Args) (value.Value, error) {
	if len(args.Pos) > 0 {
		return nil, value.TypeErrorf("sort() takes no positional arguments")
	}
	down := false
	if v, ok := args.KwOf("reverse"); ok {
		var err error
		if down, err = value.Truth(v); err != nil {
			return nil, err
		}
	}
	return value.None{}, Sort(self.(*value.List).Items, down, nil)
}

// Sort sorts in place and stably, by key(i) if key is not nil, as Python's sort does.
func Sort(items []value.Value, down bool, keys []value.Value) error {
	by := keys
	if by == nil {
		by = append([]value.Value(nil), items...)
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	var failed error
	sort.SliceStable(order, func(i, j int) bool {
		if failed != nil {
			return false
		}
		a, b := by[order[i]], by[order[j]]
		if down {
			a, b = b, a
		}
		n, err := value.Compare("<", a, b)
		if err != nil {
			failed = err
		}
		return n == -1
	})
	if failed != nil {
		return failed
	}
	sorted := make([]value.Value, len(items))
	for i, from := range order {
		sorted[i] = items[from]
	}
	copy(items, sorted)
	return nil
}
