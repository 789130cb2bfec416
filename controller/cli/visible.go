package cli

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"
)

// visible is a terminal that obeys nobody but us: what hosts print, and what they are called, may hold control sequences that set its
// title, fill its clipboard or write over what stands there. They are shown instead of done. Colours and line ends pass, and so does what
// rewrites a line. Files and pipes get every byte as it is.
type visible struct{ w io.Writer }

// harmless is what passes: colours, the end of a line erased.
var harmless = regexp.MustCompile(`^\x1b\[([0-9;:]*m|K)`)

// Write implements io.Writer.
func (v visible) Write(p []byte) (int, error) {
	if _, err := v.w.Write(shown(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown is a text with its control characters made visible.
func shown(p []byte) []byte {
	var out []byte // nil as long as nothing differs
	from := 0
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		if pass := passes(p[i:], r); pass > 0 {
			i += max(pass, size)
			continue
		}
		out = fmt.Appendf(append(out, p[from:i]...), `\x%02x`, r)
		i += size
		from = i
	}
	if out == nil {
		return p
	}
	return append(out, p[from:]...)
}

// passes is how many bytes at the beginning of p, whose first character is r, are no danger; 0 if that is a control character.
func passes(p []byte, r rune) int {
	switch {
	case r == '\x1b':
		return len(harmless.Find(p))
	case bytes.ContainsRune([]byte("\n\r\t"), r), r >= ' ' && r < 0x7f, r > 0x9f:
		return 1
	}
	return 0
}
