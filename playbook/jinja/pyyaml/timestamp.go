package pyyaml

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"hark/modules/py/value"
)

var timeParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})` +
		`(?:\.([0-9]*))?(?:[ \t]*(?:(Z)|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?)?$`)
})

// parseTime reads a date or a time. The value is the text that Python's objects for them print, which is what nearly
// every use of them sees.
func parseTime(s string, text value.Kind) (value.Value, bool) {
	m := timeParts().FindStringSubmatch(s)
	if m == nil {
		return nil, false
	}
	year, month, day := digits(m[1]), digits(m[2]), digits(m[3])
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if date.Day() != day || int(date.Month()) != month || year == 0 {
		return nil, false
	}
	out := date.Format("2006-01-02")
	if m[4] == "" {
		return text.TextAs(out), true
	}
	hour, minute, second := digits(m[4]), digits(m[5]), digits(m[6])
	if hour > 23 || minute > 59 || second > 59 {
		return nil, false
	}
	out += fmt.Sprintf(" %02d:%02d:%02d", hour, minute, second)
	if fraction := digits((m[7] + "000000")[:6]); fraction != 0 {
		out += fmt.Sprintf(".%06d", fraction)
	}
	switch {
	case m[8] != "":
		out += "+00:00"
	case m[9] != "":
		out += fmt.Sprintf("%s%02d:%02d", m[9], digits(m[10]), digits(m[11]))
	}
	return text.TextAs(out), true
}

func digits(s string) int {
	n, _ := strconv.Atoi(s) // the pattern lets only short runs of digits through
	return n
}
