package filters

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
)

func wordWrap(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("do_wordwrap", value.Opt("width", value.Int(79)), value.Opt("break_long_words", value.Bool(true)),
		value.Opt("wrapstring", none), value.Opt("break_on_hyphens", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	s, isText := value.Text(in)
	if !isText {
		if err := defined(in); err != nil {
			return nil, err
		}
		return nil, noAttribute(in, "splitlines")
	}
	newline := "\n"
	if !value.IsNone(a[2]) {
		if newline, isText = value.Text(a[2]); !isText {
			return nil, noAttribute(a[2], "join")
		}
	}
	if _, err := jinja.CompareOp("<=", a[0], value.Int(0)); err != nil && s != "" {
		return nil, err
	}
	width, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	if width <= 0 && s != "" {
		return nil, value.ValueErrorf("invalid width %d (must be > 0)", width)
	}
	breakLong, err := value.Truth(a[1])
	if err != nil {
		return nil, err
	}
	hyphens, err := value.Truth(a[3])
	if err != nil {
		return nil, err
	}
	var out []string
	for _, line := range methods.Lines(s, false) {
		out = append(out, strings.Join(wrapLine(line, width, breakLong, hyphens), newline))
	}
	return value.TextLike(in, strings.Join(out, newline)), nil
}

var chunksAtBlanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+|\S+`) })

// wrapLine breaks one line as Python's textwrap does with white space kept within and dropped at the breaks.
func wrapLine(line string, width int, breakLong, hyphens bool) []string {
	chunks := chunksAtBlanks().FindAllString(line, -1)
	if hyphens {
		chunks = atHyphens(chunks)
	}
	var out []string
	for len(chunks) > 0 {
		if len(out) > 0 && strings.TrimSpace(chunks[0]) == "" {
			chunks = chunks[1:]
			continue
		}
		var row []string
		row, chunks = fillRow(chunks, width, breakLong)
		if n := len(row); n > 0 && strings.TrimSpace(row[n-1]) == "" {
			row = row[:n-1]
		}
		if len(row) > 0 {
			out = append(out, strings.Join(row, ""))
		}
	}
	return out
}

// fillRow takes the chunks of the next row, and gives those that are left.
func fillRow(chunks []string, width int, breakLong bool) (row, left []string) {
	room := width
	for len(chunks) > 0 {
		head, rest := cutRunes(chunks[0], room)
		if rest == "" {
			room -= utf8.RuneCountInString(head)
			row, chunks = append(row, head), chunks[1:]
			continue
		}
		switch _, over := cutRunes(rest, width-room); {
		case over == "": // a row of its own has room for it
		case breakLong && room > 0:
			row, chunks[0] = append(row, head), rest
		case !breakLong && len(row) == 0:
			row, chunks = append(row, chunks[0]), chunks[1:]
		}
		break
	}
	return row, chunks
}

// cutRunes parts a text after n code points.
func cutRunes(s string, n int) (head, rest string) {
	for i := range s {
		if n == 0 {
			return s[:i], s[i:]
		}
		n--
	}
	return s, ""
}

// atHyphens parts words after the hyphens between their letters.
func atHyphens(chunks []string) []string {
	var out []string
	for _, c := range chunks {
		start := 0
		for i := 1; i+1 < len(c); i++ {
			if c[i] == '-' && isLetter(c[i-1]) && isLetter(c[i+1]) {
				out, start = append(out, c[start:i+1]), i+1
			}
		}
		out = append(out, c[start:])
	}
	return out
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80 }
