package datetime

import (
	"strconv"
	"strings"
	"time"

	"hark/modules/py/value"
)

// parser collects the fields of a text.
type parser struct {
	rest                        string
	year, month, day            int
	hour, minute, second, micro int
	yearDay                     int
	pm, hasPM, aware            bool
	zone                        int // seconds
}

// field reads one directive.
func (p *parser) field(c byte) (ok, known bool) {
	switch c {
	case 'Y':
		return p.digits(4, 4, &p.year), true
	case 'y':
		ok := p.digits(2, 2, &p.year)
		if p.year < 69 {
			p.year += 2000
		} else {
			p.year += 1900
		}
		return ok, true
	case 'm':
		return p.number(1, 12, &p.month), true
	case 'd', 'e':
		return p.number(1, 31, &p.day), true
	case 'H':
		return p.number(0, 23, &p.hour), true
	case 'I':
		return p.number(1, 12, &p.hour), true
	case 'M':
		return p.number(0, 59, &p.minute), true
	case 'S':
		return p.number(0, 61, &p.second), true
	case 'f':
		return p.fraction(), true
	case 'j':
		return p.number(1, 366, &p.yearDay), true
	case 'w', 'u':
		n := 0
		return p.digits(1, 1, &n), true
	case 'p':
		return p.amPM(), true
	case 'a', 'A':
		return p.word(weekdays()) >= 0, true
	case 'b', 'B', 'h':
		n := p.word(months())
		p.month = n%12 + 1
		return n >= 0, true
	case 'z':
		return p.offset(), true
	case 'Z':
		return p.zoneName(), true
	case 'T':
		return p.fields("H:M:S"), true
	case 'D':
		return p.fields("m/d/y"), true
	case 'F':
		return p.fields("Y-m-d"), true
	case 'R':
		return p.fields("H:M"), true
	case 'c':
		return p.fields("a b d H:M:S Y"), true
	case 'x':
		return p.fields("m/d/y"), true
	case 'X':
		return p.fields("H:M:S"), true
	case '%':
		return p.literal("%"), true
	}
	return false, false
}

// fields reads directives, each one letter, and what stands between them.
func (p *parser) fields(pattern string) bool {
	for _, c := range []byte(pattern) {
		switch {
		case c == ' ':
			p.rest = strings.TrimLeft(p.rest, " ")
		case c < 'A':
			if !p.literal(string(c)) {
				return false
			}
		default:
			if ok, _ := p.field(c); !ok {
				return false
			}
		}
	}
	return true
}

func (p *parser) literal(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	p.rest = rest
	return ok
}

func (p *parser) digits(least, most int, into *int) bool {
	n := 0
	for n < len(p.rest) && n < most && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	if n < least {
		return false
	}
	*into, _ = strconv.Atoi(p.rest[:n])
	p.rest = p.rest[n:]
	return true
}

// number reads as many digits as make a number that is not too large.
func (p *parser) number(least, most int, into *int) bool {
	before := p.rest
	for width := len(strconv.Itoa(most)); width > 0; width-- {
		p.rest = before
		if p.digits(1, width, into) && *into >= least && *into <= most {
			return true
		}
	}
	return false
}

func (p *parser) fraction() bool {
	before := len(p.rest)
	if !p.digits(1, 6, &p.micro) {
		return false
	}
	for n := before - len(p.rest); n < 6; n++ {
		p.micro *= 10
	}
	return true
}

func (p *parser) amPM() bool {
	if len(p.rest) < 2 {
		return false
	}
	word := strings.ToLower(p.rest[:2])
	p.rest = p.rest[2:]
	p.hasPM, p.pm = true, word == "pm"
	return word == "am" || word == "pm"
}

func weekdays() []string {
	return []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
		"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
}

func months() []string {
	return []string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
		"october", "november", "december",
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
}

// word reads one of the words, in any case; -1 if none is there.
func (p *parser) word(words []string) int {
	lower := strings.ToLower(p.rest)
	for i, w := range words {
		if strings.HasPrefix(lower, w) {
			p.rest = p.rest[len(w):]
			return i
		}
	}
	return -1
}

func (p *parser) offset() bool {
	p.aware = true
	if strings.HasPrefix(p.rest, "Z") {
		p.rest = p.rest[1:]
		return true
	}
	if p.rest == "" || p.rest[0] != '+' && p.rest[0] != '-' {
		return false
	}
	sign := 1
	if p.rest[0] == '-' {
		sign = -1
	}
	p.rest = p.rest[1:]
	var h, m int
	if !p.digits(2, 2, &h) {
		return false
	}
	p.literal(":")
	if !p.digits(2, 2, &m) {
		return false
	}
	p.zone = sign * (h*3600 + m*60)
	return true
}

func (p *parser) zoneName() bool {
	local, _ := time.Now().Zone()
	for _, name := range []string{"UTC", "GMT", local} {
		if name != "" && strings.HasPrefix(strings.ToUpper(p.rest), strings.ToUpper(name)) {
			p.rest = p.rest[len(name):]
			return true
		}
	}
	return false
}

func (p *parser) made() (*DateTime, error) {
	if p.hasPM {
		p.hour %= 12
		if p.pm {
			p.hour += 12
		}
	}
	if p.yearDay > 0 {
		p.month, p.day = 1, p.yearDay
	}
	loc := time.UTC
	if p.aware && p.zone != 0 {
		loc = time.FixedZone("", p.zone)
	}
	t := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, p.micro*1000, loc)
	if p.yearDay == 0 && t.Day() != p.day || p.year < 1 {
		return nil, value.ValueErrorf("day is out of range for month")
	}
	return &DateTime{Time: t, Aware: p.aware}, nil
}
