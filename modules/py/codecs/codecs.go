// Package codecs knows text encodings by the names that Python gives them.
package codecs

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Error is one of Python's exceptions: LookupError for an encoding that nobody knows, UnicodeEncodeError and
// UnicodeDecodeError.
type Error struct{ Class, Msg string }

func (e *Error) Error() string { return e.Msg }

// InFull returns an error as the last line of Python's traceback has it, with its class if it is one of Python's.
func InFull(err error) string {
	if e, ok := err.(*Error); ok {
		return e.Class + ": " + e.Msg
	}
	return err.Error()
}

func failf(class, format string, a ...any) error { return &Error{class, fmt.Sprintf(format, a...)} }

// Encode returns text in an encoding. What the encoding does not have is an *Error.
func Encode(text, name string) ([]byte, error) {
	canonical, codec, err := find(name)
	if err != nil {
		return nil, err
	}
	if codec == nil {
		return []byte(text), nil
	}
	out, err := codec.NewEncoder().Bytes([]byte(text))
	if err == nil && canonical == "ascii" {
		for _, c := range out {
			if c >= utf8.RuneSelf {
				return nil, refused(canonical, text, codec)
			}
		}
	}
	if err != nil {
		return nil, refused(canonical, text, codec)
	}
	return out, nil
}

// Decode reads text in an encoding. Bytes that this does not have are read as something, where it can be.
func Decode(data []byte, name string) (string, error) {
	canonical, codec, err := find(name)
	if err != nil {
		return "", err
	}
	if codec == nil || canonical == "ascii" { // what is no ASCII stays as it is, as surrogateescape keeps it
		return string(data), nil
	}
	out, err := codec.NewDecoder().Bytes(data)
	if err != nil {
		return "", failf("UnicodeDecodeError", "'%s' codec can't decode the text: %v", name, err)
	}
	return string(out), nil
}

// DecodeStrict is Decode that refuses bytes that the encoding does not have.
func DecodeStrict(data []byte, name string) (string, error) {
	text, err := Decode(data, name)
	if err != nil {
		return "", err
	}
	canonical, _, _ := find(name)
	at, end, why := -1, 0, ""
	switch canonical {
	case "utf-8":
		at, end, why = invalidUTF8(data)
	case "ascii":
		at = slices.IndexFunc(data, func(b byte) bool { return b >= utf8.RuneSelf })
		end, why = at+1, "ordinal not in range(128)"
	case "charmap":
		at = slices.Index([]rune(text), utf8.RuneError)
		end, why = at+1, "character maps to <undefined>"
	}
	switch {
	case at >= len(data): // several bytes are one character
		return "", failf("UnicodeDecodeError", "'%s' codec can't decode the text", canonical)
	case at >= 0 && end == at+1:
		return "", failf("UnicodeDecodeError", "'%s' codec can't decode byte 0x%02x in position %d: %s", canonical, data[at],
			at, why)
	case at >= 0:
		return "", failf("UnicodeDecodeError", "'%s' codec can't decode bytes in position %d-%d: %s", canonical, at, end-1,
			why)
	}
	return text, nil
}

// invalidUTF8 returns where the first bytes lie that are no UTF-8, -1 if all are, and why they are none, in Python's
// words.
func invalidUTF8(data []byte) (at, end int, why string) {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r != utf8.RuneError || size > 1 {
			i += size
			continue
		}
		need := 0
		switch b := data[i]; {
		case b >= 0xc2 && b < 0xe0:
			need = 2
		case b >= 0xe0 && b < 0xf0:
			need = 3
		case b >= 0xf0 && b <= 0xf4:
			need = 4
		default:
			return i, i + 1, "invalid start byte"
		}
		for n := 1; n < need; n++ {
			if i+n == len(data) {
				return i, len(data), "unexpected end of data"
			}
			if !continues(data[i], data[i+n], n) {
				return i, i + n, "invalid continuation byte"
			}
		}
		i += size
	}
	return -1, 0, ""
}

// continues reports whether a byte may be the nth of a character after its first.
func continues(first, b byte, n int) bool {
	low, high := byte(0x80), byte(0xbf)
	if n == 1 {
		switch first {
		case 0xe0:
			low = 0xa0
		case 0xed:
			high = 0x9f
		case 0xf0:
			low = 0x90
		case 0xf4:
			high = 0x8f
		}
	}
	return b >= low && b <= high
}

// find returns the encoding with its name in Python's errors; a nil encoding is UTF-8.
func find(name string) (string, encoding.Encoding, error) {
	plain := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	switch plain {
	case "utf-8", "utf8", "u8", "utf":
		return "utf-8", nil, nil
	case "ascii", "us-ascii", "646":
		return "ascii", charmap.ISO8859_1, nil
	case "latin-1", "latin1", "latin", "iso-8859-1", "iso8859-1", "8859", "l1":
		// What the web takes for Latin-1 is Windows-1252.
		return "latin-1", charmap.ISO8859_1, nil
	case "utf-8-sig":
		return plain, unicode.UTF8BOM, nil
	case "utf-16", "utf16", "u16":
		return "utf-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), nil
	case "utf-16-le", "utf-16le":
		return "utf-16-le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case "utf-16-be", "utf-16be":
		return "utf-16-be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	case "utf-32", "utf32", "u32":
		return "utf-32", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), nil
	case "utf-32-le", "utf-32le":
		return "utf-32-le", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), nil
	case "utf-32-be", "utf-32be":
		return "utf-32-be", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), nil
	}
	for _, spelling := range []struct{ python, web string }{{"iso8859", "iso-8859"}, {"cp125", "windows-125"},
		{"cp866", "ibm866"}} {
		if rest, ok := strings.CutPrefix(plain, spelling.python); ok {
			plain = spelling.web + rest
		}
	}
	if plain == "cp437" {
		return plain, charmap.CodePage437, nil
	}
	codec, err := htmlindex.Get(plain)
	if err != nil {
		return "", nil, failf("LookupError", "unknown encoding: %s", name)
	}
	return "charmap", codec, nil
}

// refused is the error of the characters that an encoding does not have.
func refused(canonical, text string, codec encoding.Encoding) error {
	limit := map[string]rune{"ascii": 128, "latin-1": 256}[canonical]
	reason := "character maps to <undefined>"
	fits := func(r rune) bool { _, err := codec.NewEncoder().String(string(r)); return err == nil }
	if limit > 0 {
		reason = map[rune]string{128: "ordinal not in range(128)", 256: "ordinal not in range(256)"}[limit]
		fits = func(r rune) bool { return r < limit }
	}
	runes := []rune(text)
	first, last := -1, -1
	for i, r := range runes {
		if !fits(r) && first < 0 {
			first, last = i, i
		} else if !fits(r) && last == i-1 {
			last = i
		}
	}
	switch {
	case first < 0:
		return failf("UnicodeEncodeError", "'%s' codec can't encode the text", canonical)
	case first == last:
		return failf("UnicodeEncodeError", "'%s' codec can't encode character %s in position %d: %s", canonical,
			escaped(runes[first]), first, reason)
	}
	return failf("UnicodeEncodeError", "'%s' codec can't encode characters in position %d-%d: %s", canonical, first, last,
		reason)
}

// escaped returns a character as Python's ascii() prints it.
func escaped(r rune) string {
	const digits = "0123456789abcdef"
	size, letter := 8, "U"
	switch {
	case r < 0x100:
		size, letter = 2, "x"
	case r < 0x10000:
		size, letter = 4, "u"
	}
	out := make([]byte, size)
	for i := size - 1; i >= 0; i-- {
		out[i] = digits[r&15]
		r >>= 4
	}
	return `'\` + letter + string(out) + "'"
}
