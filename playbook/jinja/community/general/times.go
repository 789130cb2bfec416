package general

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// timeUnits returns the units with what they are in milliseconds; the names that stand for them follow, all as
// Ansible lists them.
func timeUnits() (short []string, long [][2]string) {
	return []string{"ms", "s", "m", "h", "d", "w", "mo", "y"}, [][2]string{
		{"millisecond", "ms"}, {"msec", "ms"}, {"msecond", "ms"}, {"sec", "s"}, {"second", "s"}, {"hour", "h"}, {"min", "m"},
		{"minute", "m"}, {"day", "d"}, {"week", "w"}, {"month", "mo"}, {"year", "y"},
	}
}

// measure is how long units are; months and years may be given.
type measure struct{ month, year value.Value }

// factor returns a unit in milliseconds.
func (m measure) factor(unit string) (value.Value, error) {
	const day = 24 * 60 * 60 * 1000
	switch unit {
	case "ms":
		return value.Int(1), nil
	case "s":
		return value.Int(1000), nil
	case "m":
		return value.Int(60 * 1000), nil
	case "h":
		return value.Int(60 * 60 * 1000), nil
	case "d":
		return value.Int(day), nil
	case "w":
		return value.Int(7 * day), nil
	case "mo":
		return value.Binary("*", value.Int(day), m.month)
	}
	return value.Binary("*", value.Int(day), m.year)
}

// unitOf returns the short name of a unit; false if there is none.
func unitOf(name string) (string, bool) {
	short, long := timeUnits()
	for _, l := range long {
		if l[0] == strings.TrimRight(name, "s") {
			return l[1], true
		}
	}
	for _, s := range short {
		if s == name {
			return s, true
		}
	}
	return name, false
}

func toTimeUnit(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	unit := text("ms")
	if len(args.Pos) > 1 {
		return nil, value.TypeErrorf("to_time_unit() takes from 1 to 2 positional arguments but %d were given",
			len(args.Pos)+1)
	}
	if len(args.Pos) == 1 {
		unit = args.Pos[0]
	}
	var rest []jinja.Kwarg
	for _, k := range args.Kw {
		if k.Name == "unit" {
			unit = k.V
		} else {
			rest = append(rest, k)
		}
	}
	name, err := value.ToStr(unit)
	if err != nil {
		return nil, err
	}
	return inUnit(in, name, rest)
}

// timeIn is to_seconds and its like.
func timeIn(name, unit string) jinja.Filter {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		if len(args.Pos) > 0 {
			return nil, value.TypeErrorf("%s() takes 1 positional argument but %d were given", name, len(args.Pos)+1)
		}
		return inUnit(in, unit, args.Kw)
	}
}

var timePart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-?\d+)(\w+)`) })

func inUnit(in value.Value, name string, kw []jinja.Kwarg) (value.Value, error) {
	s, ok := value.Text(in)
	if ok && s == "0" {
		return value.Int(0), nil
	}
	unit, known := unitOf(name)
	if !known {
		return nil, unknownUnit(name)
	}
	m, err := measureOf(kw)
	if err != nil {
		return nil, err
	}
	if !ok {
		if u, undefined := in.(*value.Undefined); undefined {
			return nil, u.Use()
		}
		return nil, value.Errorf("AttributeError", "'%s' object has no attribute 'split'", in.Type())
	}
	total, err := m.sum(s)
	if err != nil {
		return nil, err
	}
	factor, err := m.factor(unit)
	if err != nil {
		return nil, err
	}
	quotient, err := value.Binary("/", total, factor)
	if err != nil {
		return nil, err
	}
	f, _ := value.AsFloat(quotient)
	out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', 12, 64), 64)
	return value.Float(out), err
}

func unknownUnit(name string) error {
	short, long := timeUnits()
	var names []string
	for _, l := range long {
		names = append(names, l[0])
	}
	return value.FilterErrorf("to_time_unit() can not convert to the following unit: %s. Available units (singular or "+
		"plural): %s. Available short units: %s",
		name, strings.Join(names, ", "), strings.Join(short, ", "))
}

func measureOf(kw []jinja.Kwarg) (measure, error) {
	m := measure{month: value.Int(30), year: value.Int(365)}
	var unknown []string
	for _, k := range kw {
		switch k.Name {
		case "month":
			m.month = k.V
		case "year":
			m.year = k.V
		default:
			unknown = append(unknown, k.Name)
		}
	}
	if len(unknown) > 0 {
		return m, value.FilterErrorf("to_time_unit() got unknown keyword arguments: %s", strings.Join(unknown, ", "))
	}
	return m, nil
}

// sum returns a time of several parts, as "1h 30m", in milliseconds.
func (m measure) sum(s string) (value.Value, error) {
	var total value.Value = value.Int(0)
	for _, word := range strings.Fields(s) {
		part := timePart().FindStringSubmatch(word)
		if part == nil {
			return nil, value.FilterErrorf("to_time_unit() can not interpret following string: %s", s)
		}
		unit, known := unitOf(part[2])
		if !known {
			return nil, value.FilterErrorf("to_time_unit() can not interpret following string: %s", s)
		}
		n, ok := value.ParseInt(part[1], 10)
		if !ok {
			return nil, value.FilterErrorf("to_time_unit() can not interpret following string: %s", s)
		}
		factor, err := m.factor(unit)
		if err != nil {
			return nil, err
		}
		length, err := value.Binary("*", value.NewInt(n), factor)
		if err != nil {
			return nil, err
		}
		if total, err = value.Binary("+", total, length); err != nil {
			return nil, err
		}
	}
	return total, nil
}
