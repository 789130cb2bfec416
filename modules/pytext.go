package modules

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// Str is the text of a plain value as Python's str prints it: True, None, ['a', 1]. Ansible turns
// every argument of type str into it.
func Str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return Repr(v)
}

// Repr is the text of a plain value as Python's repr prints it. The keys of a mapping come sorted.
func Repr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return reprText(v)
	case float64:
		return reprFloat(v)
	case *big.Int:
		return v.String()
	case []string:
		return "[" + joinRepr(v) + "]"
	case []any:
		return "[" + joinRepr(v) + "]"
	case Object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = reprText(m.Key) + ": " + Repr(m.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for i, k := range keys {
			keys[i] = reprText(k) + ": " + Repr(v[k])
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	return fmt.Sprint(v)
}

func joinRepr[T any](items []T) string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = Repr(x)
	}
	return strings.Join(out, ", ")
}

// reprText quotes as Python does: single quotes unless the text holds one and no double quote.
func reprText(s string) string {
	quote := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}

func reprFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return infText(f)
	case f == math.Trunc(f) && math.Abs(f) < 1e16:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case math.Abs(f) >= 1e16 || math.Abs(f) < 1e-4:
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func infText(f float64) string {
	if f < 0 {
		return "-inf"
	}
	return "inf"
}

// TypeName is the name of a plain value's type in Python, as error texts show it: <class 'str'>.
func TypeName(v any) string {
	name := "str"
	switch v.(type) {
	case nil:
		name = "NoneType"
	case bool:
		name = "bool"
	case int, int64, *big.Int:
		name = "int"
	case float64:
		name = "float"
	case []any, []string:
		name = "list"
	case map[string]any:
		name = "dict"
	}
	return "<class '" + name + "'>"
}
