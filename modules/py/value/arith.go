package value

import (
	"math/big"
	"strings"
)

// MaxText is the longest text, in bytes, that an operation may make.
const MaxText = 64 << 20

// TooLong is the error of an operation whose text would be longer than MaxText.
func TooLong() error { return Errorf("MemoryError", "the text is too long") }

// Binary computes left op right; op is one of + - * / // % **.
func Binary(op string, left, right Value) (Value, error) {
	if v, ok, err := arith(op, left, right); ok {
		return v, err
	}
	for _, v := range []Value{left, right} {
		if u, ok := v.(*Undefined); ok {
			return nil, &UndefinedError{Msg: u.Msg, Undefined: u}
		}
		if o, ok := v.(Operand); ok {
			if r, ok, err := o.Binary(op, left, right); ok {
				return r, err
			}
		}
	}
	if err := sealed(left, right); err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return add(left, right)
	case "*":
		return repeat(left, right)
	case "%":
		if s, ok := Text(left); ok {
			return percent(left, s, right)
		}
	}
	return nil, unsupported(op, left, right)
}

// NativeType returns how Python's functions in C name the type of a value: those of datetime, which are written in C
// too, with their module.
func NativeType(v Value) string {
	if q, ok := v.(interface{ QualifiedType() string }); ok && strings.HasPrefix(q.QualifiedType(), "datetime.") {
		return q.QualifiedType()
	}
	return v.Type()
}

func unsupported(op string, left, right Value) error {
	if op == "**" {
		op = "** or pow()"
	}
	return TypeErrorf("unsupported operand type(s) for %s: '%s' and '%s'", op, NativeType(left), NativeType(right))
}

func add(left, right Value) (Value, error) {
	switch l := left.(type) {
	case *List:
		r, ok := right.(*List)
		if !ok {
			return nil, TypeErrorf(`can only concatenate list (not "%s") to list`, right.Type())
		}
		items, err := join(l.Items, r.Items)
		return &List{Items: items}, err
	case *Tuple:
		r, ok := right.(*Tuple)
		if !ok {
			return nil, TypeErrorf(`can only concatenate tuple (not "%s") to tuple`, right.Type())
		}
		items, err := join(l.Items, r.Items)
		return &Tuple{Items: items}, err
	case Bytes:
		r, ok := right.(Bytes)
		if !ok {
			return nil, TypeErrorf("can't concat %s to bytes", right.Type())
		}
		return append(append(Bytes{}, l...), r...), nil
	}
	l, ok := Text(left)
	if !ok {
		return nil, unsupported("+", left, right)
	}
	r, ok := Text(right)
	if !ok {
		return nil, TypeErrorf(`can only concatenate str (not "%s") to str`, right.Type())
	}
	return addText(left, l, right, r)
}

func addText(left Value, l string, right Value, r string) (Value, error) {
	if len(l)+len(r) > MaxText {
		return nil, TooLong()
	}
	_, markedL := left.(Markup)
	_, markedR := right.(Markup)
	switch {
	case IsUnsafe(left) || IsUnsafe(right):
		return UnsafeStr(l + r), nil
	case markedL && !markedR:
		return Markup(l + EscapeHTML(r)), nil
	case markedR && !markedL:
		return Markup(EscapeHTML(l) + r), nil
	case markedL:
		return Markup(l + r), nil
	}
	return Str(l + r), nil
}

// EscapeHTML escapes as markupsafe does.
func EscapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;").Replace(s)
}

func join(a, b []Value) ([]Value, error) {
	if len(a)+len(b) > MaxItems {
		return nil, Errorf("MemoryError", "the list is too long")
	}
	return append(append(make([]Value, 0, len(a)+len(b)), a...), b...), nil
}

func repeat(left, right Value) (Value, error) {
	seq, count := left, right
	if AsBig(count) == nil {
		seq, count = right, left
	}
	n := AsBig(count)
	if n == nil {
		for _, pair := range [][2]Value{{left, right}, {right, left}} {
			switch pair[0].(type) {
			case *List, *Tuple, Bytes, Str, Source, Rendered, UnsafeStr, NativeStr, NativeUnsafeStr, Markup, Omit:
				return nil, TypeErrorf("can't multiply sequence by non-int of type '%s'", pair[1].Type())
			}
		}
		return nil, unsupported("*", left, right)
	}
	if n.Sign() < 0 {
		n = new(big.Int)
	}
	switch s := seq.(type) {
	case *List:
		items, err := repeatItems(s.Items, n)
		return &List{Items: items}, err
	case *Tuple:
		items, err := repeatItems(s.Items, n)
		return &Tuple{Items: items}, err
	case Bytes:
		out, err := repeatText(string(s), n)
		return Bytes(out), err
	}
	s, ok := Text(seq)
	if !ok {
		return nil, unsupported("*", left, right)
	}
	out, err := repeatText(s, n)
	return TextLike(seq, out), err
}

func repeatItems(items []Value, n *big.Int) ([]Value, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if !n.IsInt64() || n.Int64() > int64(MaxItems/len(items)) {
		return nil, Errorf("MemoryError", "the list is too long")
	}
	out := make([]Value, 0, len(items)*int(n.Int64()))
	for range int(n.Int64()) {
		out = append(out, items...)
	}
	return out, nil
}

func repeatText(s string, n *big.Int) (string, error) {
	if s == "" {
		return "", nil
	}
	if !n.IsInt64() || n.Int64() > int64(MaxText/len(s)) {
		return "", TooLong()
	}
	return strings.Repeat(s, int(n.Int64())), nil
}

// Unary computes -v and +v.
func Unary(op string, v Value) (Value, error) {
	switch n := v.(type) {
	case Float:
		if op == "-" {
			return -n, nil
		}
		return n, nil
	case *Undefined:
		return nil, &UndefinedError{Msg: n.Msg, Undefined: n}
	case Operand:
		if op == "-" {
			if r, ok, err := n.Binary("*", v, Int(-1)); ok {
				return r, err
			}
		}
	}
	n := AsBig(v)
	if n == nil {
		return nil, TypeErrorf("bad operand type for unary %s: '%s'", op, v.Type())
	}
	if op == "-" {
		return NewInt(new(big.Int).Neg(n)), nil
	}
	return NewInt(n), nil
}

// Concat is Jinja's ~: the texts of all values in one.
func Concat(values []Value) (Value, error) {
	var b strings.Builder
	unsafe := false
	for _, v := range values {
		s, err := ToStr(v)
		if err != nil {
			return nil, err
		}
		if b.Len()+len(s) > MaxText {
			return nil, TooLong()
		}
		unsafe = unsafe || IsUnsafe(v)
		b.WriteString(s)
	}
	if unsafe {
		return UnsafeStr(b.String()), nil
	}
	return Str(b.String()), nil
}
