package value

import (
	"strings"
	"unicode/utf8"
)

// CutLine parts a text after its first line, as str.splitlines ends it; end is what ended that, "" at the end of the
// text.
func CutLine(text string) (line, end, rest string) {
	for i := 0; i < len(text); i++ {
		if size := endAt(text[i:]); size > 0 {
			return text[:i], text[i : i+size], text[i+size:]
		}
	}
	return text, "", ""
}

// endAt returns the size of the end of a line with which a text begins, 0 if it begins with none.
func endAt(text string) int {
	switch c := text[0]; {
	case c == '\r' && strings.HasPrefix(text, "\r\n"):
		return 2
	case c >= '\n' && c <= '\r', c >= 0x1c && c <= 0x1e:
		return 1
	case c != 0xc2 && c != 0xe2:
		return 0
	}
	if r, size := utf8.DecodeRuneInString(text); r == 0x85 || r == 0x2028 || r == 0x2029 {
		return size
	}
	return 0
}
