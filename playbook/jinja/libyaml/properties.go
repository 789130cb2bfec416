package libyaml

import (
	"strings"
	"unicode/utf8"
)

// words reads letters, digits, dashes and underscores.
func (in *input) words() string {
	var name []rune
	for isWord(in.peek(0)) {
		name = append(name, in.peek(0))
		in.skip(1)
	}
	return string(name)
}

func (s *scanner) anchor(kind tokenKind, context string) error {
	start := s.mark
	s.skip(1)
	name := s.words()
	if r := s.peek(0); name == "" || !isBlankOrEnd(r) && !strings.ContainsRune("?:,]}%@`", r) {
		return s.fault(context, start, "did not find expected alphabetic or numeric character")
	}
	s.put(token{kind: kind, start: start, end: s.mark, text: name})
	return nil
}

func (s *scanner) tag() error {
	const context = "while scanning a tag"
	start := s.mark
	t := token{kind: tagToken, start: start}
	var err error
	if s.peek(1) == '<' {
		s.skip(2)
		if t.suffix, err = s.uri(context2{"while parsing a tag", start}, true, ""); err != nil {
			return err
		}
		if s.peek(0) != '>' {
			return s.fault(context, start, "did not find the expected '>'")
		}
		s.skip(1)
	} else if t.text, t.suffix, err = s.shortTag(start); err != nil {
		return err
	}
	if r := s.peek(0); !isBlankOrEnd(r) && (s.flow == 0 || r != ',') {
		return s.fault(context, start, "did not find expected whitespace or line break")
	}
	t.end = s.mark
	s.put(t)
	return nil
}

// shortTag reads a tag of a handle and a suffix. The tag "!" has a suffix only.
func (in *input) shortTag(start Mark) (handle, suffix string, err error) {
	if handle, err = in.handle("while scanning a tag", start, false); err != nil {
		return "", "", err
	}
	at := context2{"while parsing a tag", start}
	if len(handle) > 1 && strings.HasSuffix(handle, "!") {
		suffix, err = in.uri(at, false, "")
		return handle, suffix, err
	}
	if suffix, err = in.uri(at, false, handle); err != nil {
		return "", "", err
	}
	if suffix == "" {
		return "", "!", nil
	}
	return "!", suffix, nil
}

// context2 is the context of errors.
type context2 struct {
	what string
	from Mark
}

func (in *input) handle(context string, start Mark, directive bool) (string, error) {
	if in.peek(0) != '!' {
		return "", in.fault(context, start, "did not find expected '!'")
	}
	in.skip(1)
	name := "!" + in.words()
	if in.peek(0) == '!' {
		in.skip(1)
		return name + "!", nil
	}
	if directive && name != "!" {
		return "", in.fault("while parsing a tag directive", start, "did not find expected '!'")
	}
	return name, nil
}

// uri reads an address or the rest of a tag, whose beginning was taken for a handle.
func (in *input) uri(at context2, brackets bool, head string) (string, error) {
	var out []byte
	if len(head) > 1 {
		out = append(out, head[1:]...)
	}
	found := head != ""
	for {
		r := in.peek(0)
		switch {
		case r == '%':
			octets, err := in.escapedOctets(at)
			if err != nil {
				return "", err
			}
			out = append(out, octets...)
		case isWord(r) || r != 0 && strings.ContainsRune(";/?:@&=+$.!~*'()", r) ||
			brackets && (r == ',' || r == '[' || r == ']'):
			out = utf8.AppendRune(out, r)
			in.skip(1)
		default:
			if !found {
				return "", in.fault(at.what, at.from, "did not find expected tag URI")
			}
			return string(out), nil
		}
		found = true
	}
}

// escapedOctets reads a character as octets in hexadecimal digits.
func (in *input) escapedOctets(at context2) ([]byte, error) {
	var out []byte
	for width := 1; len(out) < width; {
		high, low := hexDigit(in.peek(1)), hexDigit(in.peek(2))
		if in.peek(0) != '%' || high < 0 || low < 0 {
			return nil, in.fault(at.what, at.from, "did not find URI escaped octet")
		}
		octet := byte(high<<4 | low)
		switch {
		case len(out) > 0 && octet&0xc0 != 0x80:
			return nil, in.fault(at.what, at.from, "found an incorrect trailing UTF-8 octet")
		case len(out) == 0:
			if width = utf8Width(octet); width == 0 {
				return nil, in.fault(at.what, at.from, "found an incorrect leading UTF-8 octet")
			}
		}
		out = append(out, octet)
		in.skip(3)
	}
	return out, nil
}

func utf8Width(octet byte) int {
	switch {
	case octet&0x80 == 0:
		return 1
	case octet&0xe0 == 0xc0:
		return 2
	case octet&0xf0 == 0xe0:
		return 3
	case octet&0xf8 == 0xf0:
		return 4
	}
	return 0
}

func (s *scanner) directive() error {
	const context = "while scanning a directive"
	t := token{start: s.mark}
	s.skip(1)
	name := s.words()
	if name == "" {
		return s.fault(context, t.start, "could not find expected directive name")
	}
	if !isBlankOrEnd(s.peek(0)) {
		return s.fault(context, t.start, "found unexpected non-alphabetical character")
	}
	var err error
	switch name {
	case "YAML":
		t.kind = versionDirective
		err = s.version(&t)
	case "TAG":
		t.kind = tagDirective
		err = s.prefix(&t)
	default:
		err = s.fault(context, t.start, "found unknown directive name")
	}
	if err != nil {
		return err
	}
	t.end = s.mark
	s.put(t)
	s.blanks()
	s.comment()
	if !isBreakOrEnd(s.peek(0)) {
		return s.fault(context, t.start, "did not find expected comment or line break")
	}
	if isBreak(s.peek(0)) {
		s.skipLine()
	}
	return nil
}

func (in *input) version(t *token) (err error) {
	in.blanks()
	if t.major, err = in.versionNumber(t.start); err != nil {
		return err
	}
	if in.peek(0) != '.' {
		return in.fault("while scanning a %YAML directive", t.start, "did not find expected digit or '.' character")
	}
	in.skip(1)
	t.minor, err = in.versionNumber(t.start)
	return err
}

func (in *input) versionNumber(start Mark) (int, error) {
	n, digits := 0, 0
	for ; in.peek(0) >= '0' && in.peek(0) <= '9'; digits++ {
		if digits == 9 {
			return 0, in.fault("while scanning a %YAML directive", start, "found extremely long version number")
		}
		n = n*10 + int(in.peek(0)-'0')
		in.skip(1)
	}
	if digits == 0 {
		return 0, in.fault("while scanning a %YAML directive", start, "did not find expected version number")
	}
	return n, nil
}

func (in *input) prefix(t *token) (err error) {
	const context = "while scanning a %TAG directive"
	in.blanks()
	if t.text, err = in.handle("while scanning a tag directive", t.start, true); err != nil {
		return err
	}
	if !isBlank(in.peek(0)) {
		return in.fault(context, t.start, "did not find expected whitespace")
	}
	in.blanks()
	if t.suffix, err = in.uri(context2{"while parsing a %TAG directive", t.start}, true, ""); err != nil {
		return err
	}
	if !isBlankOrEnd(in.peek(0)) {
		return in.fault(context, t.start, "did not find expected whitespace or line break")
	}
	return nil
}
