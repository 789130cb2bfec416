// Package ansihtml renders what hosts print as HTML. Text stays text: markup in it is shown, colours become spans of a
// few classes, and invisible characters, or those that would change the order of reading, are shown as escapes.
package ansihtml

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/controller/internal/console/scrollback"
	"hark/controller/internal/ui/view"
)

// Line renders one line of a screen, without its end, as HTML. Of a line longer than most bytes it shows the beginning
// and the length.
func Line(text string, most int) template.HTML {
	if len(text) <= most {
		w := writer{}
		w.line(text)
		w.close()
		return template.HTML(w.b.String())
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return Begin(text[:end], len(text))
}

// Plain returns a line of a screen without its colours: the text without the sequences that Line obeys.
func Plain(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if n := colour(text[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// writer writes one line.
type writer struct {
	b    strings.Builder
	look look
	open bool
}

// look is how text is shown: colours are 1 to 16, 0 is none.
type look struct {
	fore, back               int
	bold, italic, underlined bool
}

func (w *writer) line(text string) {
	for i := 0; i < len(text); {
		if text[i] == 0x1b {
			if n := colour(text[i:]); n > 0 {
				w.obey(text[i+2 : i+n-1])
				i += n
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		w.char(r, size, text[i])
		i += size
	}
}

// char writes a character, as an escape if it would be invisible.
func (w *writer) char(r rune, size int, first byte) {
	switch {
	case r == utf8.RuneError && size == 1:
		w.escape(`\x%02x`, rune(first))
	case r == '\t', r >= ' ' && r < 0x7f:
		switch r {
		case '<':
			w.b.WriteString("&lt;")
		case '>':
			w.b.WriteString("&gt;")
		case '&':
			w.b.WriteString("&amp;")
		case '"':
			w.b.WriteString("&#34;")
		case '\'':
			w.b.WriteString("&#39;")
		default:
			w.b.WriteByte(first)
		}
	case r <= 0x9f:
		w.escape(`\x%02x`, r)
	case view.Unseen(r):
		w.escape(`\u%04x`, r)
	default:
		w.b.WriteRune(r)
	}
}

func (w *writer) escape(form string, r rune) {
	w.b.WriteString(`<i class="ctl">`)
	fmt.Fprintf(&w.b, form, r)
	w.b.WriteString(`</i>`)
}

// colour returns the length of the sequence that sets colours (SGR) at the beginning of text, 0 if there is none.
func colour(text string) int {
	const longest = 64
	if len(text) < 3 || text[0] != 0x1b || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text) && i < longest; i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// obey applies the parameters of a sequence. It ignores those that hide text: nothing on a page is invisible.
func (w *writer) obey(params string) {
	was := w.look
	codes := strings.FieldsFunc(params+";", func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		codes = []string{"0"}
	}
	for i := 0; i < len(codes); i++ {
		n, err := strconv.Atoi(codes[i])
		if err != nil {
			break
		}
		if n == 38 || n == 48 {
			c, used := numbered(codes[i+1:])
			if i += used; n == 38 {
				w.look.fore = c
			} else {
				w.look.back = c
			}
			continue
		}
		w.look.set(n)
	}
	if w.look != was {
		w.close()
		w.begin()
	}
}

func (l *look) set(n int) {
	switch {
	case n == 0:
		*l = look{}
	case n == 1:
		l.bold = true
	case n == 3:
		l.italic = true
	case n == 4:
		l.underlined = true
	case n == 22:
		l.bold = false
	case n == 23:
		l.italic = false
	case n == 24:
		l.underlined = false
	case n >= 30 && n <= 37:
		l.fore = n - 30 + 1
	case n == 39:
		l.fore = 0
	case n >= 40 && n <= 47:
		l.back = n - 40 + 1
	case n == 49:
		l.back = 0
	case n >= 90 && n <= 97:
		l.fore = n - 90 + 9
	case n >= 100 && n <= 107:
		l.back = n - 100 + 9
	}
}

// begin opens a span if text is not to look plain.
func (w *writer) begin() {
	if w.look == (look{}) {
		return
	}
	var classes []string
	if w.look.fore > 0 {
		classes = append(classes, "f"+strconv.Itoa(w.look.fore-1))
	}
	if w.look.back > 0 {
		classes = append(classes, "g"+strconv.Itoa(w.look.back-1))
	}
	for _, style := range []struct {
		class string
		on    bool
	}{{"b", w.look.bold}, {"i", w.look.italic}, {"u", w.look.underlined}} {
		if style.on {
			classes = append(classes, style.class)
		}
	}
	w.b.WriteString(`<span class="` + strings.Join(classes, " ") + `">`)
	w.open = true
}

func (w *writer) close() {
	if w.open {
		w.b.WriteString("</span>")
		w.open = false
	}
}

// Begin renders the beginning of a line that has length bytes.
func Begin(text string, length int) template.HTML {
	w := writer{}
	w.line(text)
	w.close()
	return template.HTML(w.b.String() + cutMark(length))
}

func cutMark(length int) string {
	return fmt.Sprintf(`<i class="cut"> … cut here: the line has %d bytes, all of them in the download</i>`, length)
}

// Marked renders a line without colours and marks a word in it. Of a long line it shows most bytes around the first
// match.
func Marked(line, word string, most int) template.HTML {
	low, word := scrollback.Lower(line), scrollback.Lower(word)
	var b strings.Builder
	put := func(text string) {
		w := writer{}
		w.line(text)
		w.close()
		b.WriteString(w.b.String())
	}
	at := 0
	if first := strings.Index(low, word); first > most/2 {
		for at = first - most/4; !utf8.RuneStart(line[at]); {
			at--
		}
		b.WriteString(`<i class="cut">… </i>`)
	}
	end := min(len(line), at+most)
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	for at < end {
		i := strings.Index(low[at:end], word)
		if i < 0 || word == "" {
			break
		}
		put(line[at : at+i])
		b.WriteString("<mark>")
		put(line[at+i : at+i+len(word)])
		b.WriteString("</mark>")
		at += i + len(word)
	}
	put(line[at:end])
	if end < len(line) {
		b.WriteString(cutMark(len(line)))
	}
	return template.HTML(b.String())
}

// Visible replaces invisible characters in HTML, and those that would change the order of reading, by escapes: names of
// hosts and tasks reach pages through templates, which leave them unchanged.
func Visible(html string) string {
	if !strings.ContainsFunc(html, hidden) {
		return html
	}
	var b strings.Builder
	for _, r := range html {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\x%02x`, r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || view.Unseen(r)
}
