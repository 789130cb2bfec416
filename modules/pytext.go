package modules

import (
	"time"

	"hark/modules/py/localtime"
	"hark/modules/py/value"
)

// Str returns the text of a value as Python's str prints it: True, None, ['a', 1]. Ansible converts every argument of
// type str so. It accepts Python's and Go's values; the keys of Go's maps come sorted.
func Str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return value.Printed(plainly(v))
}

// Repr returns the text of a value as Python's repr prints it.
func Repr(v any) string { return value.PrintedRepr(plainly(v)) }

// PyJSON returns a value as Python's json.dumps prints it.
func PyJSON(v any) string { return value.JSONText(plainly(v), value.JSONOptions{ASCII: true}) }

// plainly returns a value as Python's.
func plainly(v any) value.Value { return value.FromGo(v, value.KindUnsafe) }

// TimeText returns a time, in the zone of the host, as Python's datetime prints it.
func TimeText(t time.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return localtime.In(t).Format("2006-01-02 15:04:05")
	}
	return localtime.In(t).Format("2006-01-02 15:04:05.000000")
}

// TypeName returns the name of a value's type in Python, as error texts show it: <class 'str'>.
func TypeName(v any) string { return "<class '" + ClassName(v) + "'>" }

// ClassName returns the bare name of a value's type in Python: str, of text of every kind.
func ClassName(v any) string {
	x := plainly(v)
	if value.IsText(x) {
		return "str"
	}
	return x.Type()
}
