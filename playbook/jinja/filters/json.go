package filters

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"hark/playbook/jinja"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/jinja/value"
)

// ansibleJSON are Ansible's filters of JSON.
func ansibleJSON() map[string]jinja.Filter {
	return map[string]jinja.Filter{"to_json": toJSON, "to_nice_json": toNiceJSON, "from_json": fromJSON}
}

func toJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if len(args.Pos) > 0 {
		return nil, value.TypeErrorf("dumps() takes 1 positional argument but %d were given", len(args.Pos)+1)
	}
	w := jsonWriter{ascii: true}
	return w.dump(in, args.Kw)
}

func toNiceJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, rest, err := bindSome(args, "to_nice_json", value.Opt("indent", value.Int(4)), value.Opt("sort_keys", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	w := jsonWriter{ascii: true, item: ",", colon: ": "}
	return w.dump(in, append([]jinja.Kwarg{{Name: "indent", V: a[0]}, {Name: "sort_keys", V: a[1]}}, rest...))
}

// jsonWriter prints as Python's json does. What lies between items and after keys is set by separators, or else by indent.
type jsonWriter struct {
	b           strings.Builder
	item, colon string
	ascii       bool
	sorted      bool
	lines       bool // one item a line, indented by indent
	indent      string
}

func (w *jsonWriter) dump(in value.Value, options []jinja.Kwarg) (value.Value, error) {
	for _, k := range options {
		if err := w.option(k); err != nil {
			return nil, err
		}
	}
	if w.item == "" {
		w.item, w.colon = ", ", ": "
		if w.lines {
			w.item = ","
		}
	}
	if err := w.write(in, 0); err != nil {
		return nil, err
	}
	return value.NativeStr(w.b.String()), nil
}

func (w *jsonWriter) option(k jinja.Kwarg) error {
	var err error
	switch k.Name {
	case "ensure_ascii":
		w.ascii, err = value.Truth(k.V)
	case "sort_keys":
		w.sorted, err = value.Truth(k.V)
	case "indent":
		err = w.setIndent(k.V)
	case "separators":
		var items []value.Value
		if items, err = value.Elements(k.V); err == nil && len(items) == 2 {
			w.item, _ = value.Text(items[0])
			w.colon, _ = value.Text(items[1])
		}
	case "skipkeys", "check_circular", "allow_nan", "default", "vault_to_text", "preprocess_unsafe":
		// they do not change what plain data gives
	default:
		err = value.TypeErrorf("JSONEncoder.__init__() got an unexpected keyword argument '%s'", k.Name)
	}
	return err
}

func (w *jsonWriter) setIndent(v value.Value) error {
	if value.IsNone(v) {
		return nil
	}
	w.lines = true
	if s, ok := value.Text(v); ok {
		w.indent = s
		return nil
	}
	n, ok := value.AsInt(v)
	if !ok {
		return value.TypeErrorf("can't multiply sequence by non-int of type '%s'", v.Type())
	}
	w.indent = strings.Repeat(" ", int(max(0, min(n, 1000))))
	return nil
}

func (w *jsonWriter) newline(depth int) {
	if w.lines {
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
		return nil, value.TypeErrorf("the JSON object must be str, bytes or bytearray, not %s", in.Type())
	}
	v, err := pyyaml.JSON(s, textKind(in))
	if err != nil {
		return nil, value.Errorf("JSONDecodeError", "%s", err)
	}
	return v, nil
}
