package datetime

import (
	"strings"
	"time"

	"hark/modules/py/value"
)

// Printed returns the date or datetime that prints as text; other text stays what it is.
func Printed(text string) value.Value {
	if t, err := time.Parse("2006-01-02", text); err == nil {
		return dateOf(t, nil)
	}
	day, clock, _ := strings.Cut(text, " ")
	if strings.ContainsAny(clock, "+-") {
		if t, err := time.Parse("2006-01-02 15:04:05-07:00", day+" "+clock); err == nil {
			return &DateTime{Time: t, Aware: true}
		}
	}
	if t, err := time.Parse("2006-01-02 15:04:05", text); err == nil {
		return Naive(t)
	}
	return value.Str(text)
}
