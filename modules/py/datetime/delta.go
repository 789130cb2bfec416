package datetime

import (
	"fmt"
	"math"
	"strings"
	"time"

	"hark/modules/py/value"
)

// TimeDelta is Python's timedelta: 0 <= Seconds < 86400, 0 <= Micros < 1000000.
type TimeDelta struct{ Days, Seconds, Micros int64 }

func (d *TimeDelta) normal() *TimeDelta {
	secs := d.Seconds + floorDiv(d.Micros, 1_000_000)
	return &TimeDelta{
		Days:    d.Days + floorDiv(secs, 86400),
		Seconds: secs - floorDiv(secs, 86400)*86400,
		Micros:  d.Micros - floorDiv(d.Micros, 1_000_000)*1_000_000,
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Type names Python's class.
func (*TimeDelta) Type() string { return "timedelta" }

// QualifiedType names Python's class with its module.
func (*TimeDelta) QualifiedType() string { return "datetime.timedelta" }

// Str is like 1 day, 2:03:04.
func (d *TimeDelta) Str() string {
	s := fmt.Sprintf("%d:%02d:%02d", d.Seconds/3600, d.Seconds/60%60, d.Seconds%60)
	if d.Days != 0 {
		unit := "days"
		if d.Days == 1 || d.Days == -1 {
			unit = "day"
		}
		s = fmt.Sprintf("%d %s, %s", d.Days, unit, s)
	}
	if d.Micros != 0 {
		s += fmt.Sprintf(".%06d", d.Micros)
	}
	return s
}

// Repr returns the expression that makes it.
func (d *TimeDelta) Repr() string {
	var parts []string
	for _, p := range []struct {
		name string
		n    int64
	}{{"days", d.Days}, {"seconds", d.Seconds}, {"microseconds", d.Micros}} {
		if p.n != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", p.name, p.n))
		}
	}
	if parts == nil {
		return "datetime.timedelta(0)"
	}
	return "datetime.timedelta(" + strings.Join(parts, ", ") + ")"
}

func (d *TimeDelta) total() float64 {
	return float64(d.Days*86400+d.Seconds) + float64(d.Micros)/1e6
}

// Attr gives Python's attributes.
func (d *TimeDelta) Attr(name string) (value.Value, bool) {
	switch name {
	case "days":
		return value.Int(d.Days), true
	case "seconds":
		return value.Int(d.Seconds), true
	case "microseconds":
		return value.Int(d.Micros), true
	case "total_seconds":
		return method(name, func() value.Value { return value.Float(d.total()) }), true
	}
	return nil, false
}

// Binary adds, subtracts, multiplies and divides.
func (d *TimeDelta) Binary(op string, left, right value.Value) (value.Value, bool, error) {
	l, isLeft := left.(*TimeDelta)
	r, isRight := right.(*TimeDelta)
	switch {
	case isLeft && isRight:
		return deltas(op, l, r)
	case isLeft:
		return l.scaled(op, right)
	case isRight && op == "*":
		return r.scaled(op, left)
	}
	return nil, false, nil
}

func deltas(op string, l, r *TimeDelta) (value.Value, bool, error) {
	switch op {
	case "+":
		return (&TimeDelta{l.Days + r.Days, l.Seconds + r.Seconds, l.Micros + r.Micros}).normal(), true, nil
	case "-":
		return (&TimeDelta{l.Days - r.Days, l.Seconds - r.Seconds, l.Micros - r.Micros}).normal(), true, nil
	case "/", "//":
		if r.total() == 0 {
			return nil, true, value.Errorf("ZeroDivisionError", "division by zero")
		}
		if op == "/" {
			return value.Float(l.total() / r.total()), true, nil
		}
		return value.Int(int64(math.Floor(l.total() / r.total()))), true, nil
	}
	return nil, false, nil
}

func (d *TimeDelta) scaled(op string, by value.Value) (value.Value, bool, error) {
	f, ok := value.AsFloat(by)
	if !ok || op != "*" && op != "/" && op != "//" {
		return nil, false, nil
	}
	if op != "*" && f == 0 {
		return nil, true, value.Errorf("ZeroDivisionError", "integer division or modulo by zero")
	}
	micros := d.total() * 1e6
	if op == "*" {
		micros *= f
	} else {
		micros /= f
	}
	if math.Abs(micros) > 8.64e22 {
		return nil, true, value.Errorf("OverflowError", "days=%d; must have magnitude <= 999999999", int64(micros/8.64e10))
	}
	days := math.Floor(micros / 8.64e10)
	return (&TimeDelta{Days: int64(days), Micros: int64(math.RoundToEven(micros - days*8.64e10))}).normal(), true, nil
}

// Compare orders two timedeltas.
func (d *TimeDelta) Compare(other value.Value) (int, bool) {
	o, ok := other.(*TimeDelta)
	if !ok {
		return 0, false
	}
	a := [3]int64{d.Days, d.Seconds, d.Micros}
	for i, b := range [3]int64{o.Days, o.Seconds, o.Micros} {
		if a[i] < b {
			return -1, true
		}
		if a[i] > b {
			return 1, true
		}
	}
	return 0, true
}

// Key returns the same for equal timedeltas.
func (d *TimeDelta) Key() string { return fmt.Sprint("timedelta", d.Days, d.Seconds, d.Micros) }

// True is false for no time at all.
func (d *TimeDelta) True() bool { return *d != TimeDelta{} }

// Date is Python's date. Here is as with DateTime.
type Date struct {
	Time time.Time
	Here *time.Location
}

func dateOf(t time.Time, here *time.Location) *Date {
	return &Date{time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), here}
}

// ISO is like 2023-05-06.
func (d *Date) ISO() string { return d.Str() }

// Type names Python's class.
func (*Date) Type() string { return "date" }

// QualifiedType names Python's class with its module.
func (*Date) QualifiedType() string { return "datetime.date" }

// Str is like 2023-05-06.
func (d *Date) Str() string { return d.Time.Format("2006-01-02") }

// Repr returns the expression that makes it.
func (d *Date) Repr() string {
	return "datetime.date(" + numbers([]int{d.Time.Year(), int(d.Time.Month()), d.Time.Day()}) + ")"
}

// Attr gives Python's attributes and methods.
func (d *Date) Attr(name string) (value.Value, bool) {
	if name == "isoformat" {
		return method(name, func() value.Value { return value.Str(d.Str()) }), true
	}
	if name == "strftime" {
		return strftimeOf(d.Time, false, local(d.Here)), true
	}
	return dateAttr(d.Time, name)
}

// Binary adds and subtracts days.
func (d *Date) Binary(op string, left, right value.Value) (value.Value, bool, error) {
	l, isLeft := left.(*Date)
	r, isRight := right.(*Date)
	if isLeft && isRight && op == "-" {
		return between(l.Time, r.Time), true, nil
	}
	delta, ok := right.(*TimeDelta)
	if !isLeft {
		delta, ok = left.(*TimeDelta)
	}
	if !ok || op != "+" && (op != "-" || !isLeft) {
		return nil, false, nil
	}
	days := delta.Days
	if op == "-" {
		days = -days
	}
	if days > 4_000_000 || days < -4_000_000 {
		return nil, true, value.Errorf("OverflowError", "date value out of range")
	}
	return &Date{d.Time.AddDate(0, 0, int(days)), d.Here}, true, nil
}

// Compare orders two dates.
func (d *Date) Compare(other value.Value) (int, bool) {
	o, ok := other.(*Date)
	if !ok {
		return 0, false
	}
	return d.Time.Compare(o.Time), true
}

// Key returns the same for equal dates.
func (d *Date) Key() string { return "date" + d.Str() }

// True is always true.
func (*Date) True() bool { return true }

// TimeOfDay is Python's time. Here is as with DateTime.
type TimeOfDay struct {
	Time time.Time
	Here *time.Location
}

// Type names Python's class.
func (*TimeOfDay) Type() string { return "time" }

// QualifiedType names Python's class with its module.
func (*TimeOfDay) QualifiedType() string { return "datetime.time" }

// Str is like 07:08:09.
func (t *TimeOfDay) Str() string { return clock(t.Time) }

// Repr returns the expression that makes it.
func (t *TimeOfDay) Repr() string {
	parts := []int{t.Time.Hour(), t.Time.Minute()}
	us := t.Time.Nanosecond() / 1000
	if t.Time.Second() > 0 || us > 0 {
		parts = append(parts, t.Time.Second())
	}
	if us > 0 {
		parts = append(parts, us)
	}
	return "datetime.time(" + numbers(parts) + ")"
}

// Attr gives Python's attributes.
func (t *TimeOfDay) Attr(name string) (value.Value, bool) {
	switch name {
	case "hour", "minute", "second", "microsecond":
		return (&DateTime{Time: t.Time}).Attr(name)
	case "isoformat":
		return method(name, func() value.Value { return value.Str(t.Str()) }), true
	case "strftime":
		at := time.Date(1900, 1, 1, t.Time.Hour(), t.Time.Minute(), t.Time.Second(), t.Time.Nanosecond(), time.UTC)
		return strftimeOf(at, false, local(t.Here)), true
	}
	return nil, false
}
