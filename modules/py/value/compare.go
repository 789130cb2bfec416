package value

import (
	"bytes"
	"math"
	"math/big"
	"strings"
)

// Equal is Python's a == b. Only undefined values refuse.
func Equal(a, b Value) (bool, error) { return equal(a, b, 0) }

// sealed is why the first of two operands that is a vault string cannot be opened.
func sealed(a, b Value) error {
	if err := Sealed(a); err != nil {
		return err
	}
	return Sealed(b)
}

func equal(a, b Value, depth int) (bool, error) {
	if depth > maxNesting {
		return false, Errorf("RecursionError", "maximum recursion depth exceeded in comparison")
	}
	for _, v := range [2]Value{a, b} {
		u, ok := v.(*Undefined)
		if !ok {
			continue
		}
		if err := u.Use(); err != nil {
			return false, err
		}
		_, other := a.(*Undefined)
		_, both := b.(*Undefined)
		return other && both, nil
	}
	if err := sealed(a, b); err != nil {
		return false, err
	}
	if s, ok := Text(a); ok {
		t, ok := Text(b)
		return ok && s == t, nil
	}
	if IsNumber(a) {
		if !IsNumber(b) {
			return false, nil
		}
		c, ok := compareNumbers(a, b)
		return ok && c == 0, nil
	}
	switch x := a.(type) {
	case None:
		return IsNone(b), nil
	case *List:
		y, ok := b.(*List)
		if !ok {
			return false, nil
		}
		return equalItems(x.Items, y.Items, depth)
	case *Tuple:
		y, ok := b.(*Tuple)
		if !ok {
			return false, nil
		}
		return equalItems(x.Items, y.Items, depth)
	case Bytes:
		y, ok := b.(Bytes)
		return ok && bytes.Equal(x, y), nil
	case Range:
		y, ok := b.(Range)
		return ok && equalRanges(x, y), nil
	case *View:
		return equalViews(x, b, depth)
	case Operand:
		c, ok := x.Compare(b)
		return ok && c == 0, nil
	}
	if IsMapping(a) {
		return equalMappings(a, b, depth)
	}
	return a == b, nil
}

func equalItems(a, b []Value, depth int) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	for i := range a {
		if sameList(a[i], b[i]) { // as Python: what is the same object is equal
			continue
		}
		if ok, err := equal(a[i], b[i], depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sameList reports whether two values are one list or dict.
func sameList(a, b Value) bool {
	switch x := a.(type) {
	case *List:
		y, ok := b.(*List)
		return ok && x == y
	case *Dict:
		y, ok := b.(*Dict)
		return ok && x == y
	}
	return false
}

func equalRanges(a, b Range) bool {
	n := a.Len()
	return n == b.Len() && (n == 0 || a.Start == b.Start && (n == 1 || a.Step == b.Step))
}

func equalViews(a *View, b Value, depth int) (bool, error) {
	y, ok := b.(*View)
	if !ok || a.Kind != y.Kind || a.Kind == "dict_values" {
		return ok && a == y, nil
	}
	if a.Dict.Len() != y.Dict.Len() {
		return false, nil
	}
	for i := range a.Dict.Len() {
		k, v := a.Dict.At(i)
		w, ok := y.Dict.GetKey(k)
		if !ok {
			return false, nil
		}
		if a.Kind == "dict_items" {
			if ok, err := equal(v, w, depth+1); !ok || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func equalMappings(a, b Value, depth int) (bool, error) {
	if !IsMapping(b) {
		return false, nil
	}
	x, err := ToDict(a)
	if err != nil {
		return false, err
	}
	y, err := ToDict(b)
	if err != nil || x.Len() != y.Len() {
		return false, err
	}
	for i := range x.Len() {
		k, v := x.At(i)
		w, ok := y.GetKey(k)
		if !ok {
			return false, nil
		}
		if ok, err := equal(v, w, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// ToDict returns a mapping as a Dict: v itself, or its entries looked up.
func ToDict(v Value) (*Dict, error) {
	if d, ok := v.(*Dict); ok {
		return d, nil
	}
	m, ok := v.(Mapping)
	if !ok {
		return nil, TypeErrorf("'%s' object is not a mapping", v.Type())
	}
	keys, err := m.Keys()
	if err != nil {
		return nil, err
	}
	return entries(m, keys)
}

// PrintedDict returns a mapping with the keys that it prints.
func PrintedDict(m Mapping) (*Dict, error) {
	keys, err := m.Keys()
	if r, ok := m.(Reticent); ok {
		keys, err = r.PrintedKeys()
	}
	if err != nil {
		return nil, err
	}
	return entries(m, keys)
}

func entries(m Mapping, keys []Value) (*Dict, error) {
	d := NewDict()
	for _, k := range keys {
		item, ok, err := m.Lookup(k)
		if err != nil {
			return nil, err
		}
		if ok {
			d.SetKey(k, item)
		}
	}
	return d, nil
}

// Compare orders two values as Python's < does: -1, 0 or 1. op is the operator, for the error. Values that are not
// ordered to each other (nan) give 2, for which every order is false.
func Compare(op string, a, b Value) (int, error) { return compare(op, a, b, 0) }

const unordered = 2

func compare(op string, a, b Value, depth int) (int, error) {
	for _, v := range [2]Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			return 0, &UndefinedError{Msg: u.Msg, Undefined: u}
		}
	}
	if err := sealed(a, b); err != nil {
		return 0, err
	}
	if depth > maxNesting {
		return 0, Errorf("RecursionError", "maximum recursion depth exceeded in comparison")
	}
	if IsNumber(a) && IsNumber(b) {
		c, ok := compareNumbers(a, b)
		if !ok {
			return unordered, nil
		}
		return c, nil
	}
	if s, ok := Text(a); ok {
		if t, ok := Text(b); ok {
			return strings.Compare(s, t), nil
		}
	}
	switch x := a.(type) {
	case *List:
		if y, ok := b.(*List); ok {
			return compareItems(op, x.Items, y.Items, depth)
		}
	case *Tuple:
		if y, ok := b.(*Tuple); ok {
			return compareItems(op, x.Items, y.Items, depth)
		}
	case Bytes:
		if y, ok := b.(Bytes); ok {
			return bytes.Compare(x, y), nil
		}
	case Operand:
		if c, ok := x.Compare(b); ok {
			return c, nil
		}
	}
	return 0, TypeErrorf("'%s' not supported between instances of '%s' and '%s'", op, a.Type(), b.Type())
}

func compareItems(op string, a, b []Value, depth int) (int, error) {
	for i := range min(len(a), len(b)) {
		same, err := equal(a[i], b[i], depth+1)
		if err != nil {
			return 0, err
		}
		if !same {
			return compare(op, a[i], b[i], depth+1)
		}
	}
	switch {
	case len(a) < len(b):
		return -1, nil
	case len(a) > len(b):
		return 1, nil
	}
	return 0, nil
}

func compareNumbers(a, b Value) (int, bool) {
	x, okX := AsInt(a)
	y, okY := AsInt(b)
	if okX && okY {
		return order(x, y), true
	}
	f, isF := a.(Float)
	g, isG := b.(Float)
	if isF && math.IsNaN(float64(f)) || isG && math.IsNaN(float64(g)) {
		return 0, false
	}
	return exact(a).Cmp(exact(b)), true
}

func order[T int64 | float64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// exact returns a number without any rounding, so that huge ints and floats compare as in Python.
func exact(v Value) *big.Float {
	if f, ok := v.(Float); ok {
		return big.NewFloat(float64(f))
	}
	n := AsBig(v)
	return new(big.Float).SetPrec(uint(max(64, n.BitLen()))).SetInt(n)
}

// Contains is Python's item in container.
func Contains(container, item Value) (bool, error) {
	if err := Sealed(container); err != nil {
		return false, err
	}
	switch c := container.(type) {
	case *Dict:
		return containsKey(c, item)
	case Mapping:
		v, ok, err := c.Lookup(item)
		_, undefined := v.(*Undefined)
		return ok && !undefined, err
	case *Undefined:
		return false, c.Use()
	case Range:
		return rangeHas(c, item)
	case *View:
		if c.Kind == "dict_keys" {
			return containsKey(c.Dict, item)
		}
	case Bytes:
		if sub, ok := item.(Bytes); ok {
			return bytes.Contains(c, sub), nil
		}
	}
	if s, ok := Text(container); ok {
		sub, ok := Text(item)
		if !ok {
			return false, TypeErrorf("'in <string>' requires string as left operand, not %s", item.Type())
		}
		return strings.Contains(s, sub), nil
	}
	items, err := Elements(container)
	if err != nil {
		if _, ok := err.(*Error); ok {
			return false, TypeErrorf("argument of type '%s' is not iterable", container.Type())
		}
		return false, err
	}
	for _, v := range items {
		if ok, err := Equal(v, item); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func containsKey(d *Dict, key Value) (bool, error) {
	if err := Hashable(key); err != nil {
		return false, err
	}
	_, ok := d.GetKey(key)
	return ok, nil
}

// Hashable is the error of using v as a key of a dict; nil if it can be one.
func Hashable(v Value) error {
	if u, ok := v.(*Undefined); ok {
		return &UndefinedError{Msg: u.Msg, Undefined: u}
	}
	if _, ok := HashKey(v); !ok {
		return TypeErrorf("unhashable type: '%s'", v.Type())
	}
	return nil
}

func rangeHas(r Range, item Value) (bool, error) {
	if f, ok := item.(Float); ok && float64(f) == math.Trunc(float64(f)) {
		item = Int(int64(f))
	}
	i, ok := AsInt(item)
	if !ok {
		return false, nil
	}
	if r.Step > 0 && (i < r.Start || i >= r.Stop) || r.Step < 0 && (i > r.Start || i <= r.Stop) {
		return false, nil
	}
	return (i-r.Start)%r.Step == 0, nil
}
