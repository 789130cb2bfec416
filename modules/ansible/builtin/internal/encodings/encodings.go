// Package encodings reads and writes texts in the encodings that Python knows by name.
package encodings

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	utf16 "golang.org/x/text/encoding/unicode"
)

// Of finds an encoding by a name that Python knows; nil is UTF-8. ascii tells that only half of it may be used.
func Of(name string) (enc encoding.Encoding, ascii bool, err error) {
	plain := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	switch plain {
	case "utf-8", "utf8":
		return nil, false, nil
	case "ascii", "us-ascii":
		return charmap.ISO8859_1, true, nil
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1":
		return charmap.ISO8859_1, false, nil // for the web, and for htmlindex, it is Windows-1252
	case "utf-16-le", "utf-16le":
		return utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM), false, nil
	case "utf-16-be", "utf-16be":
		return utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM), false, nil
	case "utf-16", "utf16":
		return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM), false, nil
	}
	if enc, err = htmlindex.Get(plain); err != nil {
		return nil, false, fmt.Errorf("LookupError: unknown encoding: %s", name)
	}
	return enc, false, nil
}

// Encode writes text in an encoding.
func Encode(text, name string) (string, error) {
	enc, ascii, err := Of(name)
	if enc == nil || err != nil {
		return text, err
	}
	out, err := enc.NewEncoder().String(text)
	if err != nil || ascii && strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return "", fmt.Errorf("cannot encode the text as %s", name)
	}
	return out, nil
}

// Decode reads a text in an encoding.
func Decode(raw, name string) (string, error) {
	enc, _, err := Of(name)
	if enc == nil || err != nil {
		return raw, err
	}
	out, err := enc.NewDecoder().String(raw)
	if err != nil {
		return "", fmt.Errorf("cannot read the file as %s: %w", name, err)
	}
	return out, nil
}
