package filters

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

var urlSplitter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$`)
})

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
	m := urlSplitter().FindStringSubmatch(s)
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
	return value.Errorf("AttributeError", "'%s' object has no attribute '%s'", value.NativeType(v), name)
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

// quoteURL is urllib's quote: letters, digits and _.-~ stay, and what safe holds.
func quoteURL(s, safe string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c < 0x80 && isLetter(c) || strings.IndexByte("_.-~"+safe, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func urlEncode(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	if value.IsText(in) || !value.IsMapping(in) && !value.IsSequence(in) {
		s, err := value.ToStr(in)
		return value.Str(quoteURL(s, "/")), err
	}
	var pairs []value.Value
	if value.IsMapping(in) {
		v, err := itemsFilter(nil, in, nil)
		if err != nil {
			return nil, err
		}
		pairs = v.(*value.List).Items
	} else {
		var err error
		if pairs, err = value.Elements(in); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, p := range pairs {
		kv, err := value.Elements(p)
		if err != nil {
			return nil, err
		}
		if len(kv) != 2 {
			return nil, value.ValueErrorf("not enough values to unpack (expected 2, got %d)", len(kv))
		}
		var t [2]string
		for i, v := range kv {
			s, err := value.ToStr(v)
			if err != nil {
				return nil, err
			}
			t[i] = strings.ReplaceAll(quoteURL(s, " "), " ", "+")
		}
		out = append(out, t[0]+"="+t[1])
	}
	return value.Str(strings.Join(out, "&")), nil
}

// unquoteURL is urllib's unquote_plus.
func unquoteURL(s string) string {
	if out, err := url.QueryUnescape(s); err == nil {
		return out
	}
	return strings.ReplaceAll(s, "+", " ")
}
