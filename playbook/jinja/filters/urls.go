package filters

import (
	"regexp"
	"strconv"
	"strings"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

var urlSplitter = regexp.MustCompile(`^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$`)

func urlSplit(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("split_url", value.Opt("query", value.Str("")), value.Opt("alias", value.Str("urlsplit")))
	if err != nil {
		return nil, err
	}
	s, ok := value.Text(in)
	if !ok {
		return nil, noAttribute(in, "decode")
	}
	want, err := value.ToStr(a[0])
	if err != nil {
		return nil, err
	}
	m := urlSplitter.FindStringSubmatch(s)
	if m == nil {
		m = make([]string, 6)
		m[3] = s
	}
	parts := value.NewDict()
	text := func(name, part string) { parts.SetKey(value.Str(name), value.TextLike(in, part)) }
	text("fragment", m[5])
	login, host, port := authority(m[2])
	parts.SetKey(value.Str("hostname"), orNone(in, strings.ToLower(host)))
	text("netloc", m[2])
	password, hasPassword := "", false
	var username value.Value = none
	if login != "" {
		var name string
		name, password, hasPassword = strings.Cut(login, ":")
		username = value.TextLike(in, name)
	}
	parts.SetKey(value.Str("password"), none)
	if hasPassword {
		parts.SetKey(value.Str("password"), value.TextLike(in, password))
	}
	text("path", m[3])
	parts.SetKey(value.Str("port"), none)
	if port != "" {
		n, err := portNumber(port)
		if err != nil {
			return nil, err
		}
		parts.SetKey(value.Str("port"), n)
	}
	text("query", m[4])
	text("scheme", strings.ToLower(m[1]))
	parts.SetKey(value.Str("username"), username)
	if want == "" {
		return parts, nil
	}
	v, ok := parts.Get(want)
	if !ok {
		return nil, value.FilterErrorf("urlsplit: unknown URL component: %s", want)
	}
	return v, nil
}

func portNumber(digits string) (value.Value, error) {
	if strings.Trim(digits, "0123456789") != "" {
		return nil, value.ValueErrorf("Port could not be cast to integer value as %s", value.ReprText(digits))
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > 65535 {
		return nil, value.ValueErrorf("Port out of range 0-65535")
	}
	return value.Int(n), nil
}

// noAttribute is the error of a method that v does not have; an undefined value has none at all.
func noAttribute(v value.Value, name string) error {
	if u, undefined := v.(*value.Undefined); undefined {
		return u.Use()
	}
	return value.Errorf("AttributeError", "'%s' object has no attribute '%s'", v.Type(), name)
}

func orNone(in value.Value, s string) value.Value {
	if s == "" {
		return none
	}
	return value.TextLike(in, s)
}

// authority parts user:password@host:port.
func authority(s string) (login, host, port string) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		login, s = s[:i], s[i+1:]
	}
	if end := strings.IndexByte(s, ']'); strings.HasPrefix(s, "[") && end > 0 {
		return login, s[1:end], strings.TrimPrefix(s[end+1:], ":")
	}
	host, port, _ = strings.Cut(s, ":")
	return login, host, port
}

func urlDecode(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, ok := value.Text(in)
	if !ok {
		return nil, noAttribute(in, "replace")
	}
	return value.TextLike(in, unquoteURL(s)), nil
}
