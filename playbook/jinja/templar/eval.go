package templar

import (
	"math/big"

	"hark/modules/py/literal"
	"hark/modules/py/value"
)

// Literal reads text as Python's ast.literal_eval does, as inventories in INI form give their values: numbers, text, bytes, tuples,
// lists, dicts, True, False and None. Blanks before it do not matter. ok is false if the text is no literal.
func Literal(s string) (v value.Value, ok bool) {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	v, ok, err := parseLiteral(s, false)
	return v, ok && err == nil
}

// parseLiteral reads a literal of Python; jsonNames adds true, false and null. The error is that of a dict with a key that cannot be one.
func parseLiteral(s string, jsonNames bool) (v value.Value, ok bool, err error) {
	return literal.Parse[value.Value](s, literals{}, jsonNames)
}

// literals makes Python's values of literals.
type literals struct{}

func (literals) None() value.Value                     { return value.None{} }
func (literals) Bool(b bool) value.Value               { return value.Bool(b) }
func (literals) Int(n int64) value.Value               { return value.Int(n) }
func (literals) Big(n *big.Int) value.Value            { return value.NewInt(n) }
func (literals) Float(f float64) value.Value           { return value.Float(f) }
func (literals) Text(s string) value.Value             { return value.Str(s) }
func (literals) Bytes(b string) value.Value            { return value.Bytes(b) }
func (literals) List(items []value.Value) value.Value  { return &value.List{Items: items} }
func (literals) Tuple(items []value.Value) value.Value { return value.NewTuple(items...) }

func (literals) Dict(keys, values []value.Value) (value.Value, error) {
	d := value.NewDict()
	var err error
	for i, k := range keys {
		if !d.SetKey(k, values[i]) && err == nil {
			err = value.Hashable(k)
		}
	}
	return d, err
}
