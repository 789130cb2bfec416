package pyre

import (
	"strings"
	"unicode/utf8"
)

// runesOf returns the characters of a text. Bytes that are no UTF-8 become surrogates, as in Python, so that textOf
// finds them again.
func runesOf(s string, bytes bool) []rune {
	out := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if !bytes {
			if r, size = utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
				r = 0xDC00 + rune(s[i])
			}
		}
		out = append(out, r)
		i += size
	}
	return out
}

func textOf(runes []rune, bytes bool) string {
	var b strings.Builder
	b.Grow(len(runes))
	for _, r := range runes {
		switch {
		case bytes:
			b.WriteByte(byte(r))
		case isStray(r):
			b.WriteByte(byte(r - 0xDC00))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isStray reports whether a character stands for a byte which is no UTF-8.
func isStray(r rune) bool { return r >= 0xDC80 && r <= 0xDCFF }

func (r *Regexp) runes(s string) []rune    { return runesOf(s, r.bytes) }
func (r *Regexp) text(runes []rune) string { return textOf(runes, r.bytes) }
