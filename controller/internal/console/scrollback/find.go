package scrollback

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// findLine is how many bytes of a line are searched.
const findLine = 16 << 20

// Find finds a text in all ended lines, ignoring case, after clean has removed what is no text from a line. It calls
// found with each line that has it, counted from 0, and the line's number. It returns in how many places the text is,
// and in how many lines.
func (r *Lines) Find(ctx context.Context, text string, clean func(string) string,
	found func(at, n int, line string)) (places, lines int, err error) {
	word := Lower(text)
	e := r.Each(0, findLine, func(n int, line []byte, _ int) bool {
		if n%4096 == 0 && ctx.Err() != nil {
			return false
		}
		s := clean(string(line))
		times := strings.Count(Lower(s), word)
		if times == 0 {
			return true
		}
		found(lines, n, s)
		places += times
		lines++
		return true
	})
	if ctx.Err() != nil {
		return 0, 0, ctx.Err()
	}
	return places, lines, e
}

// Lower returns s in lower case, byte for byte: a match in it is at the same place in the text.
func Lower(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return lower(s)
		}
	}
	return strings.ToLower(s)
}

func lower(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if l := unicode.ToLower(r); utf8.RuneLen(l) == size {
			b.WriteRune(l)
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}
