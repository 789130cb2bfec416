package wire

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Escaped returns a text as it goes into a field of a message: JSON has no bytes that are not UTF-8, and names of files
// and variables of an environment may. Such a text is written as NUL and its bytes in hexadecimal; NUL is in no name.
func Escaped(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return "\x00" + hex.EncodeToString([]byte(text))
}

// Unescaped returns the text that Escaped turned into a field.
func Unescaped(field string) string {
	if digits, ok := strings.CutPrefix(field, "\x00"); ok {
		if raw, err := hex.DecodeString(digits); err == nil {
			return string(raw)
		}
	}
	return field
}

// EscapedAll is Escaped for each of several texts.
func EscapedAll(texts []string) []string { return each(texts, Escaped) }

// UnescapedAll is Unescaped for each of several fields.
func UnescapedAll(fields []string) []string { return each(fields, Unescaped) }

func each(list []string, f func(string) string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = f(text)
	}
	return out
}

// Environment are variables of processes. Their values, and their names, may be no UTF-8.
type Environment map[string]string

// MarshalJSON implements json.Marshaler.
func (e Environment) MarshalJSON() ([]byte, error) {
	fields := make(map[string]string, len(e))
	for name, val := range e {
		fields[Escaped(name)] = Escaped(val)
	}
	return json.Marshal(fields)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Environment) UnmarshalJSON(text []byte) error {
	var fields map[string]string
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	*e = make(Environment, len(fields))
	for name, val := range fields {
		(*e)[Unescaped(name)] = Unescaped(val)
	}
	return nil
}
