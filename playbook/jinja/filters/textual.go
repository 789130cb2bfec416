package filters

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hark/playbook/jinja"
	"hark/playbook/jinja/datetime"
	"hark/playbook/jinja/methods"
	"hark/playbook/jinja/value"
)

// ansibleTexts are Ansible's other filters of text.
func ansibleTexts() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"split":     split,
		"comment":   comment,
		"urlsplit":  urlSplit,
		"urldecode": urlDecode,
	}
}

func split(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	return methods.Of(value.Str(""), "split")(value.TextLike(in, s), args)
}

// commentStyles are the marks of comment: what opens and closes it and what begins each line.
var commentStyles = map[string]map[string]string{
	"plain":  {"decoration": "# "},
	"erlang": {"decoration": "% "},
	"c":      {"decoration": "// "},
	"cblock": {"beginning": "/*", "decoration": " * ", "end": " */"},
	"xml":    {"beginning": "<!--", "decoration": " - ", "end": "-->"},
}

func comment(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	style := "plain"
	if len(args.Pos) > 0 {
		var err error
		if style, err = value.ToStr(args.Pos[0]); err != nil {
			return nil, err
		}
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	known, ok := commentStyles[style]
	if !ok {
		return nil, value.Errorf("KeyError", "%s", value.ReprText(style))
	}
	given := map[string]string{}
	for _, k := range args.Kw {
		if given[k.Name], err = value.ToStr(k.V); err != nil {
			return nil, err
		}
	}
	get := func(name, def string) string {
		if v, ok := given[name]; ok {
			return v
		}
		if v, ok := known[name]; ok {
			return v
		}
		return def
	}
	decoration, newline := get("decoration", ""), get("newline", "\n")
	prefix, postfix := get("prefix", strings.TrimRight(decoration, " \t\n\r\v\f")), get("postfix", strings.TrimRight(decoration, " \t\n\r\v\f"))
	beginning, end := get("beginning", ""), get("end", "")
	times := func(name string) int {
		n, err := strconv.Atoi(get(name, "1"))
		if err != nil || n < 0 || n > 1<<12 {
			return 1
		}
		return n
	}
	var b strings.Builder
	if beginning != "" {
		b.WriteString(beginning + newline)
	}
	if prefix != "" {
		b.WriteString(strings.Repeat(prefix+newline, times("prefix_count")))
	}
	b.WriteString(strings.ReplaceAll(decoration+strings.ReplaceAll(s, newline, newline+decoration), decoration+newline,
		strings.TrimRight(decoration, " \t")+newline))
	if postfix != "" {
		b.WriteString(strings.Repeat(newline+postfix, times("postfix_count")))
	}
	if end != "" {
		b.WriteString(newline + end)
	}
	return value.Str(b.String()), nil
}

var urlSplitter = regexp.MustCompile(`^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$`)

func urlSplit(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("split_url", value.Opt("query", value.Str("")), value.Opt("alias", value.Str("urlsplit")))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
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
	if n, err := strconv.Atoi(port); err == nil {
		parts.SetKey(value.Str("port"), value.Int(n))
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
	s, err := value.ToStr(in)
	return value.TextLike(in, unquoteURL(s)), err
}

// ansibleTimes are Ansible's filters of dates.
func ansibleTimes() map[string]jinja.Filter {
	return map[string]jinja.Filter{"to_datetime": toDatetime, "strftime": strftime}
}

func toDatetime(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("to_datetime", value.Opt("format", value.Str("%Y-%m-%d %H:%M:%S")))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	layout, err := value.ToStr(a[0])
	if err != nil {
		return nil, err
	}
	return datetime.Strptime(s, layout)
}

func strftime(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("strftime", value.Opt("second", none), value.Opt("utc", value.Bool(false)))
	if err != nil {
		return nil, err
	}
	utc, err := truthArg(a[1])
	if err != nil {
		return nil, err
	}
	layout, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	at := time.Now()
	if !value.IsNone(a[0]) {
		seconds, ok := value.AsFloat(a[0])
		if s, isText := value.Text(a[0]); isText {
			seconds, ok = parseFloat(s)
		}
		if !ok {
			text, _ := value.ToStr(a[0])
			return nil, value.FilterErrorf("Invalid value for epoch value (%s)", text)
		}
		at = time.Unix(int64(seconds), 0)
	}
	if utc {
		at = at.UTC()
	}
	return value.Str(datetime.Strftime(at, true, layout)), nil
}

// parseURL is a URL with a scheme of those wanted, if any are.
func parseURL(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	return u, err == nil && u.Scheme != ""
}
