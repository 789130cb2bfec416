package value

import (
	"unicode/utf8"
)

// Item is v[key]; false means that there is no such element, or that v has no elements at all.
func Item(v, key Value) (Value, bool, error) {
	switch c := v.(type) {
	case *Dict:
		item, ok := c.GetKey(key)
		if !ok {
			if u, undefined := key.(*Undefined); undefined {
				return nil, false, &UndefinedError{Msg: u.Msg, Undefined: u}
			}
		}
		return item, ok, nil
	case Mapping:
		return c.Lookup(key)
	case *Undefined:
		if c.Lenient {
			return nil, false, &UndefinedError{Msg: c.Msg, Undefined: c}
		}
		return c, true, nil
	case *List:
		return indexItem(c.Items, key)
	case *Tuple:
		return indexItem(c.Items, key)
	case *Namespace:
		item, ok := c.Attrs.GetKey(key)
		return item, ok, nil
	case Range:
		if i, ok := position(key, int(c.Len())); ok {
			return c.At(int64(i)), true, nil
		}
		return nil, false, nil
	case Bytes:
		if i, ok := position(key, len(c)); ok {
			return Int(c[i]), true, nil
		}
		return nil, false, nil
	case interface {
		Item(key Value) (Value, bool)
	}:
		item, ok := c.Item(key)
		return item, ok, nil
	}
	if err := Sealed(v); err != nil {
		return nil, false, err
	}
	s, ok := Text(v)
	if !ok {
		return nil, false, nil
	}
	return character(v, s, key)
}

func indexItem(items []Value, key Value) (Value, bool, error) {
	i, ok := position(key, len(items))
	if !ok {
		return nil, false, nil
	}
	return items[i], true, nil
}

func character(v Value, s string, key Value) (Value, bool, error) {
	if isASCII(s) {
		i, ok := position(key, len(s))
		if !ok {
			return nil, false, nil
		}
		return TextLike(v, s[i:i+1]), true, nil
	}
	runes := []rune(s)
	i, ok := position(key, len(runes))
	if !ok {
		return nil, false, nil
	}
	return TextLike(v, string(runes[i])), true, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// position returns an index, counted from the end if it is negative.
func position(key Value, n int) (int, bool) {
	i, ok := AsInt(key)
	if i < 0 {
		i += int64(n)
	}
	return int(i), ok && i >= 0 && i < int64(n)
}

// Slice is v[start:stop:step]; nil stands for a part that is not given.
func Slice(v, start, stop, step Value) (Value, error) {
	if err := Sealed(v); err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		if u.Lenient {
			return nil, &UndefinedError{Msg: u.Msg, Undefined: u}
		}
		return u, nil
	}
	var from []Value
	var runes []rune
	n := 0
	s, isText := Text(v)
	switch c := v.(type) {
	case *List:
		from, n = c.Items, len(c.Items)
	case *Tuple:
		from, n = c.Items, len(c.Items)
	case Bytes:
		n = len(c)
	case Range:
		n = int(c.Len())
	default:
		if !isText {
			return nil, notSliceable(v)
		}
		runes = []rune(s)
		n = len(runes)
	}
	first, count, by, err := sliceBounds(start, stop, step, n)
	if err != nil {
		return nil, err
	}
	switch c := v.(type) {
	case *List:
		return &List{Items: pick(from, first, count, by)}, nil
	case *Tuple:
		return &Tuple{Items: pick(from, first, count, by)}, nil
	case Bytes:
		return Bytes(pick([]byte(c), first, count, by)), nil
	case Range:
		return Range{c.Start + int64(first)*c.Step, c.Start + int64(first+count*by)*c.Step, c.Step * int64(by)}, nil
	}
	return TextLike(v, string(pick(runes, first, count, by))), nil
}

func notSliceable(v Value) error {
	if IsMapping(v) {
		return TypeErrorf("unhashable type: 'slice'")
	}
	return TypeErrorf("'%s' object is not subscriptable", v.Type())
}

func pick[T any](from []T, first, count, by int) []T {
	out := make([]T, 0, count)
	for i := range count {
		out = append(out, from[first+i*by])
	}
	return out
}

func sliceBounds(start, stop, step Value, n int) (first, count, by int, err error) {
	by, given, err := slicePart(step)
	if err != nil {
		return 0, 0, 0, err
	}
	if !given {
		by = 1
	}
	if by == 0 {
		return 0, 0, 0, ValueErrorf("slice step cannot be zero")
	}
	by = max(min(by, n+1), -n-1)
	lowest, highest := 0, n
	if by < 0 {
		lowest, highest = -1, n-1
	}
	first, given, err = slicePart(start)
	if err != nil {
		return 0, 0, 0, err
	}
	first = clampPart(first, given, lowest, highest, n, by > 0)
	last, given, err := slicePart(stop)
	if err != nil {
		return 0, 0, 0, err
	}
	last = clampPart(last, given, lowest, highest, n, by < 0)
	if by > 0 && last > first {
		count = (last-first-1)/by + 1
	}
	if by < 0 && last < first {
		count = (first-last-1)/-by + 1
	}
	return first, count, by, nil
}

func clampPart(i int, given bool, lowest, highest, n int, low bool) int {
	if !given {
		if low {
			return lowest
		}
		return highest
	}
	if i < 0 {
		i += n
	}
	return max(lowest, min(i, highest))
}

func slicePart(v Value) (i int, given bool, err error) {
	if v == nil || IsNone(v) {
		return 0, false, nil
	}
	if b, ok := v.(*BigInt); ok {
		return b.Int.Sign() << 30, true, nil
	}
	n, ok := AsInt(v)
	if !ok {
		return 0, false, TypeErrorf("slice indices must be integers or None or have an __index__ method")
	}
	return int(max(min(n, 1<<30), -1<<30)), true, nil
}

// Under returns what lies below v when one mapping after the other is asked for the next key; nil if any is no
// mapping or has no such key.
func Under(v Value, keys ...string) Value {
	for _, key := range keys {
		d, ok := v.(*Dict)
		if !ok {
			return nil
		}
		v, _ = d.Get(key)
	}
	return v
}
