package methods

import (
	"strings"

	"hark/modules/py/value"
)

func partMethod(name string) textFunc {
	switch name {
	case "strip", "lstrip", "rstrip":
		return strip(name)
	case "split", "rsplit":
		return split(name)
	case "splitlines":
		return splitLines
	case "partition", "rpartition":
		return partition(name)
	}
	return nil
}

func strip(name string) textFunc {
	return func(self value.Value, s string, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("str."+name, 0, "")
		if err != nil {
			return nil, err
		}
		cut := IsSpace
		if a[0] != nil && !value.IsNone(a[0]) {
			set, ok := value.Text(a[0])
			if !ok {
				return nil, value.TypeErrorf("%s arg must be None or str", name)
			}
			cut = func(r rune) bool { return strings.ContainsRune(set, r) }
		}
		if name != "rstrip" {
			s = strings.TrimLeftFunc(s, cut)
		}
		if name != "lstrip" {
			s = strings.TrimRightFunc(s, cut)
		}
		return value.TextLike(self, s), nil
	}
}

func textsLike(self value.Value, parts []string) []value.Value {
	out := make([]value.Value, len(parts))
	for i, p := range parts {
		out[i] = value.TextLike(self, p)
	}
	return out
}

func split(name string) textFunc {
	return func(self value.Value, s string, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("str."+name+"()", 0, "sep", "maxsplit")
		if err != nil {
			return nil, err
		}
		limit, err := optInt(a[1], -1)
		if err != nil {
			return nil, err
		}
		if a[0] == nil || value.IsNone(a[0]) {
			return value.NewList(textsLike(self, splitSpace(s, limit, name == "rsplit"))...), nil
		}
		sep, ok := value.Text(a[0])
		if !ok {
			return nil, value.TypeErrorf("must be str or None, not %s", a[0].Type())
		}
		if sep == "" {
			return nil, value.ValueErrorf("empty separator")
		}
		return value.NewList(textsLike(self, splitOn(s, sep, limit, name == "rsplit"))...), nil
	}
}

func splitOn(s, sep string, limit int, right bool) []string {
	if limit < 0 {
		return strings.Split(s, sep)
	}
	if !right {
		return strings.SplitN(s, sep, limit+1)
	}
	var tail []string
	for ; limit > 0; limit-- {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		tail = append(tail, s[i+len(sep):])
		s = s[:i]
	}
	return backwards(append(tail, s))
}

func backwards(parts []string) []string {
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return parts
}

// splitSpace splits at runs of whitespace.
func splitSpace(s string, limit int, right bool) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, IsSpace)
	}
	if right {
		return splitSpaceRight(s, limit)
	}
	var out []string
	s = strings.TrimLeftFunc(s, IsSpace)
	for ; s != "" && limit > 0; limit-- {
		i := strings.IndexFunc(s, IsSpace)
		if i < 0 {
			break
		}
		out = append(out, s[:i])
		s = strings.TrimLeftFunc(s[i:], IsSpace)
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

func splitSpaceRight(s string, limit int) []string {
	var out []string
	s = strings.TrimRightFunc(s, IsSpace)
	for ; s != "" && limit > 0; limit-- {
		i := strings.LastIndexFunc(s, IsSpace)
		if i < 0 {
			break
		}
		word := strings.TrimLeftFunc(s[i:], IsSpace)
		out = append(out, word)
		s = strings.TrimRightFunc(s[:i], IsSpace)
	}
	if s != "" {
		out = append(out, s)
	}
	return backwards(out)
}

func splitLines(self value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.splitlines()", 0, "keepends")
	if err != nil {
		return nil, err
	}
	keep := false
	if a[0] != nil {
		if keep, err = value.Truth(a[0]); err != nil {
			return nil, err
		}
	}
	return value.NewList(textsLike(self, Lines(s, keep))...), nil
}

// Lines is Python's str.splitlines.
func Lines(s string, keepEnds bool) []string {
	var out []string
	for s != "" {
		line, end, rest := value.CutLine(s)
		if keepEnds {
			line = s[:len(line)+len(end)]
		}
		out, s = append(out, line), rest
	}
	return out
}

func partition(name string) textFunc {
	return func(self value.Value, s string, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("str."+name, 1, "")
		if err != nil {
			return nil, err
		}
		sep, err := mustBeText(a[0])
		if err != nil {
			return nil, err
		}
		if sep == "" {
			return nil, value.ValueErrorf("empty separator")
		}
		parts := []string{s, "", ""}
		i := strings.Index(s, sep)
		if name == "rpartition" {
			parts = []string{"", "", s}
			i = strings.LastIndex(s, sep)
		}
		if i >= 0 {
			parts = []string{s[:i], sep, s[i+len(sep):]}
		}
		return value.NewTuple(textsLike(self, parts)...), nil
	}
}
