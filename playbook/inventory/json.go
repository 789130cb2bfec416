package inventory

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hark/playbook/jinja/value"
)

// writeJSON writes a value as ansible-inventory does: Python's json with an indent of four, sorted keys and plain
// Unicode. Vault strings stay encrypted and unsafe text is marked, so that the output can be read back as an inventory.
func writeJSON(b *strings.Builder, v value.Value, depth int) error {
	switch v := v.(type) {
	case value.None:
		b.WriteString("null")
	case value.Bool:
		b.WriteString(strconv.FormatBool(bool(v)))
	case value.Int:
		b.WriteString(strconv.FormatInt(int64(v), 10))
	case *value.BigInt:
		b.WriteString(v.Int.String())
	case value.Float:
		b.WriteString(jsonFloat(float64(v)))
	case *value.Vault:
		return writeObject(b, []member{{"__ansible_vault", value.Str(v.Cipher)}}, depth)
	case value.UnsafeStr:
		return writeObject(b, []member{{"__ansible_unsafe", value.Str(v)}}, depth)
	case *value.List:
		return writeArray(b, v.Items, depth)
	case *value.Tuple:
		return writeArray(b, v.Items, depth)
	case *value.Dict:
		return writeDict(b, v, depth)
	default:
		s, ok := value.Text(v)
		if !ok {
			return failf("Object of type %s is not JSON serializable", v.Type())
		}
		writeText(b, s)
	}
	return nil
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return value.FloatText(f)
}

type member struct {
	key string
	v   value.Value
}

func writeDict(b *strings.Builder, d *value.Dict, depth int) error {
	members := make([]member, 0, d.Len())
	d.Each(func(k, v value.Value) bool {
		members = append(members, member{jsonKey(k), v})
		return true
	})
	slices.SortStableFunc(members, func(x, y member) int { return strings.Compare(x.key, y.key) })
	return writeObject(b, members, depth)
}

// jsonKey is how Python's json writes a key.
func jsonKey(k value.Value) string {
	switch k := k.(type) {
	case value.None:
		return "null"
	case value.Bool:
		return strconv.FormatBool(bool(k))
	case value.Float:
		return jsonFloat(float64(k))
	}
	return printed(k)
}

const jsonIndent = "    "

func newline(b *strings.Builder, depth int) {
	b.WriteByte('\n')
	for range depth {
		b.WriteString(jsonIndent)
	}
}

func writeObject(b *strings.Builder, members []member, depth int) error {
	if len(members) == 0 {
		b.WriteString("{}")
		return nil
	}
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		newline(b, depth+1)
		writeText(b, m.key)
		b.WriteString(": ")
		if err := writeJSON(b, m.v, depth+1); err != nil {
			return err
		}
	}
	newline(b, depth)
	b.WriteByte('}')
	return nil
}

func writeArray(b *strings.Builder, items []value.Value, depth int) error {
	if len(items) == 0 {
		b.WriteString("[]")
		return nil
	}
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		newline(b, depth+1)
		if err := writeJSON(b, item, depth+1); err != nil {
			return err
		}
	}
	newline(b, depth)
	b.WriteByte(']')
	return nil
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func writeText(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, c := range s {
		switch esc, ok := jsonEscapes[c]; {
		case ok:
			b.WriteString(esc)
		case c < 0x20:
			b.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}
