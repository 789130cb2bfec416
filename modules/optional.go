package modules

import (
	"strings"

	"hark/modules/py/value"
)

// Text is an optional argument, "" if it was not given.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TextOrNil is an optional argument as results have it: nil if it was not given.
func TextOrNil(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// LenientBool is a bool argument that an action reads itself: a word that is none is false, an absent one otherwise.
func LenientBool(v any, otherwise bool) bool {
	x := plainly(v)
	if value.IsNone(x) {
		return otherwise
	}
	return value.SaysYes(x)
}

// ValidText is output as text: what is no UTF-8 is replaced.
func ValidText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// FailOr is Fail where err is nil: for a failure that is reported only when nothing worse happened on the way to it.
func FailOr(err error, format string, a ...any) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return Fail(format, a...)
}
