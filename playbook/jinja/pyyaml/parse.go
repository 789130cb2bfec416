package pyyaml

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja/libyaml"
)

// Load reads a text of one document. The node of an empty text is None.
func Load(data []byte, o Options) (*Node, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	doc, err := libyaml.Single(text)
	if err != nil {
		return nil, grammar(err)
	}
	if doc == nil {
		return &Node{Value: value.None{}, Mark: Mark{Line: 1, Column: 1}}, nil
	}
	return construct(doc, o)
}

// LoadAll reads every document of a text.
func LoadAll(data []byte, o Options) ([]*Node, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	docs, err := libyaml.All(text)
	if err != nil {
		return nil, grammar(err)
	}
	nodes := make([]*Node, 0, len(docs))
	for _, d := range docs {
		n, err := construct(d, o)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// grammar is an error of the grammar as one of this package.
func grammar(err error) error {
	var e *libyaml.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Problem: e.Problem, Mark: e.Mark, Class: e.Class, Context: e.Context, ContextMark: e.ContextMark}
}

// decode returns the characters of a text in UTF-8, or in UTF-16 with a mark.
func decode(data []byte) (string, error) {
	if err := checkCharacters(data); err != nil {
		return "", err
	}
	if utf8.Valid(data) {
		return string(data), nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 0xfe {
		order = binary.BigEndian
	}
	var units []uint16
	for ; len(data) > 1; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	text := string(utf16.Decode(units))
	return text, checkCharacters([]byte(text))
}

// checkCharacters refuses what PyYAML's reader refuses, with its words.
func checkCharacters(data []byte) error {
	if !utf8.Valid(data) {
		if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
			return nil // UTF-16 with a mark
		}
		at := 0
		for at < len(data) {
			r, n := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return &Error{Problem: fmt.Sprintf("'utf8' codec can't decode byte #x%02x: invalid UTF-8", data[at]),
			Tail: fmt.Sprintf("\n  in \"<unicode string>\", position %d", at)}
	}
	for at, r := range string(data) {
		if !printable(r) && !(at == 0 && r == '\ufeff') {
			return &Error{Tail: fmt.Sprintf("unacceptable character #x%04x: control characters are not allowed\n  in "+
				"\"<unicode string>\", position %d", r, at)}
		}
	}
	return nil
}

func printable(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85, r == 0xfeff:
		return true
	case r < 0x20, r == 0x7f, r > 0x7f && r < 0xa0, r >= 0xd800 && r < 0xe000, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}
