// Package value holds Python's values as Ansible's templates see them: what a variable is, how
// it prints, compares and converts. It knows nothing of templates, hosts or plays.
package value

import "math/big"

// Value is one Python value. The concrete types are None, Bool, Int, *BigInt, Float, the four
// kinds of text (Str, Source, UnsafeStr, Markup), Bytes, *List, *Tuple, *Dict, *Vault,
// *Undefined, and the objects of the engine (functions, iterators, mappings that look up on demand).
// A Go nil is never a Value.
type Value interface {
	// Type is the name of the Python type, as the filter type_debug prints it.
	Type() string
}

// None is Python's None.
type None struct{}

// Bool is Python's bool.
type Bool bool

// Int is a Python int that fits 64 bits; larger ones are *BigInt. Arithmetic normalises:
// a *BigInt never holds a value that fits an Int.
type Int int64

// BigInt is a Python int beyond 64 bits.
type BigInt struct{ Int *big.Int }

// Float is Python's float.
type Float float64

// Str is text made by a template.
type Str string

// UnsafeStr is text that must never be taken for a template: results of modules, !unsafe, facts.
type UnsafeStr string

// Markup is text that is already HTML-escaped.
type Markup string

// Bytes is Python's bytes.
type Bytes []byte

// List is Python's list, shared by reference.
type List struct{ Items []Value }

// Tuple is Python's tuple.
type Tuple struct {
	Items []Value
	// Names are attributes for the items of a named tuple, such as the grouper and list of groupby; nil for others.
	Names []string
}

// Undefined stands for a name or attribute that is not there. Access on it chains; use fails.
type Undefined struct {
	// Name is the missing variable or attribute, "" if unknown.
	Name string
	// Msg is the text of the error that a strict use raises, e.g. "'x' is undefined".
	Msg string
	// Err, if set, is why the variable could not be rendered.
	Err error
	// Of and Key are what was looked into and for what, if it is an attribute or element that is missing.
	Of, Key Value
	// Broken: it is not missing, but could not be rendered for another reason, which is Err.
	Broken bool
	// Lenient is the value of an inline if without else: it prints as nothing, is false and empty.
	Lenient bool
}

func (None) Type() string       { return "NoneType" }
func (Bool) Type() string       { return "bool" }
func (Int) Type() string        { return "int" }
func (*BigInt) Type() string    { return "int" }
func (Float) Type() string      { return "float" }
func (Str) Type() string        { return "str" }
func (UnsafeStr) Type() string  { return "AnsibleUnsafeText" }
func (Markup) Type() string     { return "Markup" }
func (Bytes) Type() string      { return "bytes" }
func (*List) Type() string      { return "list" }
func (*Tuple) Type() string     { return "tuple" }
func (*Undefined) Type() string { return "AnsibleUndefined" }

// NewList returns a list of the given values.
func NewList(items ...Value) *List { return &List{Items: items} }

// NewTuple returns a tuple of the given values.
func NewTuple(items ...Value) *Tuple { return &Tuple{Items: items} }

// Text gives the text of any kind of string (Str, Source, Rendered, UnsafeStr, NativeStr, NativeUnsafeStr, Markup, an
// opened *Vault). The second result is false for every other value.
func Text(v Value) (string, bool) {
	switch v := v.(type) {
	case Str:
		return string(v), true
	case Source:
		return v.text, true
	case Rendered:
		return v.text, true
	case UnsafeStr:
		return string(v), true
	case Markup:
		return string(v), true
	case NativeStr:
		return string(v), true
	case NativeUnsafeStr:
		return string(v), true
	case Omit:
		return OmitText(), true
	case *Vault:
		s, err := v.Open()
		return s, err == nil
	}
	return "", false
}

// IsUnsafe reports whether v is text that must not be templated.
func IsUnsafe(v Value) bool {
	switch v.(type) {
	case UnsafeStr, NativeUnsafeStr:
		return true
	}
	return false
}

// IsNone reports whether v is None.
func IsNone(v Value) bool {
	_, ok := v.(None)
	return ok
}
