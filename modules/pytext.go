package modules

import (
	"hark/modules/py/value"
	"time"
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
func Repr(v any) string { return value.PrintedRepr(plainly(v)) }

// PyJSON is a plain value as Python's json.dumps prints it, with the keys of mappings sorted.
func PyJSON(v any) string { return value.JSONText(plainly(v), value.JSONOptions{ASCII: true}) }

// plainly is a plain value as Python's.
func plainly(v any) value.Value { return value.FromGo(v, value.KindStr) }

// TimeText is a time, in the zone of the host, as Python's datetime prints it.
func TimeText(t time.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return t.Local().Format("2006-01-02 15:04:05")
	}
	return t.Local().Format("2006-01-02 15:04:05.000000")
}

// TypeName is the name of a plain value's type in Python, as error texts show it: <class 'str'>.
func TypeName(v any) string { return "<class '" + ClassName(v) + "'>" }

// ClassName is the bare name of a plain value's type in Python: str.
func ClassName(v any) string { return plainly(v).Type() }
