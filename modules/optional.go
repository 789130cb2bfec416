package modules

import (
	"hark/modules/py/value"
)

// Text returns an optional argument, "" if it was not given.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TextOrNil returns an optional argument for results: nil if it was not given.
func TextOrNil(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// LenientBool returns a bool argument that an action reads itself: false for a word that is no bool, otherwise for an
// absent one.
func LenientBool(v any, otherwise bool) bool {
	x := plainly(v)
	if value.IsNone(x) {
		return otherwise
	}
	return value.SaysYes(x)
}

// Printed is output as text. Bytes that are no UTF-8 stay what they are: what a command prints can be written to a file
// again. Python's surrogateescape does so too.
func Printed(b []byte) string { return string(b) }

// FailOr is Fail if err is nil: for a failure that is reported only when nothing worse happened before.
func FailOr(err error, format string, a ...any) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return Fail(format, a...)
}
