package utils

import (
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/argspec"
)

// matcher reports whether a key is meant by a word of the target.
type matcher func(word, key string) (bool, error)

func matching(way string) matcher {
	switch way {
	case "starts_with":
		return func(word, key string) (bool, error) { return strings.HasPrefix(key, word), nil }
	case "ends_with":
		return func(word, key string) (bool, error) { return strings.HasSuffix(key, word), nil }
	case "regex":
		return func(word, key string) (bool, error) {
			re, err := pyre.Compile(word, pyre.Options{Anchor: pyre.AtStart})
			if err != nil {
				return false, err
			}
			return re.Matches(key)
		}
	}
	return func(word, key string) (bool, error) { return word == key, nil }
}

// keyArgs returns the arguments that the filters of keys have in common.
func keyArgs(in value.Value, args *jinja.Args, targetKind, deed,
	name string) (data, target value.Value, match matcher, err error) {
	a, err := argspec.Bind(in, args, argspec.Option{Name: "data", Kind: "raw"},
		argspec.Option{Name: "target", Kind: targetKind, Required: true},
		argspec.Option{Name: "matching_parameter", Kind: "str"})
	if err != nil {
		return nil, nil, nil, err
	}
	way := value.Printed(a[2])
	switch way {
	case "None", "starts_with", "ends_with", "regex":
	default:
		return nil, nil, nil,
			value.FilterErrorf("[%s]",
				value.ReprText(dialect.NoSuchChoice.Text("matching_parameter", "starts_with, ends_with, regex", way)))
	}
	_, isList := a[0].(*value.List)
	if !isList && !value.IsMapping(a[0]) {
		return nil, nil, nil, value.FilterErrorf("Error when using plugin '%s': Input is not valid for %s", name, deed)
	}
	return a[0], a[1], matching(way), nil
}

// anyWord reports whether one of the words means the key.
func (m matcher) anyWord(words []string, key value.Value) (bool, error) {
	s, ok := value.Text(key)
	if !ok {
		return false, nil
	}
	for _, w := range words {
		if met, err := m(w, s); met || err != nil {
			return met, err
		}
	}
	return false, nil
}

func keepKeys(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	data, target, match, err := keyArgs(in, args, "list", "keep operation", "keep_keys")
	if err != nil {
		return nil, err
	}
	return kept(data, printedItems(target), match)
}

// kept returns the leaves whose keys are meant, in the dicts and lists that they are in.
func kept(v value.Value, words []string, match matcher) (value.Value, error) {
	switch v := v.(type) {
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			k, err := kept(item, words, match)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, k)
		}
		return out, nil
	case *value.Dict:
		out := value.NewDict()
		for i := range v.Len() {
			key, item := v.At(i)
			leaf, err := keptEntry(key, item, words, match)
			if err != nil {
				return nil, err
			}
			if leaf != nil {
				out.SetKey(key, leaf)
			}
		}
		return out, nil
	}
	return v, nil
}

// keptEntry returns what is kept of an entry; nil for nothing.
func keptEntry(key, item value.Value, words []string, match matcher) (value.Value, error) {
	if !isContainer(item) {
		ok, err := match.anyWord(words, key)
		if !ok {
			return nil, err
		}
		return item, err
	}
	inner, err := kept(item, words, match)
	if err != nil || len(words) == 0 {
		return nil, err
	}
	if l, ok := inner.(*value.List); ok {
		full, onlyText := value.NewList(), true
		for _, r := range l.Items {
			if !isEmpty(r) {
				full.Items = append(full.Items, r)
				onlyText = onlyText && value.IsText(r)
			}
		}
		if onlyText {
			return nil, nil
		}
		inner = full
	}
	if isEmpty(inner) {
		return nil, nil
	}
	return inner, nil
}

func isContainer(v value.Value) bool {
	_, isList := v.(*value.List)
	_, isDict := v.(*value.Dict)
	return isList || isDict
}

func isEmpty(v value.Value) bool {
	n, err := value.Len(v)
	return isContainer(v) && err == nil && n == 0
}

func removeKeys(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	data, target, match, err := keyArgs(in, args, "list", "attribute removal", "remove_keys")
	if err != nil {
		return nil, err
	}
	return removed(data, printedItems(target), match)
}

// removed is data without the entries whose keys are meant; what counts as nothing falls out of lists.
func removed(v value.Value, words []string, match matcher) (value.Value, error) {
	switch v := v.(type) {
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			left, err := removed(item, words, match)
			if err != nil {
				return nil, err
			}
			full, err := value.Truth(left)
			if isContainer(item) { // a dict that the removal empties goes, one that becomes empty by its lists stays
				full, err = !isEmpty(left), nil
			}
			if err != nil {
				return nil, err
			}
			if full {
				out.Items = append(out.Items, left)
			}
		}
		return out, nil
	case *value.Dict:
		out := value.NewDict()
		for i := range v.Len() {
			key, item := v.At(i)
			gone, err := match.anyWord(words, key)
			if err != nil {
				return nil, err
			}
			if gone {
				continue
			}
			left, err := removed(item, words, match)
			if err != nil {
				return nil, err
			}
			out.SetKey(key, left)
		}
		return out, nil
	}
	return v, nil
}

func replaceKeys(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	data, target, match, err := keyArgs(in, args, "items", "replace operation", "replace_keys")
	if err != nil {
		return nil, err
	}
	var names []renaming
	items, _ := value.Elements(target)
	for _, item := range items {
		before, okBefore, _ := value.Item(item, text("before"))
		after, okAfter, _ := value.Item(item, text("after"))
		if !okBefore || !okAfter {
			return nil, value.FilterErrorf("Error when using plugin 'replace_keys': the items of target have the keys before " +
				"and after")
		}
		names = append(names, renaming{value.Printed(before), value.Printed(after)})
	}
	return replaced(data, names, match)
}

// renaming is one item of the target of replace_keys.
type renaming struct{ before, after string }

func replaced(v value.Value, names []renaming, match matcher) (value.Value, error) {
	switch v := v.(type) {
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			r, err := replaced(item, names, match)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, r)
		}
		return out, nil
	case *value.Dict:
		d := v.Copy()
		for _, n := range names {
			for _, key := range d.Keys() {
				met, err := match.anyWord([]string{n.before}, key)
				if err != nil {
					return nil, err
				}
				if met { // the new key comes last, as that of a changed dict in Python
					item, _ := d.GetKey(key)
					d.Delete(key)
					d.SetKey(text(n.after), item)
				}
			}
		}
		out := value.NewDict()
		for i := range d.Len() {
			key, item := d.At(i)
			r, err := replaced(item, names, match)
			if err != nil {
				return nil, err
			}
			out.SetKey(key, r)
		}
		return out, nil
	}
	return v, nil
}
