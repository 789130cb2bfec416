package inventory

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// literal reads a value of an INI file: a Python literal, or else plain text. Both may hold templates.
func literal(text string) value.Value {
	if plainText(text) {
		return value.SourceText(text)
	}
	v, ok := templar.Literal(text)
	if !ok {
		return value.SourceText(text)
	}
	if b, isBytes := v.(value.Bytes); isBytes {
		return value.SourceText(string(b))
	}
	return yamlText(v)
}

// plainText recognises the common case without the parser: words that begin no literal.
func plainText(s string) bool {
	return s == "" || strings.IndexByte("'\"[({-+. \t0123456789TFNrRbBuU", s[0]) < 0
}

// yamlText converts the text of a literal to text of an inventory.
func yamlText(v value.Value) value.Value {
	switch v := v.(type) {
	case value.Str:
		return value.SourceText(string(v))
	case *value.List:
		for i, item := range v.Items {
			v.Items[i] = yamlText(item)
		}
	case *value.Tuple:
		for i, item := range v.Items {
			v.Items[i] = yamlText(item)
		}
	case *value.Dict:
		out := value.NewDict()
		v.Each(func(k, item value.Value) bool { out.SetKey(yamlText(k), yamlText(item)); return true })
		return out
	}
	return v
}
