package filters

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// ansibleData are Ansible's filters that read and write formats.
func ansibleData() map[string]jinja.Filter {
	return map[string]jinja.Filter{
		"to_json":   toJSON,
		"from_json": fromJSON,
		"b64encode": b64encode,
		"b64decode": b64decode,
	}
}

func toJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	w := jsonWriter{item: ", ", colon: ": ", ascii: true}
	for _, k := range args.Kw {
		if err := w.option(k); err != nil {
			return nil, err
		}
	}
	if err := w.write(in, 0); err != nil {
		return nil, err
	}
	return value.NativeStr(w.b.String()), nil
}

// jsonWriter prints as Python's json does.
type jsonWriter struct {
	b           strings.Builder
	item, colon string
	ascii       bool
	sorted      bool
	indent      string // "" for one line
}

func (w *jsonWriter) option(k jinja.Kwarg) error {
	var err error
	switch k.Name {
	case "ensure_ascii":
		w.ascii, err = value.Truth(k.V)
	case "sort_keys":
		w.sorted, err = value.Truth(k.V)
	case "indent":
		if n, ok := value.AsInt(k.V); ok {
			w.indent = strings.Repeat(" ", int(max(0, min(n, 64))))
			w.item = ","
		}
	case "separators":
		var items []value.Value
		if items, err = value.Elements(k.V); err == nil && len(items) == 2 {
			w.item, _ = value.Text(items[0])
			w.colon, _ = value.Text(items[1])
		}
	}
	return err
}

func (w *jsonWriter) newline(depth int) {
	if w.indent != "" {
		w.b.WriteString("\n" + strings.Repeat(w.indent, depth))
	}
}

func (w *jsonWriter) write(v value.Value, depth int) error {
	if depth > 500 {
		return value.ValueErrorf("Circular reference detected")
	}
	switch v := v.(type) {
	case value.None:
		w.b.WriteString("null")
	case value.Bool:
		fmt.Fprint(&w.b, bool(v))
	case value.Int, *value.BigInt:
		s, _ := value.ToStr(v)
		w.b.WriteString(s)
	case value.Float:
		w.b.WriteString(jsonFloat(float64(v)))
	case *value.List:
		return w.items(v.Items, depth)
	case *value.Tuple:
		return w.items(v.Items, depth)
	case *value.Dict:
		return w.dict(v, depth)
	case value.Mapping:
		d, err := value.ToDict(v)
		if err != nil {
			return err
		}
		return w.dict(d, depth)
	case *value.Undefined:
		return &value.UndefinedError{Msg: v.Msg, Undefined: v}
	default:
		s, ok := value.Text(v)
		if !ok {
			if p, isPrinter := v.(value.Printer); isPrinter {
				s, ok = p.Str(), true
			}
		}
		if !ok {
			return value.TypeErrorf("Object of type %s is not JSON serializable", v.Type())
		}
		w.text(s)
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

func (w *jsonWriter) items(items []value.Value, depth int) error {
	if len(items) == 0 {
		w.b.WriteString("[]")
		return nil
	}
	w.b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.b.WriteString(w.item)
		}
		w.newline(depth + 1)
		if err := w.write(item, depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.b.WriteByte(']')
	return nil
}

func (w *jsonWriter) dict(d *value.Dict, depth int) error {
	if d.Len() == 0 {
		w.b.WriteString("{}")
		return nil
	}
	order, err := w.order(d)
	if err != nil {
		return err
	}
	w.b.WriteByte('{')
	for n, i := range order {
		k, v := d.At(i)
		if n > 0 {
			w.b.WriteString(w.item)
		}
		w.newline(depth + 1)
		if err := w.key(k); err != nil {
			return err
		}
		w.b.WriteString(w.colon)
		if err := w.write(v, depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.b.WriteByte('}')
	return nil
}

func (w *jsonWriter) key(k value.Value) error {
	switch k := k.(type) {
	case value.None:
		w.b.WriteString(`"null"`)
	case value.Bool:
		fmt.Fprintf(&w.b, `"%v"`, bool(k))
	case value.Int, *value.BigInt:
		s, _ := value.ToStr(k)
		w.text(s)
	case value.Float:
		w.text(jsonFloat(float64(k)))
	default:
		s, ok := value.Text(k)
		if !ok {
			return value.TypeErrorf("keys must be str, int, float, bool or None, not %s", k.Type())
		}
		w.text(s)
	}
	return nil
}

// order is the order in which the entries are printed.
func (w *jsonWriter) order(d *value.Dict) ([]int, error) {
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	if !w.sorted {
		return order, nil
	}
	return sortedBy(order, d.Keys())
}

func (w *jsonWriter) text(s string) {
	w.b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			w.b.WriteByte('\\')
			w.b.WriteRune(r)
		case r == '\n':
			w.b.WriteString(`\n`)
		case r == '\r':
			w.b.WriteString(`\r`)
		case r == '\t':
			w.b.WriteString(`\t`)
		case r == '\b':
			w.b.WriteString(`\b`)
		case r == '\f':
			w.b.WriteString(`\f`)
		case r < ' ' || w.ascii && (r == 0x7f || r > 0x7f && r < 0x10000):
			if r == 0x7f {
				w.b.WriteRune(r)
				break
			}
			fmt.Fprintf(&w.b, `\u%04x`, r)
		case w.ascii && r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&w.b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			w.b.WriteString(s[i : i+n])
		}
		i += n
	}
	w.b.WriteByte('"')
}

func fromJSON(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, ok := value.Text(in)
	if !ok {
		if u, undefined := in.(*value.Undefined); undefined {
			return nil, &value.UndefinedError{Msg: u.Msg, Undefined: u}
		}
		return nil, value.TypeErrorf("the JSON object must be str, bytes or bytearray, not %s", in.Type())
	}
	kind := value.KindStr
	if value.IsUnsafe(in) {
		kind = value.KindUnsafe
	}
	v, err := value.Decode([]byte(s), kind)
	if err != nil {
		return nil, value.Errorf("JSONDecodeError", "Expecting value: line 1 column 1 (char 0)")
	}
	return v, nil
}

func b64encode(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	return value.Str(base64.StdEncoding.EncodeToString([]byte(s))), err
}

func b64decode(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	var bad base64.CorruptInputError
	if errors.As(err, &bad) {
		return nil, value.Errorf("Error", "Incorrect padding")
	}
	return value.TextLike(in, string(raw)), nil
}
