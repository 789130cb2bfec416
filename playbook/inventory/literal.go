package inventory

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// literal reads a value of an INI file: a Python literal, or else text as it stands. Both may hold templates.
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

// plainText spares the common case the parser: words that begin as no literal does.
func plainText(s string) bool {
	return s == "" || strings.IndexByte("'\"[({-+. \t0123456789TFNrRbBuU", s[0]) < 0
}

// yamlText makes the text of a literal what text of an inventory is.
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
