package value

import (
	"strconv"
	"strings"
)

// FormatText is Python's s.format(*args, **kw). attr looks an attribute of a value up, as a dot in a field does.
func FormatText(s string, args *Args, attr func(v Value, name string) (Value, error)) (string, error) {
	f := fields{args: args, attr: attr}
	return f.expand(s, 2)
}

type fields struct {
	args   *Args
	attr   func(v Value, name string) (Value, error)
	auto   int
	manual bool
}

func (f *fields) expand(s string, depth int) (string, error) {
	if depth == 0 {
		return "", ValueErrorf("Max string recursion exceeded")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '{' && c != '}' {
			b.WriteByte(c)
			continue
		}
		if i+1 < len(s) && s[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c == '}' {
			return "", ValueErrorf("Single '}' encountered in format string")
		}
		field, n, err := cutField(s[i+1:])
		if err != nil {
			return "", err
		}
		text, err := f.field(field, depth)
		if err != nil {
			return "", err
		}
		if b.Len()+len(text) > MaxText {
			return "", TooLong()
		}
		b.WriteString(text)
		i += n
	}
	return b.String(), nil
}

// cutField returns the text up to the closing brace, and how much was read.
func cutField(s string) (string, int, error) {
	if s == "" {
		return "", 0, ValueErrorf("Single '{' encountered in format string")
	}
	depth := 1
	bracket := false
	for i := range len(s) {
		if bracket && s[i] != ']' {
			continue
		}
		switch s[i] {
		case '[':
			bracket = true
		case ']':
			bracket = false
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return s[:i], i + 1, nil
			}
		}
	}
	return "", 0, ValueErrorf("expected '}' before end of string")
}

func (f *fields) field(s string, depth int) (string, error) {
	name, conv, format := splitField(s)
	v, err := f.lookup(name)
	if err != nil {
		return "", err
	}
	switch conv {
	case "":
	case "s", "r", "a":
		text, err := ToStr(v)
		if conv != "s" {
			text, err = Repr(v)
		}
		if conv == "a" {
			text = ASCIIOnly(text)
		}
		if err != nil {
			return "", err
		}
		v = Str(text)
	default:
		return "", ValueErrorf("Unknown conversion specifier %s", conv)
	}
	if strings.ContainsAny(format, "{}") {
		if format, err = f.expand(format, depth-1); err != nil {
			return "", err
		}
	}
	return Format(v, format)
}

// splitField parts name!conv:format; brackets hide ! and :.
func splitField(s string) (name, conv, format string) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ':':
			if depth <= 0 {
				return s[:i], "", s[i+1:]
			}
		case '!':
			if depth <= 0 {
				conv, format, _ = strings.Cut(s[i+1:], ":")
				return s[:i], conv, format
			}
		}
	}
	return s, "", ""
}

func (f *fields) lookup(name string) (Value, error) {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v, err := f.first(name[:end])
	rest := name[end:]
	for rest != "" && err == nil {
		if rest[0] == '.' {
			n := strings.IndexAny(rest[1:], ".[")
			if n < 0 {
				n = len(rest) - 1
			}
			if n == 0 {
				return nil, ValueErrorf("Empty attribute in format string")
			}
			v, err = f.attr(v, rest[1:1+n])
			rest = rest[1+n:]
			continue
		}
		v, rest, err = f.element(v, rest)
	}
	return v, err
}

func (f *fields) element(v Value, rest string) (Value, string, error) {
	n := strings.IndexByte(rest, ']')
	if rest[0] != '[' {
		return nil, "", ValueErrorf("Only '.' or '[' may follow ']' in format field specifier")
	}
	if n < 0 {
		return nil, "", ValueErrorf("Missing ']' in format string")
	}
	if n == 1 {
		return nil, "", ValueErrorf("Empty attribute in format string")
	}
	key := Value(Str(rest[1:n]))
	if i, err := strconv.ParseInt(rest[1:n], 10, 64); err == nil && i >= 0 {
		key = Int(i)
	}
	item, err := Get(v, key)
	return item, rest[n+1:], err
}

func (f *fields) first(name string) (Value, error) {
	if name == "" {
		if f.manual {
			return nil, ValueErrorf("cannot switch from manual field specification to automatic field numbering")
		}
		f.auto++
		return f.positional(f.auto - 1)
	}
	if i, err := strconv.Atoi(name); err == nil {
		if f.auto > 0 {
			return nil, ValueErrorf("cannot switch from automatic field numbering to manual field specification")
		}
		f.manual = true
		return f.positional(i)
	}
	v, ok := f.args.KwOf(name)
	if !ok {
		return nil, Errorf("KeyError", "%s", ReprText(name))
	}
	return v, nil
}

func (f *fields) positional(i int) (Value, error) {
	if i >= len(f.args.Pos) || i < 0 {
		return nil, Errorf("IndexError", "Replacement index %d out of range for positional args tuple", i)
	}
	return f.args.Pos[i], nil
}

// Get is v[key] with Python's errors for what is not there.
func Get(v, key Value) (Value, error) {
	item, ok, err := Item(v, key)
	if ok || err != nil {
		return item, err
	}
	_, isInt := AsInt(key)
	switch v.(type) {
	case *List, *Tuple, Range, Bytes:
		if isInt {
			return nil, Errorf("IndexError", "%s index out of range", v.Type())
		}
		return nil, TypeErrorf("%s indices must be integers or slices, not %s", v.Type(), key.Type())
	}
	if IsText(v) {
		if isInt {
			return nil, Errorf("IndexError", "string index out of range")
		}
		return nil, TypeErrorf("string indices must be integers, not '%s'", key.Type())
	}
	if IsMapping(v) {
		if err := Hashable(key); err != nil {
			return nil, err
		}
		r, err := Repr(key)
		if err != nil {
			return nil, err
		}
		return nil, Errorf("KeyError", "%s", r)
	}
	return nil, TypeErrorf("'%s' object is not subscriptable", v.Type())
}
