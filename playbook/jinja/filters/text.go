package filters

import (
	"strings"
	"unicode"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
)

// textFilters are Jinja's filters of text.
func textFilters() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"string":     stringFilter,
		"lower":      textFilter(methods.Lower),
		"upper":      textFilter(methods.Upper),
		"capitalize": textFilter(methods.Capitalize),
		"title":      textFilter(titleWords),
		"trim":       trim,
		"replace":    replace,
		"join":       join,
		"escape":     escape,
		"e":          escape,
		"safe":       safe,
	}
}

// textFilter returns a filter without arguments that changes text; other values are printed first.
func textFilter(f func(string) string) jinja.Filter {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
		if _, err := args.Bind("do_" + c.Name); err != nil {
			return nil, err
		}
		s, err := value.ToStr(in)
		if err != nil {
			return nil, err
		}
		return value.TextLike(in, f(s)), nil
	}
}

// stringFilter makes text that is never taken for a literal.
func stringFilter(c *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("soft_str"); err != nil {
		return nil, err
	}
	if value.IsOmit(in) || value.IsText(in) && c.Env.Unknown == nil { // text keeps its mark since ansible-core 2.19
		return in, nil
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	return value.NativeStr(s), nil
}

// titleWords starts words at blanks, hyphens and opening brackets with a capital.
func titleWords(s string) string {
	var b strings.Builder
	start := true
	for _, r := range s {
		switch {
		case strings.ContainsRune("-({[<", r) || methods.IsSpace(r):
			b.WriteRune(r)
			start = true
		case start:
			b.WriteRune(unicode.ToUpper(r))
			start = false
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func trim(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_trim", value.Opt("chars", none))
	if err != nil {
		return nil, err
	}
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	return methods.Of(value.Str(""), "strip")(value.TextLike(in, s), &value.Args{Pos: a})
}

func replace(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_replace", value.Req("old"), value.Req("new"), value.Opt("count", none))
	if err != nil {
		return nil, err
	}
	var t [3]string
	for i, v := range []value.Value{in, a[0], a[1]} {
		if t[i], err = value.ToStr(v); err != nil {
			return nil, err
		}
	}
	n := int64(-1)
	if !value.IsNone(a[2]) {
		var ok bool
		if n, ok = value.AsInt(a[2]); !ok {
			return nil, value.TypeErrorf("'%s' object cannot be interpreted as an integer", a[2].Type())
		}
	}
	if len(t[0])*max(1, len(t[2])) > 256<<20 {
		return nil, value.TooLong()
	}
	return value.TextLike(in, strings.Replace(t[0], t[1], t[2], int(n))), nil
}

func join(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_join", value.Opt("d", value.Str("")), value.Opt("attribute", none))
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, err
	}
	g := newGetter(a[1], none)
	sep, err := value.ToStr(a[0])
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	unsafe := false
	for i, item := range items {
		if item, err = g.get(item); err != nil {
			return nil, err
		}
		s, err := value.ToStr(item)
		if err != nil {
			return nil, err
		}
		unsafe = unsafe || value.IsUnsafe(item)
		if b.Len()+len(sep)+len(s) > value.MaxText {
			return nil, value.TooLong()
		}
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(s)
	}
	if unsafe {
		return value.UnsafeStr(b.String()), nil
	}
	return value.Str(b.String()), nil
}

func escape(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	if m, ok := in.(value.Markup); ok {
		return m, nil
	}
	s, err := value.ToStr(in)
	return value.Markup(value.EscapeHTML(s)), err
}

func safe(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	return value.Markup(s), err
}
