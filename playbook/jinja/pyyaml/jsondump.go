package pyyaml

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja/methods"
)

// JSONOptions are how DumpJSON prints.
type JSONOptions struct {
	// Item and Colon stand between items and after keys.
	Item, Colon string
	// ASCII escapes everything else.
	ASCII bool
	// Sorted orders keys.
	Sorted bool
	// Lines puts each item on a line, indented by Indent for each level.
	Lines  bool
	Indent string
	// Replace gives what is printed in place of a value; nil prints them as they are.
	Replace func(value.Value) value.Value
}

// DumpJSON prints a value as Python's json.dumps does.
func DumpJSON(v value.Value, o JSONOptions) (string, error) {
	w := jsonDumper{o: o}
	if err := w.write(v, 0); err != nil {
		return "", err
	}
	return w.b.String(), nil
}

type jsonDumper struct {
	o JSONOptions
	b strings.Builder
}

func (w *jsonDumper) newline(depth int) {
	if w.o.Lines {
		w.b.WriteString("\n" + strings.Repeat(w.o.Indent, depth))
	}
}

func (w *jsonDumper) write(v value.Value, depth int) error {
	if depth > 500 {
		return value.ValueErrorf("Circular reference detected")
	}
	if w.b.Len() > value.MaxText {
		return value.TooLong()
	}
	if w.o.Replace != nil {
		v = w.o.Replace(v)
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
	case value.Range, *value.View: // as lists, as in ansible-core 2.19
		items, err := value.Elements(v)
		if err != nil {
			return err
		}
		return w.items(items, depth)
	case interface{ ISO() string }: // a date or time
		w.text(v.ISO())
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

func (w *jsonDumper) items(items []value.Value, depth int) error {
	if len(items) == 0 {
		w.b.WriteString("[]")
		return nil
	}
	w.b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.b.WriteString(w.o.Item)
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

func (w *jsonDumper) dict(d *value.Dict, depth int) error {
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
			w.b.WriteString(w.o.Item)
		}
		w.newline(depth + 1)
		if err := w.key(k); err != nil {
			return err
		}
		w.b.WriteString(w.o.Colon)
		if err := w.write(v, depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.b.WriteByte('}')
	return nil
}

func (w *jsonDumper) key(k value.Value) error {
	s, err := jsonKey(k)
	if err == nil {
		w.text(s)
	}
	return err
}

// jsonKey is a key as text.
func jsonKey(k value.Value) (string, error) {
	switch k := k.(type) {
	case value.None:
		return "null", nil
	case value.Bool:
		return strconv.FormatBool(bool(k)), nil
	case value.Int, *value.BigInt:
		return value.ToStr(k)
	case value.Float:
		return jsonFloat(float64(k)), nil
	}
	s, ok := value.Text(k)
	if !ok {
		return "", value.TypeErrorf("keys must be str, int, float, bool or None, not %s", k.Type())
	}
	return s, nil
}

// order is the order in which the entries are printed.
func (w *jsonDumper) order(d *value.Dict) ([]int, error) {
	at := make([]value.Value, d.Len())
	for i := range at {
		at[i] = value.Int(i)
	}
	if w.o.Sorted {
		if err := sortKeys(at, d.Keys()); err != nil {
			return nil, err
		}
	}
	order := make([]int, len(at))
	for i, n := range at {
		order[i] = int(n.(value.Int))
	}
	return order, nil
}

// sortKeys sorts at by keys. Those of several types, which Python cannot sort, go by their text, as in ansible-core 2.19.
func sortKeys(at, keys []value.Value) error {
	if methods.Sort(at, false, keys) == nil {
		return nil
	}
	for i, k := range keys {
		s, err := jsonKey(k)
		if err != nil {
			return err
		}
		keys[i] = value.Str(s)
	}
	return methods.Sort(at, false, keys)
}

func (w *jsonDumper) text(s string) {
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
		case r < ' ' || w.o.ASCII && r >= 0x7f && r < 0x10000:
			fmt.Fprintf(&w.b, `\u%04x`, r)
		case w.o.ASCII && r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&w.b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			w.b.WriteString(s[i : i+n])
		}
		i += n
	}
	w.b.WriteByte('"')
}
