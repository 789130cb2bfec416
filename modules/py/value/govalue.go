package value

import (
	"encoding/json"
	"fmt"
	"math/big"
	"sort"
)

// ordered is a mapping of Go whose keys have an order.
type ordered interface {
	Each(yield func(key string, v any) bool)
}

// FromGo takes a Go value as modules and JSON use them: nil, bool, ints, float64, json.Number,
// string, []byte, []string, []any, map[string]any (keys sorted, since Go has no order),
// map[string]string, or a Value. Text becomes the given kind. Other types print as text.
func FromGo(x any, text Kind) Value {
	switch x := x.(type) {
	case nil:
		return None{}
	case Value:
		return x
	case bool:
		return Bool(x)
	case int:
		return Int(x)
	case int64:
		return Int(x)
	case int32:
		return Int(x)
	case uint32:
		return Int(x)
	case uint64:
		if x > 1<<63-1 {
			return &BigInt{new(big.Int).SetUint64(x)}
		}
		return Int(x)
	case *big.Int:
		if x.IsInt64() {
			return Int(x.Int64())
		}
		return &BigInt{x}
	case float64:
		return Float(x)
	case json.Number:
		if v, err := Number(x.String()); err == nil {
			return v
		}
		return text.TextAs(x.String())
	case string:
		return text.TextAs(x)
	case []byte:
		return text.TextAs(string(x))
	case []string:
		l := NewList()
		for _, s := range x {
			l.Items = append(l.Items, text.TextAs(s))
		}
		return l
	case []any:
		l := &List{Items: make([]Value, 0, len(x))}
		for _, item := range x {
			l.Items = append(l.Items, FromGo(item, text))
		}
		return l
	case []*Dict:
		l := NewList()
		for _, item := range x {
			l.Items = append(l.Items, item)
		}
		return l
	case []map[string]any:
		l := NewList()
		for _, item := range x {
			l.Items = append(l.Items, FromGo(item, text))
		}
		return l
	case ordered:
		d := NewDict()
		x.Each(func(k string, v any) bool {
			d.SetKey(text.TextAs(k), FromGo(v, text))
			return true
		})
		return d
	case map[string]any:
		d := NewDict()
		for _, k := range sortedKeys(x) {
			d.SetKey(text.TextAs(k), FromGo(x[k], text))
		}
		return d
	case map[string]string:
		d := NewDict()
		for _, k := range sortedKeys(x) {
			d.SetKey(text.TextAs(k), text.TextAs(x[k]))
		}
		return d
	}
	return text.TextAs(fmt.Sprint(x))
}

// DictOf returns a dict of keys and values in turns, in that order. The values are Go's as FromGo takes them, the
// text of all is unsafe: it is how modules tell what they found.
func DictOf(pairs ...any) *Dict {
	d := &Dict{keys: make([]Value, 0, len(pairs)/2), vals: make([]Value, 0, len(pairs)/2)}
	for i := 0; i < len(pairs); i += 2 {
		d.Put(pairs[i].(string), pairs[i+1])
	}
	return d
}

// Put stores a value of Go under a text key as DictOf does.
func (d *Dict) Put(key string, v any) { d.SetKey(UnsafeStr(key), FromGo(v, KindUnsafe)) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// ToGo gives v as modules and encoding/json use it: nil, bool, int64, *big.Int, float64, string,
// []any, map[string]any (keys that are not text are printed as Python's json prints them).
// Undefined values and vault strings that cannot be opened are an error.
func ToGo(v Value) (any, error) {
	switch v := v.(type) {
	case None:
		return nil, nil
	case Bool:
		return bool(v), nil
	case Int:
		return int64(v), nil
	case *BigInt:
		return v.Int, nil
	case Float:
		return float64(v), nil
	case Bytes:
		return string(v), nil
	case Mapping:
		d, err := ToDict(v)
		if err != nil {
			return nil, err
		}
		return ToGo(d)
	case *Class:
		return v.Str(), nil
	case *Vault:
		return v.Open()
	case Moment:
		return v.ISO(), nil
	case *List:
		return itemsToGo(v.Items)
	case *Tuple:
		return itemsToGo(v.Items)
	case *Dict:
		m := make(map[string]any, v.Len())
		for i := 0; i < v.Len(); i++ {
			k, item := v.At(i)
			x, err := ToGo(item)
			if err != nil {
				return nil, err
			}
			m[goKey(k)] = x
		}
		return m, nil
	}
	if s, ok := Text(v); ok {
		return s, nil
	}
	if u, ok := v.(*Undefined); ok {
		return nil, fmt.Errorf("%s", u.Msg)
	}
	return nil, fmt.Errorf("cannot use a value of type %s here", v.Type())
}

func itemsToGo(items []Value) (any, error) {
	out := make([]any, 0, len(items))
	for _, item := range items {
		x, err := ToGo(item)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func goKey(k Value) string {
	if s, ok := Text(k); ok {
		return s
	}
	b, err := Encode(k)
	if err != nil {
		return k.Type()
	}
	return string(b)
}
