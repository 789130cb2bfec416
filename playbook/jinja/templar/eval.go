package templar

import "hark/playbook/jinja/value"

// Literal reads text as Python's ast.literal_eval does, as inventories in INI form give their values: numbers, text, bytes, tuples,
// lists, dicts, True, False and None. Blanks before it do not matter. ok is false if the text is no literal.
func Literal(s string) (v value.Value, ok bool) {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	v, ok, err := parseLiteral(s, false)
	return v, ok && err == nil
}
