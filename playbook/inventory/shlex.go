package inventory

import "strings"

// shellWords splits a line as Python's shlex.split(comments=True): quotes, backslashes, and # begins a comment anywhere between words.
func shellWords(line string) ([]string, error) {
	if !strings.ContainsAny(line, `'"\#`) {
		return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }), nil
	}
	var words []string
	var b strings.Builder
	open := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			if open {
				words, open = append(words, b.String()), false
				b.Reset()
			}
		case c == '#':
			if open {
				words = append(words, b.String())
			}
			return words, nil
		case c == '\'' || c == '"':
			open = true
			n, err := quoted(&b, line[i+1:], c)
			if err != nil {
				return nil, err
			}
			i += n
		case c == '\\':
			open = true
			if i++; i == len(line) {
				return nil, failf("No escaped character")
			}
			b.WriteByte(line[i])
		default:
			open = true
			b.WriteByte(c)
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words, nil
}

// quoted takes text up to the closing quote and tells how many bytes it used, with the quote.
func quoted(b *strings.Builder, s string, quote byte) (int, error) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return i + 1, nil
		case c == '\\' && quote == '"':
			if i++; i == len(s) {
				return 0, failf("No escaped character")
			}
			if s[i] != '"' && s[i] != '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return 0, failf("No closing quotation")
}
