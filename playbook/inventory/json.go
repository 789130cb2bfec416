package inventory

import (
	"hark/modules/py/value"
)

// jsonText is a value as ansible-inventory prints it: Python's json with an indent of four, sorted keys and plain
// Unicode. Vault strings stay encrypted and unsafe text is marked, so that the output can be read back as an inventory.
func jsonText(v value.Value) (string, error) {
	return value.Dumps(v, value.JSONOptions{Sorted: true, Lines: true, Indent: "    ", Replace: marked})
}

// marked puts a mapping that tells of its nature in place of what JSON has no form for.
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
