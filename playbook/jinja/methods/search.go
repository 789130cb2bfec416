package methods

import (
	"strings"
	"unicode/utf8"

	"hark/modules/py/value"
)

func searchMethod(name string) textFunc {
	switch name {
	case "startswith", "endswith":
		return affix(name)
	case "find", "rfind", "index", "rindex":
		return find(name)
	case "count":
		return count
	case "removeprefix", "removesuffix":
		return removeAffix(name)
	}
	return nil
}

// window cuts s to [start:end] as Python counts; offset is the number of characters before it.
func window(s string, start, end value.Value) (part string, offset int, ok bool, err error) {
	if start == nil && end == nil {
		return s, 0, true, nil
	}
	n := utf8.RuneCountInString(s)
	from, err := bound(start, 0, n)
	if err != nil {
		return "", 0, false, err
	}
	to, err := bound(end, n, n)
	if err != nil {
		return "", 0, false, err
	}
	if from > n || from > to {
		return "", 0, false, nil
	}
	runes := []rune(s)
	return string(runes[from:min(to, n)]), from, true, nil
}

func bound(v value.Value, def, n int) (int, error) {
	if v == nil || value.IsNone(v) {
		return def, nil
	}
	i, err := wantInt(v)
	if err != nil {
		return 0, value.TypeErrorf("slice indices must be integers or None or have an __index__ method")
	}
	if i < 0 {
		i = max(0, i+n)
	}
	return i, nil
}

func affix(name string) textFunc {
	has := strings.HasPrefix
	if name == "endswith" {
		has = strings.HasSuffix
	}
	return func(_ value.Value, s string, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("str."+name+"()", 1, "", "", "")
		if err != nil {
			return nil, err
		}
		part, _, ok, err := window(s, a[1], a[2])
		if err != nil {
			return nil, err
		}
		candidates := []value.Value{a[0]}
		if t, isTuple := a[0].(*value.Tuple); isTuple {
			candidates = t.Items
		}
		for _, c := range candidates {
			t, isText := value.Text(c)
			if !isText {
				return nil, value.TypeErrorf("%s first arg must be str or a tuple of str, not %s", name, a[0].Type())
			}
			if ok && has(part, t) {
				return value.Bool(true), nil
			}
		}
		return value.Bool(false), nil
	}
}

func find(name string) textFunc {
	index := strings.Index
	if name[0] == 'r' {
		index = strings.LastIndex
	}
	return func(_ value.Value, s string, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("str."+name+"()", 1, "", "", "")
		if err != nil {
			return nil, err
		}
		sub, err := mustBeText(a[0])
		if err != nil {
			return nil, err
		}
		part, offset, ok, err := window(s, a[1], a[2])
		if err != nil {
			return nil, err
		}
		i := -1
		if ok {
			i = index(part, sub)
		}
		if i >= 0 {
			return value.Int(offset + utf8.RuneCountInString(part[:i])), nil
		}
		if strings.HasSuffix(name, "index") {
			return nil, value.ValueErrorf("substring not found")
		}
		return value.Int(-1), nil
	}
}

func mustBeText(v value.Value) (string, error) {
	if s, ok := value.Text(v); ok {
		return s, nil
	}
	return "", value.TypeErrorf("must be str, not %s", v.Type())
}

func count(_ value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.count()", 1, "", "", "")
	if err != nil {
		return nil, err
	}
	sub, err := mustBeText(a[0])
	if err != nil {
		return nil, err
	}
	part, _, ok, err := window(s, a[1], a[2])
	if err != nil || !ok {
		return value.Int(0), err
	}
	return value.Int(strings.Count(part, sub)), nil
}

func removeAffix(name string) textFunc {
	remove := strings.TrimPrefix
	if name == "removesuffix" {
		remove = strings.TrimSuffix
	}
	return func(self value.Value, s string, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("str."+name, 1, "")
		if err != nil {
			return nil, err
		}
		sub, err := wantText(name, 1, a[0])
		return value.TextLike(self, remove(s, sub)), err
	}
}
