package view

import (
	"strings"

	"github.com/dlclark/regexp2"
)

// wrap breaks text into lines of at most columns characters as Python's textwrap does, since that is
// what people's eyes and log filters know: white space becomes blanks, words may be broken after a
// hyphen or in the middle when they are longer than a line. With trim, blanks at line ends are dropped.
func wrap(text string, columns int, trim bool) []string {
	w := wrapper{columns: columns, trim: trim, chunks: words(blankSpace(text))}
	for len(w.chunks) > 0 {
		w.line()
	}
	return w.lines
}

// blankSpace expands tabs and turns all other white space into blanks.
func blankSpace(text string) string {
	var b strings.Builder
	column := 0
	for _, r := range text {
		switch r {
		case '\t':
			n := 8 - column%8
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		case '\n', '\r':
			column = -1
			r = ' '
		case '\v', '\f':
			r = ' '
		}
		column++
		b.WriteRune(r)
	}
	return b.String()
}

// words cuts text into blanks, words and parts of hyphenated words; joined they are the text.
func words(text string) [][]rune {
	const (
		space  = `[\t\n\v\f\r ]`
		other  = `[^\t\n\v\f\r ]`
		letter = `[^\d\W]`
		punct  = `[\w!"'&.,?]`
	)
	chunk := regexp2.MustCompile(space+`+|(?<=`+punct+`)-{2,}(?=\w)|`+
		other+`+?(?:-(?:(?<=`+letter+`{2}-)|(?<=`+letter+`-`+letter+`-))(?=`+letter+`-?`+letter+`)|(?=`+space+`|\z)|(?<=`+punct+`)(?=-{2,}\w))`, 0)
	var chunks [][]rune
	for m, err := chunk.FindStringMatch(text); err == nil && m != nil; m, err = chunk.FindNextMatch(m) {
		chunks = append(chunks, []rune(m.String()))
	}
	return chunks
}

type wrapper struct {
	columns int
	trim    bool
	chunks  [][]rune
	lines   []string
}

// line moves the chunks of one line to lines.
func (w *wrapper) line() {
	if w.trim && len(w.lines) > 0 && blank(w.chunks[0]) {
		w.chunks = w.chunks[1:]
	}
	var line [][]rune
	n := 0
	for len(w.chunks) > 0 && n+len(w.chunks[0]) <= w.columns {
		line, n = append(line, w.chunks[0]), n+len(w.chunks[0])
		w.chunks = w.chunks[1:]
	}
	if len(w.chunks) > 0 && len(w.chunks[0]) > w.columns {
		line = append(line, w.breakWord(w.columns-n))
	}
	if w.trim && len(line) > 0 && blank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	if len(line) == 0 {
		return
	}
	var b strings.Builder
	for _, chunk := range line {
		b.WriteString(string(chunk))
	}
	w.lines = append(w.lines, b.String())
}

// breakWord takes as much of the first chunk as there is room for, up to a hyphen if it has one.
func (w *wrapper) breakWord(room int) []rune {
	word, end := w.chunks[0], room
	for i := room - 1; i > 0; i-- {
		if word[i] == '-' && strings.Trim(string(word[:i]), "-") != "" {
			end = i + 1
			break
		}
		if word[i] == '-' {
			break
		}
	}
	w.chunks[0] = word[end:]
	return word[:end]
}

func blank(chunk []rune) bool { return strings.TrimSpace(string(chunk)) == "" }
