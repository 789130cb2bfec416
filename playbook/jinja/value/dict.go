package value

import (
	"math"
	"strconv"
)

// Dict is Python's dict: insertion order is kept, and keys that Python holds equal
// (1, 1.0, True; every kind of the same text) are one key. The zero value is empty and usable.
type Dict struct {
	keys  []Value
	vals  []Value
	index map[string]int
}

// NewDict is an empty dict.
func NewDict() *Dict { return &Dict{} }

func (*Dict) Type() string { return "dict" }

// Len is the number of entries.
func (d *Dict) Len() int {
	if d == nil {
		return 0
	}
	return len(d.keys)
}

// Get looks a text key up.
func (d *Dict) Get(key string) (Value, bool) { return d.lookup("s" + key) }

// GetKey looks any key up. An unhashable key is simply not there.
func (d *Dict) GetKey(key Value) (Value, bool) {
	if s, ok := Text(key); ok {
		return d.Get(s)
	}
	h, ok := HashKey(key)
	if !ok {
		return nil, false
	}
	return d.lookup(h)
}

func (d *Dict) lookup(h string) (Value, bool) {
	if d == nil {
		return nil, false
	}
	i, ok := d.index[h]
	if !ok {
		return nil, false
	}
	return d.vals[i], true
}

// Set stores under a text key, as YAMLStr if the key is new.
func (d *Dict) Set(key string, v Value) { d.store("s"+key, YAMLStr(key), v) }

// SetKey stores under any key; false means that the key is unhashable and nothing was stored.
// The key of an existing entry stays as it was, as in Python.
func (d *Dict) SetKey(key, v Value) bool {
	h, ok := HashKey(key)
	if !ok {
		return false
	}
	d.store(h, key, v)
	return true
}

func (d *Dict) store(h string, key, v Value) {
	if i, ok := d.index[h]; ok {
		d.vals[i] = v
		return
	}
	if d.index == nil {
		d.index = map[string]int{}
	}
	d.index[h] = len(d.keys)
	d.keys = append(d.keys, key)
	d.vals = append(d.vals, v)
}

// Delete removes a key; false means that it was not there.
func (d *Dict) Delete(key Value) bool {
	h, ok := HashKey(key)
	if !ok {
		return false
	}
	i, ok := d.index[h]
	if !ok {
		return false
	}
	d.keys = append(d.keys[:i:i], d.keys[i+1:]...)
	d.vals = append(d.vals[:i:i], d.vals[i+1:]...)
	delete(d.index, h)
	for k, at := range d.index {
		if at > i {
			d.index[k] = at - 1
		}
	}
	return true
}

// At is the entry at position i, 0 <= i < Len.
func (d *Dict) At(i int) (key, v Value) { return d.keys[i], d.vals[i] }

// Each calls f for every entry in order until it returns false.
func (d *Dict) Each(f func(key, v Value) bool) {
	for i := 0; i < d.Len(); i++ {
		if !f(d.keys[i], d.vals[i]) {
			return
		}
	}
}

// Keys is a copy of the keys in order.
func (d *Dict) Keys() []Value {
	if d == nil {
		return nil
	}
	return append([]Value(nil), d.keys...)
}

// Copy is a shallow copy.
func (d *Dict) Copy() *Dict {
	c := NewDict()
	d.Each(func(k, v Value) bool { c.SetKey(k, v); return true })
	return c
}

// HashKey is a text that two keys share exactly when Python holds them equal.
// It is false for values that cannot be hashed: lists, dicts and what contains them.
func HashKey(v Value) (string, bool) {
	if s, ok := Text(v); ok {
		return "s" + s, true
	}
	switch v := v.(type) {
	case None:
		return "n", true
	case Bool:
		if v {
			return "i1", true
		}
		return "i0", true
	case Int:
		return "i" + strconv.FormatInt(int64(v), 10), true
	case *BigInt:
		return "i" + v.Int.String(), true
	case Float:
		return hashFloat(float64(v)), true
	case Bytes:
		return "b" + string(v), true
	case *Tuple:
		h := "t"
		for _, item := range v.Items {
			s, ok := HashKey(item)
			if !ok {
				return "", false
			}
			h += strconv.Itoa(len(s)) + ":" + s
		}
		return h, true
	case Operand:
		return "o" + v.Key(), true
	}
	return "", false
}

func hashFloat(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<62 {
		return "i" + strconv.FormatInt(int64(f), 10)
	}
	return "f" + strconv.FormatFloat(f, 'g', -1, 64)
}
