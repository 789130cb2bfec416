// Package jmespath is the query language JMESPath over Python's values: dicts keep their order and numbers their
// size. Errors are worded as Python's jmespath words them.
package jmespath

import (
	"fmt"

	"hark/modules/py/value"
)

// Error is a query that cannot be read, or a function that does not take what it is given.
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }

func failf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Search returns what an expression finds in a value; None is nothing.
func Search(expression string, in value.Value) (value.Value, error) {
	tokens, err := tokenize(expression)
	if err != nil {
		return nil, err
	}
	p := &parser{source: expression, tokens: tokens}
	e, err := p.parse(0)
	if err != nil {
		return nil, err
	}
	if t := p.token(); t.kind != "eof" {
		return nil, p.failAt(t, "Unexpected token: "+t.text)
	}
	return e.eval(in)
}
