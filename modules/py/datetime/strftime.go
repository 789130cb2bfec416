package datetime

import (
	"fmt"
	"strings"
	"time"
)

// Strftime formats as glibc's strftime in the C locale. Zone fields are empty for a naive time.
func Strftime(t time.Time, zone bool, format string) string {
	return StrftimeHere(t, zone, t.Location(), format)
}

// StrftimeHere is Strftime where the local zone is not that of the time: for libc the seconds since 1970 (%s) are
// those at which the clocks of the local zone show what t shows.
func StrftimeHere(t time.Time, zone bool, here *time.Location, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		flag := byte(0)
		if strings.IndexByte("-_0^#", format[i]) >= 0 && i+1 < len(format) {
			flag = format[i]
			i++
		}
		if (format[i] == 'E' || format[i] == 'O') && i+1 < len(format) {
			i++
		}
		s, ok := field(t, zone, format[i])
		if format[i] == 's' && here != t.Location() {
			s = fmt.Sprint(shownIn(here, t).Unix())
		}
		if !ok {
			b.WriteByte('%')
			if flag != 0 {
				b.WriteByte(flag)
			}
			b.WriteByte(format[i])
			continue
		}
		b.WriteString(flagged(s, flag))
	}
	return b.String()
}

func flagged(s string, flag byte) string {
	trimmed := strings.TrimLeft(s, "0 ")
	if trimmed == "" && s != "" {
		trimmed = s[len(s)-1:]
	}
	switch flag {
	case '-':
		return trimmed
	case '_':
		return strings.Repeat(" ", len(s)-len(trimmed)) + trimmed
	case '0':
		return strings.Repeat("0", len(s)-len(trimmed)) + trimmed
	case '^':
		return strings.ToUpper(s)
	case '#':
		if s == strings.ToUpper(s) {
			return strings.ToLower(s)
		}
		return strings.ToUpper(s)
	}
	return s
}

func field(t time.Time, zone bool, c byte) (string, bool) {
	two := func(n int) (string, bool) { return fmt.Sprintf("%02d", n), true }
	hour12 := (t.Hour()+11)%12 + 1
	switch c {
	case 'a':
		return t.Format("Mon"), true
	case 'A':
		return t.Format("Monday"), true
	case 'b', 'h':
		return t.Format("Jan"), true
	case 'B':
		return t.Format("January"), true
	case 'c':
		return t.Format("Mon Jan _2 15:04:05 2006"), true
	case 'C':
		return two(t.Year() / 100)
	case 'd':
		return two(t.Day())
	case 'D', 'x':
		return t.Format("01/02/06"), true
	case 'e':
		return fmt.Sprintf("%2d", t.Day()), true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'F':
		return t.Format("2006-01-02"), true
	case 'H':
		return two(t.Hour())
	case 'I':
		return two(hour12)
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", hour12), true
	case 'm':
		return two(int(t.Month()))
	case 'M':
		return two(t.Minute())
	case 'n':
		return "\n", true
	case 'p':
		return t.Format("PM"), true
	case 'P':
		return t.Format("pm"), true
	case 'r':
		return t.Format("03:04:05 PM"), true
	case 'R':
		return t.Format("15:04"), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'S':
		return two(t.Second())
	case 't':
		return "\t", true
	case 'T', 'X':
		return t.Format("15:04:05"), true
	case 'y':
		return two(t.Year() % 100)
	case 'Y':
		return fmt.Sprint(t.Year()), true
	case '%':
		return "%", true
	}
	return weekOrZone(t, zone, c)
}

func weekOrZone(t time.Time, zone bool, c byte) (string, bool) {
	weekday := int(t.Weekday())
	year, week := t.ISOWeek()
	switch c {
	case 'G':
		return fmt.Sprint(year), true
	case 'g':
		return fmt.Sprintf("%02d", year%100), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'u':
		return fmt.Sprint((weekday+6)%7 + 1), true
	case 'w':
		return fmt.Sprint(weekday), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-weekday)/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(weekday+6)%7)/7), true
	case 'z':
		if !zone {
			return "", true
		}
		return offset(t, ""), true
	case 'Z':
		if !zone {
			return "", true
		}
		name, _ := t.Zone()
		return name, true
	}
	return "", false
}
