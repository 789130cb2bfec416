package modules

import (
	"fmt"
	"math/big"
	"sort"
	"strings"
	"time"

	"hark/modules/py/pyrepr"
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
		return pyrepr.Text(v)
	case float64:
		return pyrepr.Float(v)
	case *big.Int:
		return v.String()
	case []string:
		return "[" + joinRepr(v) + "]"
	case []any:
		return "[" + joinRepr(v) + "]"
	case Object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = pyrepr.Text(m.Key) + ": " + Repr(m.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for i, k := range keys {
			keys[i] = pyrepr.Text(k) + ": " + Repr(v[k])
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// TimeText is a time, in the zone of the host, as Python's datetime prints it.
func TimeText(t time.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return t.Local().Format("2006-01-02 15:04:05")
	}
	return t.Local().Format("2006-01-02 15:04:05.000000")
}

func joinRepr[T any](items []T) string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = Repr(x)
	}
	return strings.Join(out, ", ")
}

// TypeName is the name of a plain value's type in Python, as error texts show it: <class 'str'>.
func TypeName(v any) string { return "<class '" + ClassName(v) + "'>" }

// ClassName is the bare name of a plain value's type in Python: str.
func ClassName(v any) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int, int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case []any, []string:
		return "list"
	case map[string]any:
		return "dict"
	}
	return "str"
}
