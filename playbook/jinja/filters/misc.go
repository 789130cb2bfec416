package filters

import (
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// ansibleMisc are Ansible's other filters.
func ansibleMisc() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"bool":      boolFilter,
		"ternary":   ternary,
		"quote":     quote,
		"mandatory": mandatory,
	}
}

func boolFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("to_bool"); err != nil {
		return nil, err
	}
	switch v := in.(type) {
	case value.None:
		return v, nil
	case value.Bool:
		return v, nil
	case *value.Undefined:
		return nil, &value.UndefinedError{Msg: v.Msg, Undefined: v}
	}
	if s, ok := value.Text(in); ok {
		switch strings.ToLower(s) {
		case "yes", "on", "1", "true":
			return value.Bool(true), nil
		}
		return value.Bool(false), nil
	}
	one, err := value.Equal(in, value.Int(1))
	return value.Bool(one), err
}

func ternary(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("ternary", value.Req("true_val"), value.Req("false_val"), value.Opt("none_val", none))
	if err != nil {
		return nil, err
	}
	if value.IsNone(in) && !value.IsNone(a[2]) {
		return a[2], nil
	}
	ok, err := value.Truth(in)
	if err != nil {
		return nil, err
	}
	if ok {
		return a[0], nil
	}
	return a[1], nil
}

var shellUnsafe = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-zA-Z0-9_@%+=:,./-]`) })

func quote(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s := ""
	if !value.IsNone(in) {
		var err error
		if s, err = value.ToStr(in); err != nil {
			return nil, err
		}
	}
	switch {
	case s == "":
		s = "''"
	case shellUnsafe().MatchString(s):
		s = "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
	}
	return value.SameText(in, s), nil
}

func mandatory(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("mandatory", value.Opt("msg", none))
	if err != nil {
		return nil, err
	}
	u, ok := in.(*value.Undefined)
	if !ok {
		return in, nil
	}
	if !value.IsNone(a[0]) {
		msg, err := value.ToStr(a[0])
		if err != nil {
			return nil, err
		}
		return nil, value.FilterErrorf("%s", msg)
	}
	name := ""
	if u.Name != "" {
		name = value.ReprText(u.Name) + " "
	}
	return nil, value.FilterErrorf("Mandatory variable %s not defined.", name)
}
