package methods

import (
	"strings"
	"unicode/utf8"

	"hark/modules/py/value"
)

// textFunc is a method of text: the text of self comes ready.
type textFunc func(self value.Value, s string, args *value.Args) (value.Value, error)

func textMethod(name string) Func {
	m := caseMethod(name)
	if m == nil {
		m = searchMethod(name)
	}
	if m == nil {
		m = partMethod(name)
	}
	if m == nil {
		m = predicate(name)
	}
	if m == nil {
		m = otherMethod(name)
	}
	if m == nil {
		return nil
	}
	return func(self value.Value, args *value.Args) (value.Value, error) {
		s, err := value.ToStr(self)
		if err != nil {
			return nil, err
		}
		v, err := m(self, s, args)
		return v, ofType(err, self)
	}
}

// ofType names the type of the text in an error about the arguments of one of its methods.
func ofType(err error, self value.Value) error {
	e, ok := err.(*value.Error)
	if !ok || !strings.HasPrefix(e.Msg, "str.") {
		return err
	}
	return &value.Error{Type: e.Type, Msg: self.Type() + e.Msg[len("str"):]}
}

// plain returns a method without arguments that changes the text.
func plain(name string, f func(s string) string) textFunc {
	return func(self value.Value, s string, args *value.Args) (value.Value, error) {
		if _, err := args.BindMethod("str."+name, 0); err != nil {
			return nil, err
		}
		return value.TextLike(self, f(s)), nil
	}
}

func otherMethod(name string) textFunc {
	switch name {
	case "format":
		return func(self value.Value, s string, args *value.Args) (value.Value, error) {
			out, err := value.FormatText(s, args, fieldAttr)
			if err == nil && anyUnsafe(args) {
				return value.UnsafeStr(out), nil
			}
			return value.TextLike(self, out), err
		}
	case "format_map":
		return formatMap
	case "encode":
		return encode
	case "center", "ljust", "rjust":
		return justify(name)
	case "zfill":
		return zfill
	case "expandtabs":
		return expandTabs
	case "join":
		return join
	case "replace":
		return replace
	case "translate":
		return translate
	case "maketrans":
		return maketrans
	}
	return nil
}

func anyUnsafe(args *value.Args) bool {
	for _, v := range args.Pos {
		if value.HasUnsafe(v) {
			return true
		}
	}
	for _, k := range args.Kw {
		if value.HasUnsafe(k.V) {
			return true
		}
	}
	return false
}

// fieldAttr returns a dot in a format field, which sees attributes only.
func fieldAttr(v value.Value, name string) (value.Value, error) {
	if o, ok := v.(value.Object); ok {
		if a, ok := o.Attr(name); ok {
			return a, nil
		}
	}
	if u, ok := v.(*value.Undefined); ok {
		return u, u.Use()
	}
	if a, ok := Attr(v, name); ok {
		return a, nil
	}
	return nil, value.Errorf("AttributeError", "'%s' object has no attribute '%s'", v.Type(), name)
}

func formatMap(self value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.format_map", 1, "")
	if err != nil {
		return nil, err
	}
	d, err := value.ToDict(a[0])
	if err != nil {
		return nil, err
	}
	named := &value.Args{}
	d.Each(func(k, v value.Value) bool {
		if name, ok := value.Text(k); ok {
			named.Kw = append(named.Kw, value.Kwarg{Name: name, V: v})
		}
		return true
	})
	out, err := value.FormatText(s, named, fieldAttr)
	return value.TextLike(self, out), err
}

func justify(name string) textFunc {
	return func(self value.Value, s string, args *value.Args) (value.Value, error) {
		a, err := args.BindMethod("str."+name, 1, "", "")
		if err != nil {
			return nil, err
		}
		width, err := wantInt(a[0])
		if err != nil {
			return nil, err
		}
		fill := " "
		if a[1] != nil {
			f, ok := value.Text(a[1])
			if !ok || utf8.RuneCountInString(f) != 1 {
				return nil, value.TypeErrorf("The fill character must be exactly one character long")
			}
			fill = f
		}
		n := width - utf8.RuneCountInString(s)
		if n > 1<<24 {
			return nil, value.TooLong()
		}
		if n <= 0 {
			return value.TextLike(self, s), nil
		}
		left := 0
		switch name {
		case "rjust":
			left = n
		case "center":
			left = n/2 + (n & width & 1)
		}
		return value.TextLike(self, strings.Repeat(fill, left)+s+strings.Repeat(fill, n-left)), nil
	}
}

func zfill(self value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.zfill", 1, "")
	if err != nil {
		return nil, err
	}
	width, err := wantInt(a[0])
	if err != nil {
		return nil, err
	}
	n := width - utf8.RuneCountInString(s)
	if n > 1<<24 {
		return nil, value.TooLong()
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return value.TextLike(self, sign+strings.Repeat("0", max(n, 0))+s), nil
}

func expandTabs(self value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.expandtabs", 0, "tabsize")
	if err != nil {
		return nil, err
	}
	size, err := optInt(a[0], 8)
	if err != nil {
		return nil, err
	}
	if size > 1<<10 {
		return nil, value.Errorf("OverflowError", "result too long")
	}
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch {
		case r == '\t' && size > 0:
			n := size - column%size
			b.WriteString(strings.Repeat(" ", n))
			column += n
		case r == '\t':
		case r == '\n' || r == '\r':
			b.WriteRune(r)
			column = 0
		default:
			b.WriteRune(r)
			column++
		}
	}
	return value.TextLike(self, b.String()), nil
}

func join(self value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.join", 1, "")
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(a[0])
	if err != nil {
		if _, ok := err.(*value.Error); ok {
			return nil, value.TypeErrorf("can only join an iterable")
		}
		return nil, err
	}
	texts := make([]string, len(items))
	unsafe := value.IsUnsafe(self)
	size := 0
	for i, item := range items {
		t, ok := value.Text(item)
		if !ok {
			return nil, value.TypeErrorf("sequence item %d: expected str instance, %s found", i, item.Type())
		}
		unsafe = unsafe || value.IsUnsafe(item)
		texts[i] = t
		if size += len(t) + len(s); size > value.MaxText {
			return nil, value.TooLong()
		}
	}
	out := strings.Join(texts, s)
	if unsafe {
		return value.UnsafeStr(out), nil
	}
	return value.Str(out), nil
}

func replace(self value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.replace", 2, "", "", "")
	if err != nil {
		return nil, err
	}
	from, err := wantText("replace", 1, a[0])
	if err != nil {
		return nil, err
	}
	to, err := wantText("replace", 2, a[1])
	if err != nil {
		return nil, err
	}
	n, err := optInt(a[2], -1)
	if err != nil {
		return nil, err
	}
	if len(s)*max(1, len(to)) > 256<<20 {
		return nil, value.TooLong()
	}
	return value.TextLike(self, strings.Replace(s, from, to, n)), nil
}

// wantText returns a text argument.
func wantText(method string, n int, v value.Value) (string, error) {
	s, ok := value.Text(v)
	if ok {
		return s, nil
	}
	return "", value.TypeErrorf("%s() argument %d must be str, not %s", method, n, v.Type())
}

func translate(self value.Value, s string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("str.translate", 1, "")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, r := range s {
		to, ok, err := value.Item(a[0], value.Int(r))
		if err != nil {
			return nil, err
		}
		if b.Len() > value.MaxText {
			return nil, value.TooLong()
		}
		switch t := to.(type) {
		case value.None:
			continue
		case value.Int:
			b.WriteRune(rune(t))
			continue
		}
		if text, isText := value.Text(to); ok && isText {
			b.WriteString(text)
			continue
		}
		b.WriteRune(r)
	}
	return value.TextLike(self, b.String()), nil
}

func maketrans(_ value.Value, _ string, args *value.Args) (value.Value, error) {
	a, err := args.BindMethod("maketrans", 1, "", "", "")
	if err != nil {
		return nil, err
	}
	out := value.NewDict()
	if a[1] == nil {
		d, ok := a[0].(*value.Dict)
		if !ok {
			return nil, value.TypeErrorf("if you give only one argument to maketrans it must be a dict")
		}
		d.Each(func(k, v value.Value) bool {
			if s, ok := value.Text(k); ok {
				r, _ := utf8.DecodeRuneInString(s)
				k = value.Int(r)
			}
			out.SetKey(k, v)
			return true
		})
		return out, nil
	}
	var parts [3]string
	for i, v := range a {
		if v == nil {
			continue
		}
		if parts[i], err = wantText("maketrans", i+1, v); err != nil {
			return nil, err
		}
	}
	from, to := []rune(parts[0]), []rune(parts[1])
	if len(from) != len(to) {
		return nil, value.ValueErrorf("the first two maketrans arguments must have equal length")
	}
	for i, r := range from {
		out.SetKey(value.Int(r), value.Int(to[i]))
	}
	for _, r := range parts[2] {
		out.SetKey(value.Int(r), value.None{})
	}
	return out, nil
}
