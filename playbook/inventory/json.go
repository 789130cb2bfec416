package inventory

import (
	"hark/modules/py/value"
)

// jsonText returns a value as ansible-inventory prints it: Python's json with an indent of four, sorted keys and plain
// Unicode. Vault strings stay encrypted and unsafe text is marked, so that the output can be read back as an inventory.
func jsonText(v value.Value) (string, error) {
	return value.Dumps(v, value.JSONOptions{Sorted: true, Lines: true, Indent: "    ", Replace: marked})
}

// marked replaces a value for which JSON has no form by a mapping that names its type.
func marked(v value.Value) value.Value {
	d := value.NewDict()
	switch v := v.(type) {
	case *value.Vault:
		d.Set("__ansible_vault", value.Str(v.Cipher))
		return d
	case value.UnsafeStr:
		d.Set("__ansible_unsafe", value.Str(v))
		return d
	}
	return v
}

// plain is marked for output that does not name the texts that are no templates.
func plain(v value.Value) value.Value {
	if text, ok := v.(value.UnsafeStr); ok {
		return value.Str(text)
	}
	return marked(v)
}
