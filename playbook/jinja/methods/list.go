package methods

import (
	"hark/modules/py/value"
)

// sequenceMethod returns what lists, tuples and ranges share.
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
		if down, err = Flag(v); err != nil {
			return nil, err
		}
	}
	return value.None{}, value.Sort(self.(*value.List).Items, down, nil)
}
