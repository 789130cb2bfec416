package filters

import (
	"time"

	"hark/modules/py/datetime"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleTimes are Ansible's filters of dates.
func ansibleTimes() map[string]jinja.Filter {
	return map[string]jinja.Filter{"to_datetime": toDatetime, "strftime": strftime}
}

func toDatetime(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("to_datetime", value.Opt("format", value.Str("%Y-%m-%d %H:%M:%S")))
	if err != nil {
		return nil, err
	}
	s, ok := value.Text(in)
	if !ok {
		return nil, value.TypeErrorf("strptime() argument 1 must be str, not %s", argumentType(in))
	}
	layout, ok := value.Text(a[0])
	if !ok {
		return nil, value.TypeErrorf("strptime() argument 2 must be str, not %s", argumentType(a[0]))
	}
	return datetime.Strptime(s, layout, c.Now().Location())
}

// argumentType names a type as Python's C code does.
func argumentType(v value.Value) string {
	if value.IsNone(v) {
		return "None"
	}
	return v.Type()
}

// gmt is UTC under the name that libc has for it.
func gmt() *time.Location { return time.FixedZone("GMT", 0) }

func strftime(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("strftime", value.Opt("second", none), value.Opt("utc", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	utc, err := value.Truth(a[1])
	if err != nil {
		return nil, err
	}
	layout, ok := value.Text(in)
	if !ok {
		return nil, value.TypeErrorf("strftime() argument 1 must be str, not %s", in.Type())
	}
	at := c.Now()
	here := at.Location()
	if !value.IsNone(a[0]) {
		seconds, ok := value.AsFloat(a[0])
		if s, isText := value.Text(a[0]); isText {
			seconds, ok = parseFloat(s)
		}
		if !ok {
			text, _ := value.ToStr(a[0])
			return nil, value.FilterErrorf("Invalid value for epoch value (%s)", text)
		}
		at = time.Unix(int64(seconds), 0).In(here)
	}
	if utc {
		at = at.In(gmt())
	}
	return value.Str(datetime.StrftimeHere(at, true, here, layout)), nil
}
