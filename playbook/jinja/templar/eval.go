package templar

import (
	"hark/modules/py/literal"
	"hark/modules/py/value"
)

// Literal reads text as Python's ast.literal_eval does, as inventories in INI form give their values: numbers, text,
// bytes, tuples, lists, dicts, True, False and None. Blanks before it do not matter. ok is false if the text is no
// literal.
func Literal(s string) (v value.Value, ok bool) {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	v, ok, err := parseLiteral(s, false)
	return v, ok && err == nil
}

// parseLiteral reads a literal of Python; jsonNames adds true, false and null. The error is that of a dict with a key
// that cannot be one.
func parseLiteral(s string, jsonNames bool) (v value.Value, ok bool, err error) {
	return literal.Parse[value.Value](s, value.Literals{Kind: value.KindStr}, jsonNames)
}
