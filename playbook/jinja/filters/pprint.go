package filters

import (
	"strings"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

func pprint(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := prettyRepr(in, 0, 80)
	return value.Str(s), err
}

// prettyRepr prints as Python's pprint: on one line if it fits, else an element a line.
func prettyRepr(v value.Value, at, width int) (string, error) {
	s, err := prettyFlat(v)
	if err != nil || utf8.RuneCountInString(s) <= width-at {
		return s, err
	}
	switch v := v.(type) {
	case *value.Dict:
		keys := v.Keys()
		if err := value.Sort(keys, false, v.Keys()); err != nil {
			keys = v.Keys()
		}
		var rows []string
		for _, k := range keys {
			name, err := value.Repr(k)
			if err != nil {
				return "", err
			}
			item, _ := v.GetKey(k)
			text, err := prettyRepr(item, at+1+utf8.RuneCountInString(name)+2, width-1)
			if err != nil {
				return "", err
			}
			rows = append(rows, name+": "+text)
		}
		return "{" + strings.Join(rows, ",\n"+strings.Repeat(" ", at+1)) + "}", nil
	case *value.List:
		rows, err := prettyItems(v.Items, at, width)
		return "[" + rows + "]", err
	case *value.Tuple:
		rows, err := prettyItems(v.Items, at, width)
		return "(" + rows + ")", err
	}
	return s, nil
}

func prettyItems(items []value.Value, at, width int) (string, error) {
	var rows []string
	for _, item := range items {
		text, err := prettyRepr(item, at+1, width-1)
		if err != nil {
			return "", err
		}
		rows = append(rows, text)
	}
	return strings.Join(rows, ",\n"+strings.Repeat(" ", at+1)), nil
}

// prettyFlat returns the repr with the keys of dicts sorted.
func prettyFlat(v value.Value) (string, error) {
	d, ok := v.(*value.Dict)
	if !ok {
		return value.Repr(v)
	}
	keys := d.Keys()
	if err := value.Sort(keys, false, d.Keys()); err != nil {
		return value.Repr(v)
	}
	var rows []string
	for _, k := range keys {
		name, err := value.Repr(k)
		if err != nil {
			return "", err
		}
		item, _ := d.GetKey(k)
		text, err := prettyFlat(item)
		if err != nil {
			return "", err
		}
		rows = append(rows, name+": "+text)
	}
	return "{" + strings.Join(rows, ", ") + "}", nil
}
