package jmespath

import (
	"strconv"
	"strings"

	"hark/modules/py/value"
)

func toArray(v value.Value) (value.Value, error) {
	if _, ok := v.(*value.List); ok {
		return v, nil
	}
	return value.NewList(v), nil
}

// toNumber returns the number of a text, or nothing.
func toNumber(v value.Value) (value.Value, error) {
	if isNumber(v) {
		return v, nil
	}
	s, ok := value.Text(v)
	s = strings.TrimSpace(s)
	if !ok {
		return none, nil
	}
	if n, ok := value.ParseInt(s, 10); ok {
		return value.NewInt(n), nil
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return value.Float(f), nil
	}
	return none, nil
}

// toString is text as it is, and everything else as JSON without spaces.
func toString(v value.Value) (value.Value, error) {
	if s, ok := value.Text(v); ok {
		return value.Str(s), nil
	}
	s, err := value.Dumps(v, value.JSONOptions{ASCII: true, Item: ",", Colon: ":"})
	return value.Str(s), err
}
