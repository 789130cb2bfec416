package modules

import (
	"fmt"
	"math/big"
)

// plainLiterals makes plain values of Python's literals. Keys become text, as in the JSON that modules answer with.
type plainLiterals struct{}

func (plainLiterals) None() any             { return nil }
func (plainLiterals) Bool(b bool) any       { return b }
func (plainLiterals) Int(n int64) any       { return n }
func (plainLiterals) Big(n *big.Int) any    { return n }
func (plainLiterals) Float(f float64) any   { return f }
func (plainLiterals) Text(s string) any     { return s }
func (plainLiterals) Bytes(b string) any    { return b }
func (plainLiterals) List(items []any) any  { return items }
func (plainLiterals) Tuple(items []any) any { return List(items) }

func (plainLiterals) Dict(keys, values []any) (any, error) {
	m := make(map[string]any, len(keys))
	for i, k := range keys {
		switch k := k.(type) {
		case map[string]any, []any:
			return m, fmt.Errorf("a key cannot be %s", TypeName(k))
		default:
			m[Str(k)] = values[i]
		}
	}
	return m, nil
}
