package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

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
// {"!d": [[k, v]..]} a dict with keys that are not text or that would be taken for one of these.

// Encode writes v so that Decode gives it back. Vault strings are opened; one that cannot be opened fails only where
// it is used. Ranges and views of mappings become lists, objects the text that they print; those that have none, undefined
// values and what holds itself are an error.
func Encode(v Value) ([]byte, error) {
	var b bytes.Buffer
	if err := encode(&b, v, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encode(b *bytes.Buffer, v Value, depth int) error {
	if depth > maxJSONDepth { // templates can make lists that hold themselves
		return Errorf("RecursionError", "maximum recursion depth exceeded while encoding a JSON object")
	}
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
		return encodeFloat(b, float64(v))
	case UnsafeStr:
		b.WriteString(`{"!u":`)
		encodeText(b, string(v))
		b.WriteByte('}')
	case NativeUnsafeStr:
		b.WriteString(`{"!nu":`)
		encodeText(b, string(v))
		b.WriteByte('}')
	case Bytes:
		raw, err := json.Marshal([]byte(v))
		if err != nil {
			return err
		}
		b.WriteString(`{"!b":` + string(raw) + `}`)
	case *Class:
		b.WriteString(`{"!c":`)
		if err := encodeItems(b, v.names(), depth); err != nil {
			return err
		}
		b.WriteByte('}')
	case *Vault:
		encodeVault(b, v)
	case *List:
		return encodeItems(b, v.Items, depth)
	case *Tuple:
		b.WriteString(`{"!t":`)
		if err := encodeItems(b, v.Items, depth); err != nil {
			return err
		}
		b.WriteByte('}')
	case *Dict:
		return encodeDict(b, v, depth)
	case Range, *View:
		items, err := Elements(v)
		if err != nil {
			return err
		}
		return encodeItems(b, items, depth)
	default:
		s, ok := Text(v)
		if p, prints := v.(Printer); prints && !ok {
			s, ok = p.Str(), true
		}
		if !ok {
			return fmt.Errorf("cannot send a value of type %s", v.Type())
		}
		encodeText(b, s)
	}
	return nil
}

func encodeVault(b *bytes.Buffer, v *Vault) {
	b.WriteString(`{"!v":[`)
	encodeText(b, v.Cipher)
	if plain, err := v.Open(); err != nil {
		b.WriteString(",null,")
		encodeText(b, err.Error())
	} else {
		b.WriteByte(',')
		encodeText(b, plain)
	}
	b.WriteString("]}")
}

func encodeText(b *bytes.Buffer, s string) {
	if isPlainASCII(s) {
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
		return
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	b.Truncate(b.Len() - 1)
}

// isPlainASCII tells whether s needs no escapes in JSON.
func isPlainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

func encodeFloat(b *bytes.Buffer, f float64) error {
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

func encodeItems(b *bytes.Buffer, items []Value, depth int) error {
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encode(b, item, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func encodeDict(b *bytes.Buffer, d *Dict, depth int) error {
	if !plainKeys(d) {
		b.WriteString(`{"!d":[`)
		for i := 0; i < d.Len(); i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			k, v := d.At(i)
			if err := encodeItems(b, []Value{k, v}, depth); err != nil {
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
		k, v := d.At(i)
		s, _ := Text(k)
		encodeText(b, s)
		b.WriteByte(':')
		if err := encode(b, v, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func plainKeys(d *Dict) bool {
	for i := 0; i < d.Len(); i++ {
		k, _ := d.At(i)
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
		return d, nil
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
