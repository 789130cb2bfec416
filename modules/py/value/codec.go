package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/modules/py/pyint"
)

// Kind says what plain text becomes when it is decoded or taken from Go.
type Kind int

// The kinds of text.
const (
	KindStr Kind = iota
	KindYAML
	KindUnsafe
)

// TextAs is s as text of the kind.
func (k Kind) TextAs(s string) Value {
	switch k {
	case KindYAML:
		return YAMLStr(s)
	case KindUnsafe:
		return UnsafeStr(s)
	}
	return Str(s)
}

// The codec writes JSON. What JSON lacks is an object with one key:
// {"!u": text} unsafe text, {"!nu": text} such that is no literal, {"!t": [..]} a tuple, {"!b": base64} bytes, {"!f": "nan"} a float
// that JSON cannot hold, {"!v": [cipher, plain]} an opened vault string, {"!v": [cipher, null, reason]} one that cannot
// be opened, {"!c": [module, name, module, name..]} a class and its bases,
// {"!l": name} the lines of the text beside it, where they are asked for so,
// {"!d": [[k, v]..]} a dict with keys that are not text or that would be taken for one of these.

// Encode writes v so that Decode gives it back. Vault strings are opened; one that cannot be opened fails only where
// it is used. Ranges and views of mappings become lists, objects the text that they print; those that have none, undefined
// values and what holds itself are an error.
func Encode(v Value) ([]byte, error) { return encode(v, false) }

// EncodeShort is Encode for those who read with Decode and nothing else: Lines come without their lines, as {"!l": name of the entry with the
// text}.
func EncodeShort(v Value) ([]byte, error) { return encode(v, true) }

func encode(v Value, short bool) ([]byte, error) {
	var b bytes.Buffer
	if err := (&encoder{Buffer: &b, short: short}).value(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteShort is EncodeShort into a buffer, for those who know how much room that takes.
func WriteShort(b *bytes.Buffer, v Value) error { return (&encoder{Buffer: b, short: true}).value(v) }

// ShortSize is about how many bytes EncodeShort gives, and no fewer.
func ShortSize(v Value) int {
	const node = 16
	if text, ok := Text(v); ok {
		return node + JSONTextSize(text)
	}
	n := node
	switch v := v.(type) {
	case *Later:
		return ShortSize(v.Value())
	case *List:
		for _, item := range v.Items {
			n += ShortSize(item)
		}
	case *Tuple:
		for _, item := range v.Items {
			n += ShortSize(item)
		}
	case *Dict:
		for i := range v.Len() {
			k, item := v.Kept(i)
			n += ShortSize(k) + ShortSize(item)
		}
	}
	return n
}

type encoder struct {
	*bytes.Buffer
	short bool
	depth int // of lists and mappings within each other: templates can make some that hold themselves
}

// deeper notes that what a value holds is written now.
func (b *encoder) deeper() error {
	if b.depth++; b.depth > maxJSONDepth {
		return Errorf("RecursionError", "maximum recursion depth exceeded while encoding a JSON object")
	}
	return nil
}

func (b *encoder) value(v Value) error {
	switch v := v.(type) {
	case None:
		b.WriteString("null")
	case Bool:
		b.WriteString(strconv.FormatBool(bool(v)))
	case Int:
		b.WriteString(strconv.FormatInt(int64(v), 10))
	case *BigInt:
		b.WriteString(v.Int.String())
	case Float:
		return b.float(float64(v))
	case UnsafeStr:
		b.WriteString(`{"!u":`)
		b.text(string(v))
		b.WriteByte('}')
	case NativeUnsafeStr:
		b.WriteString(`{"!nu":`)
		b.text(string(v))
		b.WriteByte('}')
	case Bytes:
		raw, err := json.Marshal([]byte(v))
		if err != nil {
			return err
		}
		b.WriteString(`{"!b":` + string(raw) + `}`)
	case *Class:
		b.WriteString(`{"!c":`)
		if err := b.items(v.names()); err != nil {
			return err
		}
		b.WriteByte('}')
	case *Vault:
		b.vault(v)
	case *List:
		return b.items(v.Items)
	case *Tuple:
		b.WriteString(`{"!t":`)
		if err := b.items(v.Items); err != nil {
			return err
		}
		b.WriteByte('}')
	case *Dict:
		return b.dict(v)
	case *Later:
		made := v.Value()
		if u, undefined := made.(*Undefined); undefined {
			return u.Use()
		}
		return b.value(made)
	case Range, *View:
		items, err := Elements(v)
		if err != nil {
			return err
		}
		return b.items(items)
	default:
		s, ok := Text(v)
		if p, prints := v.(Printer); prints && !ok {
			s, ok = p.Str(), true
		}
		if !ok {
			return fmt.Errorf("cannot send a value of type %s", v.Type())
		}
		b.text(s)
	}
	return nil
}

func (b *encoder) vault(v *Vault) {
	b.WriteString(`{"!v":[`)
	b.text(v.Cipher)
	if plain, err := v.Open(); err != nil {
		b.WriteString(",null,")
		b.text(err.Error())
	} else {
		b.WriteByte(',')
		b.text(plain)
	}
	b.WriteString("]}")
}

func (b *encoder) text(s string) { WriteJSONText(b.Buffer, s) }

// WriteJSONText writes a text as JSON, as encoding/json does that spares HTML, and without another copy of it.
func WriteJSONText(b *bytes.Buffer, s string) {
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	done := 0
	for i := 0; i < len(s); {
		if plain(s[i]) {
			i++
			continue
		}
		escape, size := escapeOf(s[i:])
		if escape != "" {
			b.WriteString(s[done:i])
			b.WriteString(escape)
			done = i + size
		}
		i += size
	}
	b.WriteString(s[done:])
	b.WriteByte('"')
}

// JSONTextSize is how many bytes WriteJSONText writes.
func JSONTextSize(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); {
		if plain(s[i]) {
			i++
			continue
		}
		escape, size := escapeOf(s[i:])
		if escape != "" {
			n += len(escape) - size
		}
		i += size
	}
	return n
}

// plain tells that a byte stands for itself.
func plain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

// escapeOf is how the first letter of s stands in JSON, "" if as it is, and its size.
func escapeOf(s string) (escape string, size int) {
	c := s[0]
	switch {
	case c == '"':
		return `\"`, 1
	case c == '\\':
		return `\\`, 1
	case c == '\n':
		return `\n`, 1
	case c == '\r':
		return `\r`, 1
	case c == '\t':
		return `\t`, 1
	case c == '\b':
		return `\b`, 1
	case c == '\f':
		return `\f`, 1
	case c < 0x20:
		return fmt.Sprintf(`\u%04x`, c), 1
	case c < utf8.RuneSelf:
		return "", 1
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return `\ufffd`, 1
	case r == '\u2028', r == '\u2029':
		return fmt.Sprintf(`\u%04x`, r), size
	}
	return "", size
}

func (b *encoder) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		b.WriteString(`{"!f":"` + strconv.FormatFloat(f, 'g', -1, 64) + `"}`)
		return nil
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !bytes.ContainsAny([]byte(s), ".eE") {
		s += ".0"
	}
	b.WriteString(s)
	return nil
}

func (b *encoder) items(items []Value) error {
	if err := b.deeper(); err != nil {
		return err
	}
	defer func() { b.depth-- }()
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := b.value(item); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func (b *encoder) dict(d *Dict) error {
	if err := b.deeper(); err != nil {
		return err
	}
	defer func() { b.depth-- }()
	if !plainKeys(d) {
		b.WriteString(`{"!d":[`)
		for i := 0; i < d.Len(); i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			k, v := d.At(i)
			if err := b.items([]Value{k, v}); err != nil {
				return err
			}
		}
		b.WriteString("]}")
		return nil
	}
	b.WriteByte('{')
	for i := 0; i < d.Len(); i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		k, v := d.Kept(i)
		s, _ := Text(k)
		b.text(s)
		b.WriteByte(':')
		if err := b.entry(d, s, v); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// entry writes what an entry of d holds.
func (b *encoder) entry(d *Dict, key string, v Value) error {
	l, ok := v.(*Lines)
	if !ok {
		return b.value(v)
	}
	if b.short && l.Write(b.Buffer, d, key) {
		return nil
	}
	return b.value(l.List())
}

func plainKeys(d *Dict) bool {
	for i := 0; i < d.Len(); i++ {
		k, _ := d.Kept(i)
		s, ok := Text(k)
		if !ok || d.Len() == 1 && len(s) == 2 && s[0] == '!' {
			return false
		}
	}
	return true
}

// Decode reads what Encode wrote, and any other JSON; plain text becomes the given kind.
func Decode(data []byte, text Kind) (Value, error) {
	return readJSON(&jsonReader{text: strings.ToValidUTF8(string(data), "\ufffd"), kind: text, object: untag})
}

// untag gives the value that a dict of one tag stands for, and any other dict itself.
func untag(d *Dict) (Value, error) {
	if d.Len() != 1 {
		return d, d.findTexts()
	}
	k, v := d.At(0)
	tag, _ := Text(k)
	s, isText := Text(v)
	l, isList := v.(*List)
	switch {
	case tag == "!u" && isText:
		return UnsafeStr(s), nil
	case tag == "!nu" && isText:
		return NativeUnsafeStr(s), nil
	case tag == "!l" && isText:
		return &Lines{name: s}, nil
	case tag == "!f" && isText:
		f, err := strconv.ParseFloat(s, 64)
		return Float(f), err
	case tag == "!b" && isText:
		var raw []byte
		err := json.Unmarshal([]byte(`"`+s+`"`), &raw)
		return Bytes(raw), err
	case tag == "!t" && isList:
		return &Tuple{Items: l.Items}, nil
	case tag == "!c" && isList:
		return classNamed(l.Items)
	case tag == "!v" && isList:
		return decodeVault(l.Items)
	case tag == "!d" && isList:
		out := NewDict()
		for _, item := range l.Items {
			pair, ok := item.(*List)
			if !ok || len(pair.Items) != 2 || !out.SetKey(pair.Items[0], pair.Items[1]) {
				return nil, fmt.Errorf("bad dict entry in encoded value")
			}
		}
		return out, nil
	}
	return d, nil
}

func decodeVault(items []Value) (Value, error) {
	var texts [3]string
	for i, item := range items {
		if i < len(texts) {
			texts[i], _ = Text(item)
		}
	}
	switch {
	case len(items) == 2:
		return OpenedVault(texts[0], texts[1], nil), nil
	case len(items) == 3:
		return OpenedVault(texts[0], "", errors.New(texts[2])), nil
	}
	return nil, fmt.Errorf("bad vault string in encoded value")
}

// Number reads a JSON number: an int of any size, or a float.
func Number(s string) (Value, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Int(i), nil
	}
	if n, ok := pyint.Parse(s, 10); ok {
		return &BigInt{n}, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("bad number %q", s)
	}
	return Float(f), nil
}
