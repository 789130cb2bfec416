package view

import (
	"slices"
	"strings"
	"unicode"
)

// maxWrapped is the size in bytes up to which text is wrapped.
const maxWrapped = 1 << 20

// wrap breaks text into lines of at most columns characters as Python's textwrap does, since that is
// what people's eyes and log filters know: white space becomes blanks, words may be broken after a
// hyphen or in the middle when they are longer than a line. With trim, blanks at line ends are dropped.
// Text that nobody reads to its end stays as it is.
func wrap(text string, columns int, trim bool) []string {
	if len(text) > maxWrapped {
		return []string{text}
	}
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

// words cuts text into blanks, words and parts of hyphenated words; joined they are the text. It looks at every
// character a few times at most, however long the words are: warnings come from hosts.
func words(text string) [][]rune {
	s := scan([]rune(text))
	var chunks [][]rune
	for at := 0; at < len(s); {
		end := s.chunk(at)
		chunks = append(chunks, s[at:end:end])
		at = end
	}
	return chunks
}

// scan is a text that is cut into chunks. Places outside of it are no character of any kind.
type scan []rune

func (s scan) is(at int, kind func(rune) bool) bool { return at >= 0 && at < len(s) && kind(s[at]) }

// chunk returns the end of the chunk that begins at a place.
func (s scan) chunk(at int) int {
	if s.is(at, isBlank) {
		return at + s.run(at, isBlank)
	}
	if s.dash(at) {
		return at + s.run(at, isHyphen)
	}
	for end := at + 1; ; end++ {
		switch {
		case end == len(s), isBlank(s[end]), s.dash(end):
			return end
		case s.hyphen(end):
			return end + 1
		}
	}
}

// dash reports whether hyphens stand for a dash between words: behind a word, two or more, and before another.
func (s scan) dash(at int) bool {
	if !s.is(at, isHyphen) || !s.is(at-1, isPunct) {
		return false
	}
	n := s.run(at, isHyphen)
	return n > 1 && s.is(at+n, isWord)
}

// hyphen reports whether a word may be broken behind a hyphen: letters are before and behind it.
func (s scan) hyphen(at int) bool {
	if !isHyphen(s[at]) || !s.is(at-1, isLetter) || !s.is(at+1, isLetter) {
		return false
	}
	before := s.is(at-2, isLetter) || s.is(at-2, isHyphen) && s.is(at-3, isLetter)
	behind := s.is(at+2, isLetter) || s.is(at+2, isHyphen) && s.is(at+3, isLetter)
	return before && behind
}

// run returns how many characters of a kind stand at a place.
func (s scan) run(at int, kind func(rune) bool) int {
	n := 0
	for s.is(at+n, kind) {
		n++
	}
	return n
}

func isBlank(r rune) bool  { return r == ' ' || r >= '\t' && r <= '\r' }
func isHyphen(r rune) bool { return r == '-' }
func isWord(r rune) bool   { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
func isLetter(r rune) bool { return isWord(r) && !unicode.IsDigit(r) }
func isPunct(r rune) bool  { return isWord(r) || strings.ContainsRune(`!"'&.,?`, r) }

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

func blank(chunk []rune) bool {
	return !slices.ContainsFunc(chunk, func(r rune) bool { return !unicode.IsSpace(r) })
}
