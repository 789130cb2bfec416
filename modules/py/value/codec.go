package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what plain text becomes when it is decoded or taken from Go.
type Kind int

// The kinds of text.
const (
	KindStr Kind = iota
	KindSource
	KindUnsafe
)

// TextAs is s as text of the kind.
func (k Kind) TextAs(s string) Value {
	switch k {
	case KindSource:
		return SourceText(s)
	case KindUnsafe:
		return UnsafeStr(s)
	}
	return Str(s)
}

// Texts returns a list of texts of the kind.
func (k Kind) Texts(list []string) *List {
	out := &List{Items: make([]Value, len(list))}
	for i, s := range list {
		out.Items[i] = k.TextAs(s)
	}
	return out
}

// The codec writes JSON. What JSON lacks is an object with one key: {"!u": text} unsafe text, {"!nu": text} such that
// is no literal, {"!t": [..]} a tuple, {"!b": base64} bytes, {"!f": "nan"} a float that JSON cannot hold, {"!v":
// [cipher, plain]} an opened vault string, {"!v": [cipher, null, reason]} one that cannot be opened, {"!c": [module,
// name, module, name..]} a class and its bases, {"!m": text} a date or datetime, {"!s": text} text that a template
// made and {"!n": text} such that is no literal, where they are told apart from that of files, {"!r": text} and {"!nr":
// text} then what of it level 2.14 renders again, {"!o": 1} then what is
// to be left out, {"!l": name} the lines of the text beside it, where they are asked for so, {"!d": [[k, v]..]} a
// dict with keys that are not text or that would be taken for one of these.

// Encode writes v so that Decode gives it back. Vault strings are opened; one that cannot be opened fails only where
// it is used. Ranges and views of mappings become lists, objects the text that they print; those that have none,
// undefined values and what holds itself are an error.
func Encode(v Value) ([]byte, error) { return encode(v, false) }

// EncodeShort is Encode for those who read with Decode and nothing else: Lines come without their lines, as {"!l":
// name of the entry with the text}.
func EncodeShort(v Value) ([]byte, error) { return encode(v, true) }

// EncodeSource is Encode for plans and what goes with them, which are read with KindSource: text that a template made
// is told apart from that of files, which may be a template or a condition. short is as in EncodeShort.
func EncodeSource(v Value, short bool) ([]byte, error) {
	var b bytes.Buffer
	w := newEncoder(&b, short)
	w.source = true
	if err := w.value(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encode(v Value, short bool) ([]byte, error) {
	var b bytes.Buffer
	if err := newEncoder(&b, short).value(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Inert reports whether a text comes to the same whatever kind it is: it is a number, or a word or path that nothing
// can be evaluated of. Letters of all languages make words; spaces of all kinds part expressions.
func Inert(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return inertWord(s[i:])
		}
		if c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' && c != '_' || c > 'z' {
			if c != '-' && c != '.' && c != '/' && c != ':' && c != '@' {
				return false
			}
		}
	}
	return true
}

// inertWord is Inert for text with letters that are not ASCII.
func inertWord(s string) bool {
	for _, c := range s {
		switch {
		case c == utf8.RuneError:
			return false
		case c < utf8.RuneSelf:
			if !Inert(string(c)) {
				return false
			}
		case !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c):
			return false
		}
	}
	return true
}

func newEncoder(b *bytes.Buffer, short bool) *jsonWriter {
	return &jsonWriter{Buffer: b, forms: tagged, o: compact, short: short}
}

// WriteShort is EncodeShort into a buffer, for those who know how much room that takes.
func WriteShort(b *bytes.Buffer, v Value) error { return newEncoder(b, true).value(v) }

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

// WriteJSONText writes a text as JSON, as encoding/json does that spares HTML, and without another copy of it. Bytes
// that are no UTF-8 are written as Python's surrogateescape has them, and Decode reads them as they were.
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

// JSONTextSize returns how many bytes WriteJSONText writes.
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

// plain reports whether a byte stands for itself.
func plain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

// escapeOf returns how the first letter of s stands in JSON, "" if as it is, and its size.
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
	case r == utf8.RuneError && size == 1: // as the surrogate that Python reads it as
		return fmt.Sprintf(`\udc%02x`, c), 1
	case r == '\u2028', r == '\u2029':
		return fmt.Sprintf(`\u%04x`, r), size
	}
	return "", size
}

// Decode reads what Encode wrote, and any other JSON; plain text becomes the given kind. With KindUnsafe all text
// does: what was written says nothing of its trust then, as suits what another host has written.
func Decode(data []byte, text Kind) (Value, error) {
	return DecodeMoments(data, text, func(s string) Value { return text.TextAs(s) })
}

// DecodeMoments is Decode where dates are made of the texts that they print; with Decode they are these texts.
func DecodeMoments(data []byte, text Kind, moment func(text string) Value) (Value, error) {
	untag := func(d *Dict) (Value, error) {
		v, err := untag(d, moment)
		if text == KindUnsafe && v != Value(d) && err == nil {
			v = Data(v)
		}
		return v, err
	}
	return readJSON(&jsonReader{text: strings.ToValidUTF8(string(data), "\ufffd"), kind: text, object: untag})
}

// untag returns the value that a dict of one tag stands for, and any other dict itself.
func untag(d *Dict, moment func(text string) Value) (Value, error) {
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
	case tag == "!s" && isText:
		return Str(s), nil
	case tag == "!n" && isText:
		return NativeStr(s), nil
	case (tag == "!r" || tag == "!nr") && isText:
		return Rendered{text: s, final: tag == "!nr"}, nil
	case tag == "!o":
		return Omit{}, nil
	case tag == "!m" && isText:
		return moment(s), nil
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
	if n, ok := ParseInt(s, 10); ok {
		return &BigInt{n}, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("bad number %q", s)
	}
	return Float(f), nil
}
