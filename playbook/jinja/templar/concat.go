package templar

import (
	"math"
	"strings"

	"hark/modules/py/literal"
	"hark/modules/py/value"
)

// maxNesting is how deep values may be nested.
const maxNesting = 500

// finalize is applied to everything that a template prints: what can only be walked over becomes a list, an undefined
// value anywhere inside fails, and None prints as nothing.
func finalize(v value.Value) (value.Value, error) {
	v, err := finalizeNative(v)
	if err == nil && value.IsNone(v) {
		return value.Str(""), nil
	}
	return v, err
}

// finalizeNative is finalize for native types, where None stays.
func finalizeNative(v value.Value) (value.Value, error) {
	if m, ok := v.(value.Mapping); ok {
		d, err := value.PrintedDict(m)
		if err != nil {
			return nil, err
		}
		v = d
	}
	if err := failUndefined(v, 0); err != nil {
		return nil, err
	}
	switch v.(type) {
	case *value.View, value.Range:
		items, err := value.Elements(v)
		return &value.List{Items: items}, err
	}
	return v, nil
}

func failUndefined(v value.Value, depth int) error {
	if depth > maxNesting {
		return value.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	switch v := v.(type) {
	case *value.Undefined:
		return v.Use()
	case *value.List:
		return failItems(v.Items, depth)
	case *value.Tuple:
		return failItems(v.Items, depth)
	case *value.Dict:
		for i := range v.Len() {
			_, item := v.Kept(i)
			if err := failUndefined(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func failItems(items []value.Value, depth int) error {
	for _, item := range items {
		if err := failUndefined(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// joined returns the text of all nodes, unsafe if one of them is.
func joined(nodes []value.Value) (value.Value, error) {
	unsafe := false
	var b strings.Builder
	b.Grow(value.TextSize(nodes))
	for _, n := range nodes {
		unsafe = unsafe || value.HasUnsafe(n)
		if raw, ok := n.(value.Bytes); ok { // Ansible decodes what it prints
			b.WriteString(strings.ToValidUTF8(string(raw), "\ufffd"))
			continue
		}
		s, err := value.ToStr(n)
		if err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	if unsafe {
		return value.UnsafeStr(b.String()), nil
	}
	return value.Str(b.String()), nil
}

// concatText makes text of the nodes (convert_data off).
func concatText(nodes []value.Value) (value.Value, error) {
	if len(nodes) == 1 && value.IsText(nodes[0]) {
		return nodes[0], nil
	}
	return joined(nodes)
}

// concatConvert makes text of the nodes and, if that looks like a list, dict or bool, the value it looks like.
func concatConvert(nodes []value.Value) (value.Value, error) {
	switch len(nodes) {
	case 0:
		return value.Str(""), nil
	case 1:
		if v, ok := convertOne(nodes[0]); ok {
			return v, nil
		}
	}
	v, err := concatText(nodes)
	if err != nil {
		return nil, err
	}
	s, _ := value.Text(v)
	if !looksConvertible(s) {
		return v, nil
	}
	return evaluated(v, s, true)
}

func looksConvertible(s string) bool {
	return s != "" && (s[0] == '{' || s[0] == '[') || s == "True" || s == "False"
}

// evaluated is text v as the literal it is, or v.
func evaluated(v value.Value, s string, jsonNames bool) (value.Value, error) {
	lit, ok, err := parseLiteral(s, jsonNames)
	if err != nil {
		return nil, err
	}
	if !ok {
		return v, nil
	}
	if value.IsUnsafe(v) {
		return value.Unsafe(lit), nil
	}
	return lit, nil
}

// convertOne returns the short way for a value that is printed and read back: the same, with plain text in it.
func convertOne(v value.Value) (value.Value, bool) {
	switch v := v.(type) {
	case value.NativeStr, value.NativeUnsafeStr, value.Bool:
		return v, true
	case value.Rendered:
		return v, v.IsFinal()
	case *value.List, *value.Dict:
		if c, ok := reread(v, value.HasUnsafe(v), 0); ok {
			return c, true
		}
	}
	return nil, false
}

// reread is v as printing and reading it gives it; false if it must really be done.
func reread(v value.Value, unsafe bool, depth int) (value.Value, bool) {
	if depth > literal.MaxDepth {
		return nil, false
	}
	switch v := v.(type) {
	case value.None, value.Bool, value.Int, *value.BigInt, value.Bytes, value.Omit:
		return v, true
	case value.Float:
		return v, !math.IsInf(float64(v), 0) && !math.IsNaN(float64(v))
	case value.Markup:
		return nil, false
	case *value.List:
		items, ok := rereadItems(v.Items, unsafe, depth)
		return &value.List{Items: items}, ok
	case *value.Tuple:
		items, ok := rereadItems(v.Items, unsafe, depth)
		return &value.Tuple{Items: items}, ok
	case *value.Dict:
		out := value.NewDict()
		for i := range v.Len() {
			k, item := v.Kept(i)
			k, ok := reread(k, unsafe, depth+1)
			if !ok {
				return nil, false
			}
			if item, ok = reread(item, unsafe, depth+1); !ok {
				return nil, false
			}
			out.SetKey(k, item)
		}
		return out, true
	}
	if l, ok := v.(*value.Lines); ok {
		return rereadLines(l, unsafe, depth)
	}
	s, ok := value.Text(v)
	if unsafe {
		return value.UnsafeStr(s), ok
	}
	return value.Str(s), ok
}

// rereadLines leaves lines that nobody has changed to be made by who reads them.
func rereadLines(l *value.Lines, unsafe bool, depth int) (value.Value, bool) {
	text := l.Text()
	if text == nil {
		return reread(l.List(), unsafe, depth)
	}
	again, ok := reread(text, unsafe, depth)
	return value.NewLines(again), ok
}

func rereadItems(items []value.Value, unsafe bool, depth int) ([]value.Value, bool) {
	out := make([]value.Value, len(items))
	for i, item := range items {
		v, ok := reread(item, unsafe, depth+1)
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// concatNative keeps a single value as it is; text is read as a literal if it is one.
func concatNative(nodes []value.Value) (value.Value, error) {
	if len(nodes) == 0 {
		return value.None{}, nil
	}
	var v value.Value
	if len(nodes) == 1 {
		v = nodes[0]
		switch one := v.(type) {
		case value.NativeStr, value.NativeUnsafeStr:
			return v, nil
		case value.Rendered:
			if one.IsFinal() {
				return v, nil
			}
		case *value.Vault:
			s, err := one.Open()
			return value.Str(s), err
		case *value.Undefined:
			return value.Str(""), one.Use()
		}
		if !value.IsText(v) {
			return v, nil
		}
	} else {
		var err error
		if v, err = joined(nodes); err != nil {
			return nil, err
		}
	}
	s, _ := value.Text(v)
	lit, err := evaluated(v, s, false)
	if err != nil {
		return nil, err
	}
	if text, ok := value.Text(lit); ok && lit != v {
		q := s[:1]
		return value.TextLike(lit, q+text+q), nil
	}
	return lit, nil
}
