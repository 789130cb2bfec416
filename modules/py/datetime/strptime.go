package datetime

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/modules/py/value"
)

// Strptime reads text by a format as Python's datetime.strptime does: the format becomes a regular expression, which
// tries again with fewer digits where the rest does not fit, and ignores case. here is the local zone, nil that of this
// process.
func Strptime(s, format string, here *time.Location) (*DateTime, error) {
	f, err := readFormat(format, local(here))
	if err != nil {
		return nil, err
	}
	found := f.re.FindStringSubmatchIndex(s)
	if found == nil {
		return nil, value.ValueErrorf("time data %s does not match format %s", value.ReprText(s), value.ReprText(format))
	}
	if found[1] != len(s) {
		return nil, value.ValueErrorf("unconverted data remains: %s", s[found[1]:])
	}
	p := newParsed()
	for i, c := range f.fields {
		if err := p.take(c, s[found[2*i+2]:found[2*i+3]]); err != nil {
			return nil, err
		}
	}
	d, err := p.made()
	if err != nil {
		return nil, err
	}
	d.Here = here
	return d, nil
}

// format is a format of strptime.
type format struct {
	re     *regexp.Regexp
	fields []byte // the letter of each group
}

// directives returns the expressions of the fields that are numbers.
func directives() map[byte]string {
	return map[byte]string{
		'd': `3[01]|[12][0-9]|0[1-9]|[1-9]| [1-9]`, 'f': `[0-9]{1,6}`, 'G': `[0-9]{4}`, 'H': `2[0-3]|[01][0-9]|[0-9]`,
		'I': `1[0-2]|0[1-9]|[1-9]`,
		'j': `36[0-6]|3[0-5][0-9]|[12][0-9]{2}|0[1-9][0-9]|00[1-9]|[1-9][0-9]|0[1-9]|[1-9]`, 'm': `1[0-2]|0[1-9]|[1-9]`,
		'M': `[0-5][0-9]|[0-9]`,
		'S': `6[01]|[0-5][0-9]|[0-9]`, 'U': `5[0-3]|[0-4][0-9]|[0-9]`, 'W': `5[0-3]|[0-4][0-9]|[0-9]`,
		'V': `5[0-3]|0[1-9]|[1-4][0-9]|[0-9]`,
		'u': `[1-7]`, 'w': `[0-6]`, 'y': `[0-9]{2}`, 'Y': `[0-9]{4}`,
		'z': `[+-][0-9]{2}:?[0-5][0-9](?::?[0-5][0-9](?:\.[0-9]{1,6})?)?|(?-i:Z)`,
	}
}

// readFormat makes the expression of a format.
func readFormat(text string, here *time.Location) (*format, error) {
	f, known := &format{}, directives()
	for c, words := range map[byte][]string{'A': weekdays(), 'a': short(weekdays()), 'B': months(), 'b': short(months()),
		'p': {"am", "pm"}, 'Z': zones(here)} {
		words = slices.Clone(words)
		slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
		known[c] = strings.Join(words, "|")
	}
	var re strings.Builder
	re.WriteString("^(?i)")
	rest := strings.NewReplacer("%c", "%a %b %d %H:%M:%S %Y", "%x", "%m/%d/%y", "%X", "%H:%M:%S", "%%", "%%").Replace(text)
	for rest != "" {
		c := rest[0]
		blank := len(rest) - len(strings.TrimLeft(rest, " \t\n\r\f\v"))
		switch {
		case blank > 0:
			re.WriteString(`[\s\v]+`)
			rest = rest[blank:]
			continue
		case c != '%':
			end := strings.IndexAny(rest, "% \t\n\r\f\v")
			if end < 0 {
				end = len(rest)
			}
			re.WriteString(regexp.QuoteMeta(rest[:end]))
			rest = rest[end:]
			continue
		case len(rest) == 1:
			return nil, value.ValueErrorf("stray %% in format '%s'", text)
		}
		c, rest = rest[1], rest[2:]
		pattern, isKnown := known[c]
		switch {
		case c == '%':
			re.WriteByte('%')
			continue
		case !isKnown:
			return nil, value.ValueErrorf("'%c' is a bad directive in format '%s'", c, text)
		}
		if i := slices.Index(f.fields, c); i >= 0 {
			return nil, value.ValueErrorf("redefinition of group name '%c' as group %d; was group %d", c, len(f.fields)+1, i+1)
		}
		f.fields = append(f.fields, c)
		re.WriteString("(" + pattern + ")")
	}
	var err error
	f.re, err = regexp.Compile(re.String())
	return f, err
}

func weekdays() []string {
	return []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
}

func months() []string {
	return []string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
		"october", "november", "december"}
}

func short(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, w[:3])
	}
	return out
}

// zones returns the names that zones may have: libc's tzname has those of winter and summer.
func zones(here *time.Location) []string {
	names, year := []string{"utc", "gmt"}, time.Now().Year()
	for _, month := range []time.Month{time.January, time.July} {
		name, _ := time.Date(year, month, 1, 0, 0, 0, 0, here).Zone()
		names = append(names, regexp.QuoteMeta(strings.ToLower(name)))
	}
	return names
}

// parsed are the fields of a text; -1 stands for what it does not say.
type parsed struct {
	year, isoYear, month, day   int
	hour, minute, second, micro int
	yearDay, week, isoWeek      int
	weekday                     int // from 0, a Monday
	fromSunday                  bool
	pm, twelve                  bool // of the hour
	aware                       bool
	zone                        int // seconds
}

func newParsed() *parsed {
	return &parsed{year: -1, isoYear: -1, month: 1, day: 1, yearDay: -1, week: -1, isoWeek: -1, weekday: -1}
}

// take notes one field.
func (p *parsed) take(c byte, text string) error {
	lower := strings.ToLower(text)
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	switch c {
	case 'y':
		if p.year = n + 1900; n <= 68 {
			p.year += 100
		}
	case 'a':
		p.weekday = slices.Index(short(weekdays()), lower)
	case 'A':
		p.weekday = slices.Index(weekdays(), lower)
	case 'b':
		p.month = slices.Index(short(months()), lower) + 1
	case 'B':
		p.month = slices.Index(months(), lower) + 1
	case 'I':
		p.hour, p.twelve = n, true
	case 'p':
		p.pm = lower == "pm"
	case 'w':
		p.weekday = (n + 6) % 7
	case 'u':
		p.weekday = n - 1
	case 'f':
		p.micro, _ = strconv.Atoi((text + "00000")[:6])
	case 'U', 'W':
		p.week, p.fromSunday = n, c == 'U'
	case 'z':
		return p.offset(text)
	case 'Z': // says nothing without an offset
	default:
		*map[byte]*int{
			'Y': &p.year, 'G': &p.isoYear, 'm': &p.month, 'd': &p.day, 'H': &p.hour, 'M': &p.minute, 'S': &p.second,
			'j': &p.yearDay, 'V': &p.isoWeek,
		}[c] = n
	}
	return nil
}

// offset reads the distance from UTC.
func (p *parsed) offset(text string) error {
	p.aware = true
	if text == "Z" {
		return nil
	}
	digits := text[1:]
	if digits[2] == ':' {
		if len(digits) > 5 && digits[5] != ':' {
			return value.ValueErrorf("Inconsistent use of : in %s", text)
		}
		digits = strings.ReplaceAll(digits, ":", "")
	}
	for i, unit := range []int{3600, 60, 1} {
		if len(digits) >= 2*i+2 {
			n, _ := strconv.Atoi(digits[2*i : 2*i+2])
			p.zone += n * unit
		}
	}
	if text[0] == '-' {
		p.zone = -p.zone
	}
	return nil
}

const dayOfWeek = "a weekday directive ('%A', '%a', '%w', or '%u')."

// check refuses fields that do not go together.
func (p *parsed) check() error {
	switch {
	case p.year < 0 && p.isoYear >= 0 && (p.isoWeek < 0 || p.weekday < 0):
		return value.ValueErrorf("%s", "ISO year directive '%G' must be used with the ISO week directive '%V' and "+dayOfWeek)
	case p.year < 0 && p.isoYear >= 0 && p.yearDay >= 0:
		return value.ValueErrorf("%s",
			"Day of the year directive '%j' is not compatible with ISO year directive '%G'. Use '%Y' instead.")
	case p.year < 0 && p.isoYear >= 0, p.week >= 0 || p.isoWeek < 0:
		return nil
	case p.weekday < 0:
		return value.ValueErrorf("%s", "ISO week directive '%V' must be used with the ISO year directive '%G' and "+dayOfWeek)
	}
	return value.ValueErrorf("%s",
		"ISO week directive '%V' is incompatible with the year directive '%Y'. Use the ISO year '%G' instead.")
}

// made returns the moment that the fields say.
func (p *parsed) made() (*DateTime, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.twelve {
		if p.hour %= 12; p.pm {
			p.hour += 12
		}
	}
	if p.year < 0 {
		p.year = 1900
	}
	if p.yearDay < 0 && p.weekday >= 0 {
		p.byWeek()
	}
	byDay := p.yearDay < 0
	if !byDay {
		p.month, p.day = 1, p.yearDay
	}
	loc := time.UTC
	if p.aware && p.zone != 0 {
		loc = time.FixedZone("", p.zone)
	}
	t := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, p.micro*1000, loc)
	switch {
	case p.year < 1:
		return nil, value.ValueErrorf("year %d is out of range", p.year)
	case p.second > 59:
		return nil, value.ValueErrorf("second must be in 0..59")
	case byDay && t.Day() != p.day:
		return nil, value.ValueErrorf("day is out of range for month")
	}
	return &DateTime{Time: t, Aware: p.aware}, nil
}

// byWeek takes the day from week and weekday.
func (p *parsed) byWeek() {
	monday := func(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }
	switch {
	case p.week >= 0:
		first, day := monday(time.Date(p.year, 1, 1, 0, 0, 0, 0, time.UTC)), p.weekday
		if p.fromSunday {
			first, day = (first+1)%7, (day+1)%7
		}
		p.yearDay = 1 + day - first // of week 0, which may be of the year before
		if p.week > 0 {
			p.yearDay = 1 + (7-first)%7 + 7*(p.week-1) + day
		}
		date := time.Date(p.year, 1, p.yearDay, 0, 0, 0, 0, time.UTC)
		p.year, p.yearDay = date.Year(), date.YearDay()
	case p.isoYear >= 0 && p.isoWeek >= 0:
		fourth := time.Date(p.isoYear, 1, 4, 0, 0, 0, 0, time.UTC) // is in week 1
		date := fourth.AddDate(0, 0, 7*(p.isoWeek-1)+p.weekday-monday(fourth))
		p.year, p.yearDay = date.Year(), date.YearDay()
	}
}
