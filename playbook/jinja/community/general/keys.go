package general

import (
	"strings"

	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// matcher reports whether a key is meant.
type matcher func(key string) (bool, error)

// keyFilter reads what keep_keys and its like have in common: a list of dicts, the keys that are meant, and how they
// are given.
func keyFilter(name string, in value.Value, args *jinja.Args) ([]*value.Dict, value.Value, string, error) {
	a, err := args.Bind(name, value.Opt("target", none), value.Opt("matching_parameter", text("equal")))
	if err != nil {
		return nil, nil, "", err
	}
	dicts, err := dictsOf(in)
	if err != nil {
		return nil, nil, "", err
	}
	way, err := value.ToStr(a[1])
	if err != nil {
		return nil, nil, "", err
	}
	switch way {
	case "equal", "starts_with", "ends_with", "regex":
	default:
		return nil, nil, "",
			value.FilterErrorf("The matching_parameter=%s must be one of ['equal', 'starts_with', 'ends_with', 'regex']", way)
	}
	return dicts, a[0], way, nil
}

func dictsOf(in value.Value) ([]*value.Dict, error) {
	items, ok := sequence(in)
	if !ok {
		return nil, value.FilterErrorf("First argument must be a list. %s is %s", value.Printed(in), value.ClassOf(in).Str())
	}
	var out []*value.Dict
	for _, item := range items {
		if !value.IsMapping(item) {
			return nil, value.FilterErrorf("The data items must be dictionaries. %s is %s", value.Printed(item),
				value.ClassOf(item).Str())
		}
		d, err := value.ToDict(item)
		if err != nil {
			return nil, err
		}
		for _, k := range d.Keys() {
			if !value.IsText(k) {
				return nil, value.FilterErrorf("Top level keys must be strings. keys: %s",
					value.PrintedRepr(value.NewList(d.Keys()...)))
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// targets returns the texts of a target, which is one or a list of them.
func targets(target value.Value, way string) ([]string, error) {
	if s, ok := value.Text(target); ok {
		return []string{s}, nil
	}
	items, ok := sequence(target)
	if !ok {
		return nil, value.FilterErrorf("The target must be a string or a list. target is %s.", value.Printed(target))
	}
	if way == "regex" && len(items) > 1 {
		return nil, value.FilterErrorf("If matching_parameter=regex, the target must be a string or a list of one string. "+
			"target is %s.", value.Printed(target))
	}
	var out []string
	for _, item := range items {
		s, ok := value.Text(item)
		if !ok {
			return nil, value.FilterErrorf("The target items must be strings. target is %s.", value.Printed(target))
		}
		out = append(out, s)
	}
	return out, nil
}

// matching makes a matcher of a target.
func matching(wanted []string, way string) (matcher, error) {
	fits := map[string]func(key, s string) bool{
		"equal": func(key, s string) bool { return key == s }, "starts_with": strings.HasPrefix,
		"ends_with": strings.HasSuffix,
	}[way]
	if fits == nil {
		if len(wanted) == 0 {
			return func(string) (bool, error) { return false, nil }, nil
		}
		re, err := pyre.Compile(wanted[0], pyre.Options{Anchor: pyre.AtStart})
		if err != nil {
			return nil, value.FilterErrorf("The target must be a valid regex if matching_parameter=regex. target is %s",
				wanted[0])
		}
		return re.Matches, nil
	}
	return func(key string) (bool, error) {
		for _, s := range wanted {
			if fits(key, s) {
				return true, nil
			}
		}
		return false, nil
	}, nil
}

// selectKeys keeps the keys that are meant, or drops them.
func selectKeys(name string, keep bool, in value.Value, args *jinja.Args) (value.Value, error) {
	dicts, target, way, err := keyFilter(name, in, args)
	if err != nil {
		return nil, err
	}
	wanted, err := targets(target, way)
	if err != nil {
		return nil, err
	}
	match, err := matching(wanted, way)
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, d := range dicts {
		left := value.NewDict()
		for i := range d.Len() {
			k, v := d.At(i)
			key, _ := value.Text(k)
			ok, err := match(key)
			if err != nil {
				return nil, err
			}
			if ok == keep {
				left.SetKey(k, v)
			}
		}
		out.Items = append(out.Items, left)
	}
	return out, nil
}

func keepKeys(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return selectKeys("keep_keys", true, in, args)
}

func removeKeys(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	return selectKeys("remove_keys", false, in, args)
}

// renaming is one item of the target of replace_keys.
type renaming struct {
	match matcher
	after string
}

func replaceKeys(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	dicts, target, way, err := keyFilter("replace_keys", in, args)
	if err != nil {
		return nil, err
	}
	names, err := renamings(target, way)
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, d := range dicts {
		renamed := value.NewDict()
		for i := range d.Len() {
			k, v := d.At(i)
			key, _ := value.Text(k)
			for _, r := range names {
				ok, err := r.match(key)
				if err != nil {
					return nil, err
				}
				if ok {
					k = text(r.after)
					break
				}
			}
			renamed.SetKey(k, v)
		}
		out.Items = append(out.Items, renamed)
	}
	return out, nil
}

func renamings(target value.Value, way string) ([]renaming, error) {
	items, ok := sequence(target)
	if !ok || value.IsText(target) {
		return nil, value.FilterErrorf("The target must be a list of dictionaries. target is %s", value.Printed(target))
	}
	var out []renaming
	for _, item := range items {
		before, okBefore, err := value.Item(item, text("before"))
		if err != nil {
			return nil, err
		}
		after, okAfter, err := value.Item(item, text("after"))
		if err != nil {
			return nil, err
		}
		if !okBefore || !okAfter {
			return nil, value.FilterErrorf("All items in target must be dictionaries with keys \"after\" and \"before\". "+
				"target is %s.", value.Printed(target))
		}
		match, err := matching([]string{value.Printed(before)}, way)
		if err != nil {
			return nil, err
		}
		out = append(out, renaming{match, value.Printed(after)})
	}
	return out, nil
}
