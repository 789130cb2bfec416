// Package datetime holds Python's datetime, date, time of day and timedelta as values of templates, with strftime and
// strptime.
package datetime

import (
	"fmt"
	"math"
	"strings"
	"time"

	"hark/modules/py/localtime"
	"hark/modules/py/value"
)

// DateTime is Python's datetime. Naive ones have no time zone: their Time is kept in UTC.
type DateTime struct {
	Time  time.Time
	Aware bool
	// Here is the zone in which a naive one is taken for a moment: that of whoever renders. Nil is this process's.
	Here *time.Location
}

// Naive returns the datetime that a clock in t's zone shows.
func Naive(t time.Time) *DateTime {
	return &DateTime{Time: time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(),
		t.Nanosecond()/1000*1000, time.UTC)}
}

// Type names Python's class.
func (*DateTime) Type() string { return "datetime" }

// QualifiedType names Python's class with its module.
func (*DateTime) QualifiedType() string { return "datetime.datetime" }

// Str is like 2023-05-06 07:08:09.
func (d *DateTime) Str() string { return d.iso(" ") }

// ISO is like 2023-05-06T07:08:09.
func (d *DateTime) ISO() string { return d.iso("T") }

func (d *DateTime) iso(sep string) string {
	s := d.Time.Format("2006-01-02") + sep + clock(d.Time)
	if d.Aware {
		s += offset(d.Time, ":")
	}
	return s
}

func clock(t time.Time) string {
	s := t.Format("15:04:05")
	if us := t.Nanosecond() / 1000; us > 0 {
		s += fmt.Sprintf(".%06d", us)
	}
	return s
}

func offset(t time.Time, sep string) string {
	_, secs := t.Zone()
	sign := "+"
	if secs < 0 {
		sign, secs = "-", -secs
	}
	return fmt.Sprintf("%s%02d%s%02d", sign, secs/3600, sep, secs/60%60)
}

// Repr returns the expression that makes it.
func (d *DateTime) Repr() string {
	t := d.Time
	parts := []int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute()}
	us := t.Nanosecond() / 1000
	if t.Second() > 0 || us > 0 {
		parts = append(parts, t.Second())
	}
	if us > 0 {
		parts = append(parts, us)
	}
	s := "datetime.datetime(" + numbers(parts)
	if d.Aware {
		_, secs := t.Zone()
		if secs == 0 {
			return s + ", tzinfo=datetime.timezone.utc)"
		}
		return s + ", tzinfo=datetime.timezone(" + (&TimeDelta{Seconds: int64(secs)}).normal().Repr() + "))"
	}
	return s + ")"
}

func numbers(parts []int) string {
	texts := make([]string, len(parts))
	for i, n := range parts {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, ", ")
}

// Attr gives Python's attributes and methods.
func (d *DateTime) Attr(name string) (value.Value, bool) {
	if v, ok := dateAttr(d.Time, name); ok {
		return v, true
	}
	switch name {
	case "strftime":
		return strftimeOf(d.Time, d.Aware, d.here()), true
	case "hour":
		return value.Int(d.Time.Hour()), true
	case "minute":
		return value.Int(d.Time.Minute()), true
	case "second":
		return value.Int(d.Time.Second()), true
	case "microsecond":
		return value.Int(d.Time.Nanosecond() / 1000), true
	case "tzinfo":
		if d.Aware {
			return value.Str(d.zone()), true
		}
		return value.None{}, true
	case "date":
		return method(name, func() value.Value { return dateOf(d.Time, d.Here) }), true
	case "time":
		return method(name, func() value.Value { return &TimeOfDay{Time: d.Time, Here: d.Here} }), true
	case "timestamp":
		return method(name, func() value.Value { return value.Float(float64(d.instant().UnixMicro()) / 1e6) }), true
	case "utcoffset":
		return method(name, d.utcOffset), true
	case "tzname":
		return method(name, func() value.Value {
			if d.Aware {
				return value.Str(d.zone())
			}
			return value.None{}
		}), true
	case "isoformat":
		return &value.Func{Name: name, Fn: d.isoFormat}, true
	case "replace":
		return &value.Func{Name: name, Fn: d.replace}, true
	case "astimezone":
		return method(name, func() value.Value { return &DateTime{Time: d.instant().In(d.here()), Aware: true} }), true
	}
	return nil, false
}

func (d *DateTime) zone() string {
	name, secs := d.Time.Zone()
	if secs == 0 {
		return "UTC"
	}
	if name == "" || strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + offset(d.Time, ":")
	}
	return name
}

// instant returns the moment: a naive datetime is in the local zone.
func (d *DateTime) instant() time.Time {
	if d.Aware {
		return d.Time
	}
	return shownIn(d.here(), d.Time)
}

func (d *DateTime) here() *time.Location { return local(d.Here) }

// local returns a zone, or that of this process.
func local(here *time.Location) *time.Location {
	if here == nil {
		return localtime.Zone()
	}
	return here
}

// shownIn returns the moment at which the clocks of a zone show what t shows.
func shownIn(here *time.Location, t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), here)
}

func (d *DateTime) utcOffset() value.Value {
	if !d.Aware {
		return value.None{}
	}
	_, secs := d.Time.Zone()
	return (&TimeDelta{Seconds: int64(secs)}).normal()
}

func (d *DateTime) isoFormat(args *value.Args) (value.Value, error) {
	a, err := args.BindCall("isoformat", value.Opt("sep", value.Str("T")), value.Opt("timespec", value.Str("auto")))
	if err != nil {
		return nil, err
	}
	sep, ok := value.Text(a[0])
	if !ok {
		return nil, value.TypeErrorf("isoformat() argument 1 must be a unicode character, not %s", a[0].Type())
	}
	layout := map[string]string{"hours": "15", "minutes": "15:04", "seconds": "15:04:05", "milliseconds": "15:04:05.000",
		"microseconds": "15:04:05.000000"}
	spec, _ := value.Text(a[1])
	if spec == "auto" {
		return value.Str(d.iso(sep)), nil
	}
	if layout[spec] == "" {
		return nil, value.ValueErrorf("Unknown timespec value")
	}
	s := d.Time.Format("2006-01-02") + sep + d.Time.Format(layout[spec])
	if d.Aware {
		s += offset(d.Time, ":")
	}
	return value.Str(s), nil
}

func (d *DateTime) replace(args *value.Args) (value.Value, error) {
	t := d.Time
	now := []int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond() / 1000}
	names := []string{"year", "month", "day", "hour", "minute", "second", "microsecond"}
	params := make([]value.Param, len(names))
	for i, n := range names {
		params[i] = value.Opt(n, value.Int(now[i]))
	}
	a, err := args.BindCall("replace", params...)
	if err != nil {
		return nil, err
	}
	for i, v := range a {
		n, ok := value.AsInt(v)
		if !ok {
			return nil, value.TypeErrorf("'%s' object cannot be interpreted as an integer", v.Type())
		}
		now[i] = int(n)
	}
	made := time.Date(now[0], time.Month(now[1]), now[2], now[3], now[4], now[5], now[6]*1000, t.Location())
	if made.Year() != now[0] || int(made.Month()) != now[1] || made.Day() != now[2] || made.Hour() != now[3] {
		return nil, value.ValueErrorf("day is out of range for month")
	}
	return &DateTime{Time: made, Aware: d.Aware, Here: d.Here}, nil
}

// Binary adds and subtracts.
func (d *DateTime) Binary(op string, left, right value.Value) (value.Value, bool, error) {
	l, isLeft := left.(*DateTime)
	if !isLeft {
		delta, ok := left.(*TimeDelta)
		if !ok || op != "+" {
			return nil, false, nil
		}
		return d.plus(delta, 1)
	}
	switch r := right.(type) {
	case *TimeDelta:
		if op == "+" {
			return l.plus(r, 1)
		}
		if op == "-" {
			return l.plus(r, -1)
		}
	case *DateTime:
		if op != "-" {
			return nil, false, nil
		}
		if l.Aware != r.Aware {
			return nil, true, value.TypeErrorf("can't subtract offset-naive and offset-aware datetimes")
		}
		return between(l.Time, r.Time), true, nil
	}
	return nil, false, nil
}

func (d *DateTime) plus(delta *TimeDelta, sign int64) (value.Value, bool, error) {
	if delta.Days > 4_000_000 || delta.Days < -4_000_000 {
		return nil, true, value.Errorf("OverflowError", "date value out of range")
	}
	t := d.Time.AddDate(0, 0, int(sign*delta.Days)).
		Add(time.Duration(sign) * (time.Duration(delta.Seconds)*time.Second + time.Duration(delta.Micros)*time.Microsecond))
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, true, value.Errorf("OverflowError", "date value out of range")
	}
	return &DateTime{Time: t, Aware: d.Aware, Here: d.Here}, true, nil
}

// Compare orders two datetimes.
func (d *DateTime) Compare(other value.Value) (int, bool) {
	o, ok := other.(*DateTime)
	if !ok || o.Aware != d.Aware {
		return 0, false
	}
	return d.Time.Compare(o.Time), true
}

// Key returns the same for equal datetimes.
func (d *DateTime) Key() string { return fmt.Sprint("datetime", d.Aware, d.Time.UnixMicro()) }

// True is always true.
func (*DateTime) True() bool { return true }

// Format is strftime, or Str without a format.
func (d *DateTime) Format(spec string) (string, error) {
	if spec == "" {
		return d.Str(), nil
	}
	return StrftimeHere(d.Time, d.Aware, d.here(), spec), nil
}

func between(a, b time.Time) *TimeDelta {
	secs := a.Unix() - b.Unix()
	micros := int64(a.Nanosecond()/1000 - b.Nanosecond()/1000)
	return (&TimeDelta{Seconds: secs, Micros: micros}).normal()
}

func method(name string, f func() value.Value) value.Value {
	return &value.Func{Name: name, Fn: func(args *value.Args) (value.Value, error) {
		if _, err := args.BindMethod(name, 0); err != nil {
			return nil, err
		}
		return f(), nil
	}}
}

// dateAttr returns what dates and datetimes share.
func dateAttr(t time.Time, name string) (value.Value, bool) {
	switch name {
	case "year":
		return value.Int(t.Year()), true
	case "month":
		return value.Int(t.Month()), true
	case "day":
		return value.Int(t.Day()), true
	case "weekday":
		return method(name, func() value.Value { return value.Int((t.Weekday() + 6) % 7) }), true
	case "isoweekday":
		return method(name, func() value.Value { return value.Int((t.Weekday()+6)%7 + 1) }), true
	case "isocalendar":
		return method(name, func() value.Value {
			y, w := t.ISOWeek()
			return &value.Tuple{Items: []value.Value{value.Int(y), value.Int(w), value.Int((t.Weekday()+6)%7 + 1)},
				Names: []string{"year", "week", "weekday"}}
		}), true
	case "toordinal":
		return method(name, func() value.Value { return value.Int(ordinal(t)) }), true
	case "ctime":
		return method(name, func() value.Value { return value.Str(t.Format("Mon Jan _2 15:04:05 2006")) }), true
	}
	return nil, false
}

// strftimeOf returns the method strftime of what shows t.
func strftimeOf(t time.Time, zone bool, here *time.Location) value.Value {
	return &value.Func{Name: "strftime", Fn: func(args *value.Args) (value.Value, error) {
		a, err := args.BindCall("strftime", value.Req("format"))
		if err != nil {
			return nil, err
		}
		format, ok := value.Text(a[0])
		if !ok {
			return nil, value.TypeErrorf("strftime() argument 1 must be str, not %s", a[0].Type())
		}
		return value.Str(StrftimeHere(t, zone, here, format)), nil
	}}
}

func ordinal(t time.Time) int64 {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return int64(math.Floor(float64(day.Unix())/86400)) + 719163
}
