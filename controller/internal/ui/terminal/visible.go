package terminal

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
	"unicode/utf8"

	"hark/controller/internal/ui/view"
)

// Visible is a terminal that obeys nobody but us: what hosts print, and what they are called, may hold control
// sequences that set its title, fill its clipboard, hide it or write over what stands there. They are shown instead
// of done. Colours and line ends pass, and so does what rewrites a line. Files and pipes get every byte as it is.
type Visible struct{ W io.Writer }

// harmless is what passes: colours, the end of a line erased.
var harmless = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\x1b\[([0-9;:]*m|K)`) })

// hiding finds what makes text invisible among the parameters of a colour, those of colours by number put aside.
var (
	hiding   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|;)0*8(?:;|$)`) })
	numbered = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[345]8[;:](?:5[;:]\d*|` + `2[;:]\d*[;:]\d*[;:]\d*)`)
	})
)

// Write implements io.Writer.
func (v Visible) Write(p []byte) (int, error) {
	if _, err := v.W.Write(shown(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown returns a text with its control characters made visible.
func shown(p []byte) []byte {
	var out []byte // nil as long as nothing differs
	from := 0
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		if pass := passes(p[i:], r); pass > 0 {
			i += max(pass, size)
			continue
		}
		form := `\x%02x`
		if r > 0xff {
			form = `\u%04x`
		}
		out = fmt.Appendf(append(out, p[from:i]...), form, r)
		i += size
		from = i
	}
	if out == nil {
		return p
	}
	return append(out, p[from:]...)
}

// passes returns how many bytes at the beginning of p, whose first character is r, are no danger; 0 if that is a
// control character.
func passes(p []byte, r rune) int {
	switch {
	case r == '\x1b':
		code := harmless().Find(p)
		if hiding().Match(numbered().ReplaceAll(bytes.Trim(code, "\x1b[m"), nil)) {
			return 0
		}
		return len(code)
	case view.Unseen(r):
		return 0
	case bytes.ContainsRune([]byte("\n\r\t"), r), r >= ' ' && r < 0x7f, r > 0x9f:
		return 1
	}
	return 0
}
