package value

import (
	"fmt"
	"math/big"
)

// ToPlain is v as JSON can hold it, with unsafe text: None, Bool, Int, *BigInt, Float, UnsafeStr, and copies of the
// lists and dicts, whose keys are text. Undefined values and vault strings that cannot be opened are an error.
func ToPlain(v Value) (Value, error) {
	switch v := v.(type) {
	case nil:
		return None{}, nil
	case None, Bool, Int, *BigInt, Float:
		return v, nil
	case Bytes:
		return UnsafeStr(v), nil
	case *Class:
		return UnsafeStr(v.Str()), nil
	case *Vault:
		s, err := v.Open()
		return UnsafeStr(s), err
	case Moment:
		return UnsafeStr(v.ISO()), nil
	case *List:
		return plainItems(v.Items)
	case *Tuple:
		return plainItems(v.Items)
	case *Dict:
		return plainDict(v)
	case Mapping:
		d, err := ToDict(v)
		if err != nil {
			return nil, err
		}
		return plainDict(d)
	case *Undefined:
		return nil, fmt.Errorf("%s", v.Msg)
	}
	if s, ok := Text(v); ok {
		return UnsafeStr(s), nil
	}
	return nil, fmt.Errorf("cannot use a value of type %s here", v.Type())
}

func plainItems(items []Value) (Value, error) {
	out := &List{Items: make([]Value, len(items))}
	for i, item := range items {
		var err error
		if out.Items[i], err = ToPlain(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func plainDict(d *Dict) (Value, error) {
	out := &Dict{keys: make([]Value, 0, d.Len()), vals: make([]Value, 0, d.Len())}
	for i := range d.Len() {
		k, item := d.At(i)
		v, err := ToPlain(item)
		if err != nil {
			return nil, err
		}
		out.SetKey(UnsafeStr(goKey(k)), v)
	}
	return out, nil
}

// Literals makes values of what package literal reads. Its text is of the kind.
type Literals struct{ Kind Kind }

// None is None.
func (Literals) None() Value { return None{} }

// Bool is True or False.
func (Literals) Bool(b bool) Value { return Bool(b) }

// Int returns a number.
func (Literals) Int(n int64) Value { return Int(n) }

// Big returns a number of any size.
func (Literals) Big(n *big.Int) Value { return NewInt(n) }

// Float returns a float.
func (Literals) Float(f float64) Value { return Float(f) }

// Text returns a str.
func (l Literals) Text(s string) Value { return l.Kind.TextAs(s) }

// Bytes are bytes.
func (Literals) Bytes(b string) Value { return Bytes(b) }

// List returns a list.
func (Literals) List(items []Value) Value { return &List{Items: items} }

// Tuple returns a tuple.
func (Literals) Tuple(items []Value) Value { return NewTuple(items...) }

// Dict returns a dict; the error is Python's for the first key that cannot be one.
func (Literals) Dict(keys, values []Value) (Value, error) {
	d := NewDict()
	var err error
	for i, k := range keys {
		if !d.SetKey(k, values[i]) && err == nil {
			err = Hashable(k)
		}
	}
	return d, err
}
