package value

import "strings"

// Truth is Python's bool(v).
func Truth(v Value) (bool, error) {
	switch v := v.(type) {
	case None:
		return false, nil
	case Bool:
		return bool(v), nil
	case Int:
		return v != 0, nil
	case *BigInt:
		return true, nil
	case Float:
		return v != 0, nil
	case Str:
		return v != "", nil
	case Source:
		return v.text != "", nil
	case Rendered:
		return v.text != "", nil
	case *Undefined:
		return false, v.Use()
	case *Vault:
		s, err := v.Open()
		return s != "", err
	case Operand:
		return v.True(), nil
	}
	n, err := Len(v)
	if err != nil {
		if _, sized := v.(Mapping); sized {
			return false, err
		}
		return true, nil
	}
	return n > 0, nil
}

// Len is Python's len(v).
func Len(v Value) (int, error) {
	switch v := v.(type) {
	case *List:
		return len(v.Items), nil
	case *Tuple:
		return len(v.Items), nil
	case *Dict:
		return v.Len(), nil
	case *View:
		return v.Dict.Len(), nil
	case Bytes:
		return len(v), nil
	case Range:
		return int(v.Len()), nil
	case Mapping:
		keys, err := v.Keys()
		return len(keys), err
	case interface{ Len() int }:
		return v.Len(), nil
	case *Undefined:
		return 0, v.Use()
	case *Vault:
		s, err := v.Open()
		return runeCount(s), err
	}
	if s, ok := Text(v); ok {
		return runeCount(s), nil
	}
	return 0, TypeErrorf("object of type '%s' has no len()", NativeType(v))
}

func runeCount(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}

// Iterator walks over a value. It sees what is appended to a list meanwhile, as Python's does.
type Iterator struct {
	list  *List
	items []Value
	r     Range
	n     int64 // of a range
	pos   int
}

// Iterate starts to walk over the elements of v: of a dict its keys, of text its characters.
func Iterate(v Value) (*Iterator, error) {
	switch v := v.(type) {
	case *List:
		return &Iterator{list: v}, nil
	case Range:
		return &Iterator{r: v, n: v.Len()}, nil
	}
	items, err := Elements(v)
	return &Iterator{items: items}, err
}

// Next returns the next element; false at the end.
func (it *Iterator) Next() (Value, bool) {
	i := it.pos
	items := it.items
	if it.list != nil {
		items = it.list.Items
	}
	switch {
	case i < len(items):
		it.pos++
		return items[i], true
	case int64(i) < it.n:
		it.pos++
		return it.r.At(int64(i)), true
	}
	return nil, false
}

// MaxItems is the most elements that an operation may make a list or range of.
const MaxItems = 4_000_000

// Elements returns the elements of v. The slice must not be changed: it may be v's own.
func Elements(v Value) ([]Value, error) {
	switch v := v.(type) {
	case *List:
		return v.Items, nil
	case *Tuple:
		return v.Items, nil
	case *Dict:
		return v.keysShared(), nil
	case *View:
		return v.Items(), nil
	case Mapping:
		return v.Keys()
	case Range:
		return rangeItems(v)
	case Bytes:
		out := make([]Value, len(v))
		for i, b := range v {
			out[i] = Int(b)
		}
		return out, nil
	case interface{ Elements() ([]Value, error) }:
		return v.Elements()
	case *Undefined:
		return nil, v.Use()
	case *Vault:
		s, err := v.Open()
		return characters(Str(s), s), err
	}
	if s, ok := Text(v); ok {
		return characters(v, s), nil
	}
	return nil, TypeErrorf("'%s' object is not iterable", NativeType(v))
}

func (d *Dict) keysShared() []Value {
	if d == nil {
		return nil
	}
	return d.keys
}

func rangeItems(r Range) ([]Value, error) {
	n := r.Len()
	if n > MaxItems {
		return nil, Errorf("MemoryError", "a range of %d elements is too long to be made a list", n)
	}
	out := make([]Value, n)
	for i := range out {
		out[i] = r.At(int64(i))
	}
	return out, nil
}

func characters(v Value, s string) []Value {
	out := make([]Value, 0, len(s))
	for _, r := range s {
		out = append(out, TextLike(v, string(r)))
	}
	return out
}

// IsSequence reports whether v is a list, a tuple or a range, as Ansible counts them.
func IsSequence(v Value) bool {
	switch v.(type) {
	case *List, *Tuple, Range:
		return true
	}
	return false
}

// IsMapping reports whether v is a dict or looks entries up as one.
func IsMapping(v Value) bool {
	switch v.(type) {
	case *Dict, Mapping:
		return true
	}
	return false
}

// IsText reports whether v is text of any kind.
func IsText(v Value) bool {
	_, ok := Text(v)
	return ok
}

// IsNumber reports whether v is an int, float or bool, which Python counts as a number.
func IsNumber(v Value) bool {
	switch v.(type) {
	case Int, *BigInt, Float, Bool:
		return true
	}
	return false
}

// HasUnsafe reports whether v is or contains unsafe text.
func HasUnsafe(v Value) bool { return hasUnsafe(v, 0) }

func hasUnsafe(v Value, depth int) bool {
	if depth > maxNesting {
		return true
	}
	switch v := v.(type) {
	case UnsafeStr, NativeUnsafeStr:
		return true
	case *List:
		return anyUnsafe(v.Items, depth)
	case *Tuple:
		return anyUnsafe(v.Items, depth)
	case *View:
		return hasUnsafe(v.Dict, depth+1)
	case *Lines:
		return hasUnsafe(v.text, depth+1)
	case *Dict:
		for i := range v.Len() {
			k, item := v.Kept(i)
			if hasUnsafe(item, depth+1) || hasUnsafe(k, depth+1) {
				return true
			}
		}
	}
	return false
}

func anyUnsafe(items []Value, depth int) bool {
	for _, item := range items {
		if hasUnsafe(item, depth+1) {
			return true
		}
	}
	return false
}

// Unsafe is v with all its text made unsafe. Lists and dicts are copied.
func Unsafe(v Value) Value {
	switch v := v.(type) {
	case Str:
		return UnsafeStr(v)
	case Source:
		return UnsafeStr(v.text)
	case Rendered:
		return Unsafe(v.Plain())
	case NativeStr:
		return NativeUnsafeStr(v)
	case Markup:
		return UnsafeStr(v)
	case *List:
		return &List{Items: unsafeItems(v.Items)}
	case *Tuple:
		return &Tuple{Items: unsafeItems(v.Items)}
	case *Lines:
		return v.kept(Unsafe)
	case *Dict:
		out := NewDict()
		for i := range v.Len() {
			k, item := v.Kept(i)
			out.SetKey(Unsafe(k), Unsafe(item))
		}
		return out
	}
	return v
}

func unsafeItems(items []Value) []Value {
	out := make([]Value, len(items))
	for i, item := range items {
		out[i] = Unsafe(item)
	}
	return out
}

// Clone returns a deep copy of the lists and dicts of v.
func Clone(v Value) Value {
	switch v := v.(type) {
	case *List:
		return &List{Items: cloneItems(v.Items)}
	case *Tuple:
		return &Tuple{Items: cloneItems(v.Items)}
	case *Lines:
		return v.kept(Clone)
	case *Dict:
		out := NewDict()
		for i := range v.Len() {
			k, item := v.Kept(i)
			out.SetKey(k, Clone(item))
		}
		return out
	}
	return v
}

func cloneItems(items []Value) []Value {
	out := make([]Value, len(items))
	for i, item := range items {
		out[i] = Clone(item)
	}
	return out
}

// IsTrue is Truth of a value that may be missing: nil, and what has no truth, is false.
func IsTrue(v Value) bool {
	if v == nil {
		return false
	}
	truth, err := Truth(v)
	return truth && err == nil
}

// BoolWord reads one of Ansible's words for true and false, in any case and with white space around it. ok is false
// for everything else.
func BoolWord(text string) (b, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "on", "1", "true", "t":
		return true, true
	case "n", "no", "off", "0", "false", "f":
		return false, true
	}
	return false, false
}

// AsBool reads v as Ansible's arguments and keywords do: a bool, 0 or 1, or one of the words for them. ok is false
// for everything else.
func AsBool(v Value) (b, ok bool) {
	if text, isText := Text(v); isText {
		return BoolWord(text)
	}
	f, isNumber := AsFloat(v)
	return f == 1, isNumber && (f == 0 || f == 1)
}

// SaysYes is AsBool of an option, as Ansible's boolean(v, strict=False): what is none of the words, or missing (nil),
// is no.
func SaysYes(v Value) bool {
	if v == nil {
		return false
	}
	b, ok := AsBool(v)
	return b && ok
}

// StrictBool is AsBool with Ansible's error for what is no bool.
func StrictBool(v Value) (bool, error) {
	if err := Hashable(v); err != nil {
		return false, err
	}
	b, ok := AsBool(v)
	if !ok {
		return false, &Error{Type: "TypeError", Msg: NotBool(Printed(v))}
	}
	return b, nil
}

// NotBool returns what Ansible says of a text that is none of its words for true and false. They stand in a set
// there: their order varies from run to run.
func NotBool(text string) string {
	return "The value '" + text + "' is not a valid boolean.  Valid booleans include: " +
		"0, 1, '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
}
