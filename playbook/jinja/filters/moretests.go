package filters

import (
	"net/url"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
)

// numberTests are Jinja's tests of numbers, names and identity.
func numberTests() map[string]jinja.Test {
	return map[string]jinja.Test{
		"odd":         parity(1),
		"even":        parity(0),
		"divisibleby": divisible,
		"integer": is(func(v value.Value) bool {
			_, isBool := v.(value.Bool)
			return value.AsBig(v) != nil && !isBool
		}),
		"float":    is(func(v value.Value) bool { _, ok := v.(value.Float); return ok }),
		"lower":    letters(methods.Lower),
		"upper":    letters(methods.Upper),
		"sameas":   sameAs,
		"callable": callable,
		"escaped":  is(func(v value.Value) bool { _, ok := v.(value.Markup); return ok }),
		"filter":   known("filter", func(c *jinja.Call, name string) bool { return c.Env.Filters[name] != nil }),
		"test":     known("test", func(c *jinja.Call, name string) bool { return c.Env.Tests[name] != nil }),
	}
}

// callable holds for undefined values too: their class has what calls them, only to fail.
func callable(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
	switch in.(type) {
	case *value.Func, *value.Undefined, jinja.Callable:
		return true, nil
	}
	return false, nil
}

func modulo(in value.Value, n value.Value) (value.Value, error) { return value.Binary("%", in, n) }

func parity(want int) jinja.Test {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
		rest, err := modulo(in, value.Int(2))
		if err != nil {
			return false, err
		}
		return value.Equal(rest, value.Int(want))
	}
}

func divisible(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
	a, err := args.Bind("test_divisibleby", value.Req("num"))
	if err != nil {
		return false, err
	}
	rest, err := modulo(in, a[0])
	if err != nil {
		return false, err
	}
	return value.Equal(rest, value.Int(0))
}

// letters tests that text has some letters and that f does not change it.
func letters(f func(string) string) jinja.Test {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
		s, err := value.ToStr(in)
		return f(s) == s && methods.Lower(s) != methods.Upper(s), err
	}
}

// sameAs is identity: containers are the same object, simple values are equal and of one type.
func sameAs(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
	a, err := args.Bind("test_sameas", value.Req("other"))
	if err != nil {
		return false, err
	}
	switch in.(type) {
	case value.None, value.Bool, value.Int:
		return in == a[0], nil
	}
	if value.IsText(in) && value.IsText(a[0]) {
		return value.Equal(in, a[0])
	}
	return comparable(in) && in == a[0], nil
}

func comparable(v value.Value) bool {
	_, isBytes := v.(value.Bytes)
	return !isBytes
}

// known asks for a plug-in by name. Where Ansible's loader has none it fails, it does not say no.
func known(kind string, has func(c *jinja.Call, name string) bool) jinja.Test {
	return func(c *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
		name, err := pluginName(in)
		if err != nil || has(c, name) || c.Env.Unknown == nil {
			return err == nil && has(c, name), err
		}
		// Ansible raises it for line 0, and says so.
		return false, &jinja.SyntaxError{Msg: c.Env.Unknown(kind, name) + "\n  line 0", Name: c.Filename, Line: c.Line}
	}
}

// moreTests are Ansible's tests of sequences, truth and addresses.
func moreTests() map[string]jinja.Test {
	return map[string]jinja.Test{
		"subset":     subset(false),
		"issubset":   subset(false),
		"superset":   subset(true),
		"issuperset": subset(true),
		"contains":   contains,
		"truthy":     truthy(true),
		"falsy":      truthy(false),
		"nan":        nan,
		"isnan":      nan,
		"all":        quantified(true),
		"any":        quantified(false),
		"uri":        address(none, false),
		"url":        address(none, true),
		"urn":        address(value.NewTuple(value.Str("urn")), false),
		// A vault that is given as text, and not with the tag !vault, is plain text.
		"vault_encrypted": is(func(v value.Value) bool { _, ok := v.(*value.Vault); return ok }),
	}
}

// flagOr returns a flag that counts as def where the result does not have it: a task that was no job is finished.
func flagOr(name string, def bool) func(value.Value) (bool, error) {
	return func(d value.Value) (bool, error) {
		v, ok, err := value.Item(d, value.Str(name))
		if !ok || err != nil {
			return def, err
		}
		return value.Truth(v)
	}
}

func subset(swapped bool) jinja.Test {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		a, err := args.Bind(c.Name, value.Req("b"))
		if err != nil {
			return false, err
		}
		lesser, greater := in, a[0]
		if swapped {
			lesser, greater = greater, lesser
		}
		x, err := value.Elements(lesser)
		if err != nil {
			return false, err
		}
		y, err := value.Elements(greater)
		if err != nil {
			return false, err
		}
		large, err := hashed(y)
		if err != nil {
			return false, err
		}
		small, err := hashed(x)
		if err != nil {
			return false, err
		}
		for i := range small.Len() {
			k, _ := small.At(i)
			if _, in := large.GetKey(k); !in {
				return false, nil
			}
		}
		return true, nil
	}
}

// hashed is Python's set of items.
func hashed(items []value.Value) (*value.Dict, error) {
	set := value.NewDict()
	for _, v := range items {
		if !set.SetKey(v, none) {
			return nil, value.Hashable(v)
		}
	}
	return set, nil
}

func contains(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
	a, err := args.Bind("contains", value.Req("value"))
	if err != nil {
		return false, err
	}
	return value.Contains(in, a[0])
}

func truthy(want bool) jinja.Test {
	return func(c *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		a, err := args.Bind(c.Name, value.Opt("convert_bool", value.Bool(false)))
		if err != nil {
			return false, err
		}
		convert, err := value.Truth(a[0])
		if err != nil {
			return false, err
		}
		if b, ok := value.AsBool(in); convert && ok {
			return b == want, nil
		}
		ok, err := value.Truth(in)
		return ok == want, err
	}
}

func nan(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
	if u, undefined := in.(*value.Undefined); undefined {
		return false, u.Use()
	}
	f, ok := value.AsFloat(in) // what is no number is not a nan either
	return ok && f != f, nil
}

// quantified returns all and any.
func quantified(all bool) jinja.Test {
	return func(_ *jinja.Call, in value.Value, _ *jinja.Args) (bool, error) {
		items, err := value.Elements(in)
		if err != nil {
			return false, err
		}
		for _, item := range items {
			ok, err := value.Truth(item)
			if err != nil || ok != all {
				return ok, err
			}
		}
		return all, nil
	}
}

// address tests text for being a URI; schemes, if given, are those allowed. As in Ansible nearly all text is one: the
// scheme may be implied and the path empty. What is wrong with the arguments makes it false.
func address(schemes value.Value, needsHost bool) jinja.Test {
	return func(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
		a, err := args.Bind("uri", value.Opt("schemes", schemes))
		if err != nil {
			return false, err
		}
		if err := value.Sealed(in); err != nil {
			return false, err
		}
		s, ok := value.Text(in)
		if something, err := value.Truth(in); !ok && (something || err != nil) { // what is false is parsed as nothing
			return false, nil
		}
		u, readable := splitAddress(s)
		if !readable || needsHost && u.Host == "" && u.Scheme != "file" {
			return false, nil
		}
		if limited, err := value.Truth(a[0]); err != nil || !limited {
			return err == nil, nil
		}
		among, err := value.Contains(a[0], value.Str(u.Scheme))
		return err == nil && among, nil
	}
}

// splitAddress parts text as Python's urlsplit does, which refuses only unbalanced brackets.
func splitAddress(s string) (url.URL, bool) {
	var u url.URL
	if scheme, rest, ok := strings.Cut(s, ":"); ok && isScheme(scheme) {
		u.Scheme, s = strings.ToLower(scheme), rest
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		u.Host = rest
		if end := strings.IndexAny(rest, "/?#"); end >= 0 {
			u.Host = rest[:end]
		}
	}
	return u, strings.Contains(u.Host, "[") == strings.Contains(u.Host, "]")
}

// isScheme reports whether s may stand before the colon of a URI.
func isScheme(s string) bool {
	for i := range len(s) {
		letter := s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}
