package value

import (
	"maps"
	"math"
	"strconv"
)

// Dict is Python's dict: insertion order is kept, and keys that Python holds equal
// (1, 1.0, True; every kind of the same text) are one key. The zero value is empty and usable.
type Dict struct {
	keys  []Value
	vals  []Value
	texts map[string]int // where text keys are, once there are many entries
	other map[string]int // where keys of other types are, by HashKey
}

// manyKeys is how many entries are searched without an index.
const manyKeys = 8

// few is for how many entries a dict that gets one has room: most have three or more.
const few = 4

// NewDict returns an empty dict.
func NewDict() *Dict { return &Dict{} }

func (*Dict) Type() string { return "dict" }

// Len returns the number of entries.
func (d *Dict) Len() int {
	if d == nil {
		return 0
	}
	return len(d.keys)
}

// Get looks a text key up.
func (d *Dict) Get(key string) (Value, bool) {
	if i := d.findText(key); i >= 0 {
		return read(d.vals[i]), true
	}
	return nil, false
}

// Has reports whether there is an entry under a text key.
func (d *Dict) Has(key string) bool { return d.findText(key) >= 0 }

// Text returns the text of the entry under a text key, "" if it is none.
func (d *Dict) Text(key string) string {
	v, _ := d.Get(key)
	s, _ := Text(v)
	return s
}

// True reports whether there is an entry under a text key that Python holds true.
func (d *Dict) True(key string) bool {
	v, _ := d.Get(key)
	return IsTrue(v)
}

// read returns an entry as everybody sees it.
func read(v Value) Value {
	switch v := v.(type) {
	case *Lines:
		return v.List()
	case *Later:
		return v.Value()
	}
	return v
}

// GetKey looks any key up. An unhashable key is simply not there.
func (d *Dict) GetKey(key Value) (Value, bool) {
	if i, _ := d.find(key); i >= 0 {
		return read(d.vals[i]), true
	}
	return nil, false
}

// findText returns the position of a text key; -1 if it is not there.
func (d *Dict) findText(key string) int {
	if d == nil {
		return -1
	}
	if d.texts != nil {
		if i, ok := d.texts[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.keys {
		if s, ok := Text(k); ok && s == key {
			return i
		}
	}
	return -1
}

// find returns the position of a key, -1 if it is not there. It is not hashable without ok.
func (d *Dict) find(key Value) (i int, ok bool) {
	if s, isText := Text(key); isText {
		return d.findText(s), true
	}
	h, ok := HashKey(key)
	if !ok || d == nil {
		return -1, ok
	}
	if i, found := d.other[h]; found {
		return i, true
	}
	return -1, true
}

// Key returns a text as a key: a str, and unsafe if it is more than a name.
func Key(key string) Value {
	if Inert(key) {
		return Str(key)
	}
	return UnsafeStr(key)
}

// Set stores under a text key, as Key has it if it is new.
func (d *Dict) Set(key string, v Value) {
	if i := d.findText(key); i >= 0 {
		d.vals[i] = v
		return
	}
	d.add(Key(key), v)
}

// SetKey stores under any key; false means that the key is unhashable and nothing was stored.
// The key of an existing entry stays as it was, as in Python.
func (d *Dict) SetKey(key, v Value) bool {
	i, ok := d.find(key)
	switch {
	case !ok:
		return false
	case i >= 0:
		d.vals[i] = v
	default:
		d.add(key, v)
	}
	return true
}

// add appends an entry whose key is new and hashable.
func (d *Dict) add(key, v Value) {
	if d.keys == nil {
		d.keys, d.vals = make([]Value, 0, few), make([]Value, 0, few)
	}
	d.keys = append(d.keys, key)
	d.vals = append(d.vals, v)
	at := len(d.keys) - 1
	switch {
	case d.texts == nil && at >= manyKeys:
		d.texts = make(map[string]int, 2*at)
		for i, k := range d.keys {
			d.place(k, i)
		}
	default:
		d.place(key, at)
	}
}

// place notes where a key is.
func (d *Dict) place(key Value, at int) {
	if s, ok := Text(key); ok {
		if d.texts != nil {
			d.texts[s] = at
		}
		return
	}
	if d.other == nil {
		d.other = map[string]int{}
	}
	h, _ := HashKey(key)
	d.other[h] = at
}

// Delete removes a key; false means that it was not there.
func (d *Dict) Delete(key Value) bool {
	i, _ := d.find(key)
	if i < 0 {
		return false
	}
	d.keys = append(d.keys[:i:i], d.keys[i+1:]...)
	d.vals = append(d.vals[:i:i], d.vals[i+1:]...)
	if d.texts != nil {
		clear(d.texts)
	}
	clear(d.other)
	for at, k := range d.keys {
		d.place(k, at)
	}
	return true
}

// At returns the entry at position i, 0 <= i < Len.
func (d *Dict) At(i int) (key, v Value) { return d.keys[i], read(d.vals[i]) }

// Kept is At for those who only pass the entry on, or look for what Lines never are: those come as they are, and are
// not made.
func (d *Dict) Kept(i int) (key, v Value) { return d.keys[i], d.vals[i] }

// Each calls f for every entry in order until it returns false.
func (d *Dict) Each(f func(key, v Value) bool) {
	for i := 0; i < d.Len(); i++ {
		if !f(d.At(i)) {
			return
		}
	}
}

// Keys returns a copy of the keys in order.
func (d *Dict) Keys() []Value {
	if d == nil {
		return nil
	}
	return append([]Value(nil), d.keys...)
}

// Names returns the texts of the keys that are text, in their order.
func (d *Dict) Names() []string {
	names := make([]string, 0, d.Len())
	for i := range d.Len() {
		if name, ok := Text(d.keys[i]); ok {
			names = append(names, name)
		}
	}
	return names
}

// Copy returns a shallow copy.
func (d *Dict) Copy() *Dict { return d.CopyFor(0) }

// CopyFor returns a shallow copy with room for that many more entries.
func (d *Dict) CopyFor(more int) *Dict {
	if d == nil {
		return NewDict()
	}
	n := len(d.keys) + more
	return &Dict{keys: append(make([]Value, 0, n), d.keys...), vals: append(make([]Value, 0, n), d.vals...),
		texts: maps.Clone(d.texts), other: maps.Clone(d.other)}
}

// HashKey returns a text that two keys share exactly when Python holds them equal. It is false for values that cannot
// be hashed: lists, dicts and what contains them.
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
