package pyre

import (
	"fmt"
	"strconv"
	"strings"
)

// template is a replacement: texts and groups in turn.
type template []piece

type piece struct {
	text  string
	group int // -1 is text
}

func (t template) fill(m *Match) string {
	var b strings.Builder
	for _, p := range t {
		if p.group < 0 {
			b.WriteString(p.text)
		} else {
			b.WriteString(m.Group(p.group))
		}
	}
	return b.String()
}

// template reads a replacement of Python's re: \1, \g<1>, \g<name>, and the escapes of strings.
func (r *Regexp) template(s string) (template, error) {
	var t template
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t = append(t, piece{text.String(), -1})
			text.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			text.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return nil, templateError(`bad escape (end of pattern)`)
		}
		c := s[i]
		switch {
		case c == 'g':
			n, size, err := r.named(s[i+1:])
			if err != nil {
				return nil, err
			}
			flush()
			t = append(t, piece{group: n})
			i += size
		case c == '0' || isOctal(s[i:]):
			size := 1
			for size < 3 && i+size < len(s) && s[i+size] >= '0' && s[i+size] <= '7' {
				size++
			}
			n, _ := strconv.ParseUint(s[i:i+size], 8, 16)
			text.WriteRune(rune(n & 0xff))
			i += size - 1
		case c >= '1' && c <= '9':
			size := 1
			if i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				size = 2
			}
			n, _ := strconv.Atoi(s[i : i+size])
			if n > r.count() {
				return nil, templateError(fmt.Sprintf("invalid group reference %d", n))
			}
			flush()
			t = append(t, piece{group: n})
			i += size - 1
		default:
			plain, ok := escapes(c)
			if !ok {
				return nil, templateError(`bad escape \` + string(c))
			}
			text.WriteString(plain)
		}
	}
	flush()
	return t, nil
}

// count is the number of groups.
func (r *Regexp) count() int { return len(r.re.GetGroupNumbers()) - 1 }

func isOctal(s string) bool {
	return len(s) >= 3 && s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7'
}

// named reads <name> or <number>.
func (r *Regexp) named(s string) (group, size int, err error) {
	end := strings.IndexByte(s, '>')
	if !strings.HasPrefix(s, "<") || end < 2 {
		return 0, 0, templateError("missing group name")
	}
	name := s[1:end]
	if n, err := strconv.Atoi(name); err == nil {
		if n > r.count() {
			return 0, 0, templateError(fmt.Sprintf("invalid group reference %d", n))
		}
		return n, end + 1, nil
	}
	n, ok := r.names[name]
	if !ok {
		return 0, 0, templateError("unknown group name '" + name + "'")
	}
	return n, end + 1, nil
}

// escapes are those of strings; unknown ones are errors for letters and stay as they are otherwise.
func escapes(c byte) (string, bool) {
	switch c {
	case 'a':
		return "\a", true
	case 'b':
		return "\b", true
	case 'f':
		return "\f", true
	case 'n':
		return "\n", true
	case 'r':
		return "\r", true
	case 't':
		return "\t", true
	case 'v':
		return "\v", true
	case '\\':
		return `\`, true
	}
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	return `\` + string(c), !letter
}

// templateError is Python's message about a replacement.
type templateError string

func (e templateError) Error() string { return string(e) }
