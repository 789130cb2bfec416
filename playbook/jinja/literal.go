package jinja

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/modules/py/value"
)

// digitsLength returns the length of digits with single underscores between them.
func digitsLength(s string, ok func(c byte) bool) int {
	n := 0
	for n < len(s) {
		if ok(s[n]) {
			n++
			continue
		}
		if s[n] == '_' && n > 0 && n+1 < len(s) && ok(s[n+1]) && s[n-1] != '_' {
			n++
			continue
		}
		break
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func floatLength(s string) int {
	n := digitsLength(s, isDigit)
	if n == 0 {
		return 0
	}
	point := false
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		point = true
		n += 1 + digitsLength(s[n+1:], isDigit)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		e := n + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if d := digitsLength(s[e:], isDigit); d > 0 {
			return e + d
		}
	}
	if !point {
		return 0
	}
	return n
}

func integerLength(s string) int {
	if s == "" || !isDigit(s[0]) {
		return 0
	}
	if s[0] != '0' {
		return digitsLength(s, isDigit)
	}
	if len(s) > 2 {
		digits := func(c byte) bool { return false }
		switch s[1] | 0x20 {
		case 'b':
			digits = func(c byte) bool { return c == '0' || c == '1' }
		case 'o':
			digits = func(c byte) bool { return c >= '0' && c <= '7' }
		case 'x':
			digits = func(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
		}
		rest := s[2:]
		skip := 0
		if rest[0] == '_' {
			skip, rest = 1, rest[1:]
		}
		if n := digitsLength(rest, digits); n > 0 {
			return 2 + skip + n
		}
	}
	return digitsLength(s, func(c byte) bool { return c == '0' })
}

func nameLength(s string) int {
	n := 0
	for n < len(s) {
		if isWordByte(s[n]) {
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		if r < utf8.RuneSelf || !unicode.In(r, unicode.L, unicode.N, unicode.Mn, unicode.Mc) {
			break
		}
		n += size
	}
	return n
}

// isWordByte reports whether an ASCII character may be in a name.
func isWordByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c)
}

// isIdentifier is Python's str.isidentifier for what nameLength accepts.
func isIdentifier(s string) bool {
	for i, r := range s {
		if r < utf8.RuneSelf && (i > 0 || !isDigit(byte(r))) {
			continue
		}
		if i == 0 && !unicode.In(r, unicode.L, unicode.Nl) {
			return false
		}
		if unicode.Is(unicode.No, r) {
			return false
		}
	}
	return true
}

func stringLength(s string) int {
	if s[0] != '\'' && s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}

// parseInteger reads an integer literal.
func parseInteger(s string) value.Value {
	s = strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(s, 0, 64); err == nil && (len(s) < 2 || s[0] != '0' || !isDigit(s[1])) {
		return value.Int(i)
	}
	n, ok := new(big.Int).SetString(s, 0)
	if !ok || strings.Trim(s, "0") == "" {
		return value.Int(0)
	}
	return value.NewInt(n)
}

// unescape reads the escapes of a string literal as Python does; unknown ones stay as they are.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, err := unescapeOne(&b, s[i:])
		if err != nil {
			return "", err
		}
		i += n
	}
	return b.String(), nil
}

// unescapeOne writes the escape that s starts with and gives its length.
func unescapeOne(b *strings.Builder, s string) (int, error) {
	if len(s) == 1 {
		return 0, fmt.Errorf(`\ at end of string`)
	}
	if i := strings.IndexByte(`\'"abfnrtv`, s[1]); i >= 0 {
		b.WriteByte("\\'\"\a\b\f\n\r\t\v"[i])
		return 2, nil
	}
	switch c := s[1]; {
	case c == '\n':
		return 2, nil
	case c >= '0' && c <= '7':
		n := 1
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		r, _ := strconv.ParseUint(s[1:n], 8, 32)
		b.WriteRune(rune(r))
		return n, nil
	case c == 'x':
		return hexEscape(b, s, 2, `truncated \xXX escape`)
	case c == 'u':
		return hexEscape(b, s, 4, `truncated \uXXXX escape`)
	case c == 'U':
		return hexEscape(b, s, 8, `truncated \UXXXXXXXX escape`)
	case c == 'N':
		return 0, fmt.Errorf(`malformed \N character escape`)
	}
	b.WriteByte('\\')
	return 1, nil
}

func hexEscape(b *strings.Builder, s string, digits int, truncated string) (int, error) {
	if len(s) < 2+digits {
		return 0, fmt.Errorf("%s", truncated)
	}
	r, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%s", truncated)
	}
	if r > unicode.MaxRune {
		return 0, fmt.Errorf("illegal Unicode character")
	}
	b.WriteRune(rune(r))
	return 2 + digits, nil
}

func quoteChar(r rune) string { return value.ReprText(string(r)) }
