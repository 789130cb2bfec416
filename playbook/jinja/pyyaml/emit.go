package pyyaml

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"hark/modules/py/value"
)

// emitter writes nodes as libyaml's emitter does.
type emitter struct {
	b           strings.Builder
	bestIndent  int
	width       int
	unicode     bool
	indent      int
	flowLevel   int
	column      int
	whitespace  bool // the last character was a blank or a line end
	indention   bool // the line holds only indentation and indicators
	placed      map[*node]bool
	indentStack []int
	full        bool // the text is longer than can be
	openEnded   bool // the last block or plain text would take in what follows the document
}

func newEmitter(o DumpOptions) *emitter {
	e := &emitter{bestIndent: o.Indent, width: o.Width, unicode: o.Unicode, indent: -1, whitespace: true, indention: true,
		placed: map[*node]bool{}}
	if e.bestIndent < 2 || e.bestIndent > 9 {
		e.bestIndent = 2
	}
	if e.width >= 0 && e.width <= e.bestIndent*2 {
		e.width = 80
	}
	if e.width < 0 {
		e.width = 1<<31 - 1
	}
	return e
}

// place is where a node stands.
type place struct{ root, mapping, simpleKey bool }

func (e *emitter) write(s string) {
	if e.full = e.full || e.b.Len()+len(s) > value.MaxText; !e.full {
		e.b.WriteString(s)
	}
	e.column += utf8.RuneCountInString(s)
}

func (e *emitter) newline() {
	e.b.WriteByte('\n')
	e.column = 0
}

// writeBreak writes a line break of the text itself.
func (e *emitter) writeBreak(c rune) {
	if c == '\n' {
		e.newline()
		return
	}
	e.b.WriteRune(c)
	e.column = 0
}

func (e *emitter) writeIndent() {
	indent := max(e.indent, 0)
	if !e.indention || e.column > indent || e.column == indent && !e.whitespace {
		e.newline()
	}
	for e.column < indent {
		e.write(" ")
	}
	e.whitespace, e.indention = true, true
}

// indicator writes punctuation: with a blank before it if need, and then being blank and part of the indentation as
// told.
func (e *emitter) indicator(s string, need, blank, indention bool) {
	if need && !e.whitespace {
		e.write(" ")
	}
	e.write(s)
	e.whitespace = blank
	e.indention = e.indention && indention
}

func (e *emitter) increaseIndent(flow, indentless bool) {
	e.indentStack = append(e.indentStack, e.indent)
	switch {
	case e.indent < 0 && flow:
		e.indent = e.bestIndent
	case e.indent < 0:
		e.indent = 0
	case !indentless:
		e.indent += e.bestIndent
	}
}

func (e *emitter) decreaseIndent() {
	e.indent = e.indentStack[len(e.indentStack)-1]
	e.indentStack = e.indentStack[:len(e.indentStack)-1]
}

func (e *emitter) node(n *node, p place) {
	if e.full {
		return
	}
	if n.anchor != "" {
		if e.placed[n] {
			e.indicator("*", true, false, false)
			e.write(n.anchor)
			if p.simpleKey {
				e.write(" ")
			}
			return
		}
		e.placed[n] = true
		e.indicator("&", true, false, false)
		e.write(n.anchor)
	}
	flow := e.flowLevel > 0 || n.flow || len(n.items) == 0
	switch {
	case n.kind == 's':
		e.scalar(n, p)
	case n.kind == 'l' && flow:
		e.flowList(n)
	case n.kind == 'l':
		e.blockList(n, p)
	case flow:
		e.flowMapping(n)
	default:
		e.blockMapping(n)
	}
}

func (e *emitter) flowList(n *node) {
	e.indicator("[", true, true, false)
	e.increaseIndent(true, false)
	e.flowLevel++
	for i, item := range n.items {
		if i > 0 {
			e.indicator(",", false, false, false)
		}
		if e.column > e.width {
			e.writeIndent()
		}
		e.node(item, place{})
	}
	e.flowLevel--
	e.decreaseIndent()
	e.indicator("]", false, false, false)
}

func (e *emitter) flowMapping(n *node) {
	e.indicator("{", true, true, false)
	e.increaseIndent(true, false)
	e.flowLevel++
	for i := 0; i < len(n.items); i += 2 {
		if i > 0 {
			e.indicator(",", false, false, false)
		}
		if e.column > e.width {
			e.writeIndent()
		}
		if e.isSimpleKey(n.items[i]) {
			e.node(n.items[i], place{mapping: true, simpleKey: true})
			e.indicator(":", false, false, false)
		} else {
			e.indicator("?", true, false, false)
			e.node(n.items[i], place{mapping: true})
			if e.column > e.width {
				e.writeIndent()
			}
			e.indicator(":", true, false, false)
		}
		e.node(n.items[i+1], place{mapping: true})
	}
	e.flowLevel--
	e.decreaseIndent()
	e.indicator("}", false, false, false)
}

func (e *emitter) blockList(n *node, p place) {
	e.increaseIndent(false, p.mapping && !e.indention)
	for _, item := range n.items {
		e.writeIndent()
		e.indicator("-", true, false, true)
		e.node(item, place{})
	}
	e.decreaseIndent()
}

func (e *emitter) blockMapping(n *node) {
	e.increaseIndent(false, false)
	for i := 0; i < len(n.items); i += 2 {
		e.writeIndent()
		if e.isSimpleKey(n.items[i]) {
			e.node(n.items[i], place{mapping: true, simpleKey: true})
			e.indicator(":", false, false, false)
		} else {
			e.indicator("?", true, false, true)
			e.node(n.items[i], place{mapping: true})
			e.writeIndent()
			e.indicator(":", true, false, true)
		}
		e.node(n.items[i+1], place{mapping: true})
	}
	e.decreaseIndent()
}

const maxSimpleKey = 128

// isSimpleKey reports whether a key may stand before its colon without a question mark.
func (e *emitter) isSimpleKey(n *node) bool {
	if n.anchor != "" && e.placed[n] {
		return len(n.anchor) <= maxSimpleKey
	}
	length := len(n.anchor)
	if n.kind != 's' {
		return len(n.items) == 0 && length <= maxSimpleKey
	}
	a := analyze(n.text, e.unicode)
	if !n.plain && !n.quoted {
		length += len(n.tag)
	}
	return !a.multiline && length+len(n.text) <= maxSimpleKey
}

// scalar chooses the style and writes the tag, if the text does not say it, and the text.
func (e *emitter) scalar(n *node, p place) {
	a := analyze(n.text, e.unicode)
	style := e.style(n, a, p)
	switch {
	case n.plain && (style == 0 || n.quoted), style != 0 && n.quoted, style == 0 && n.plain:
	case n.plain || strings.HasPrefix(n.tag, "!!") && n.tag != tagBinary:
		e.indicator("!", true, false, false) // the plain text would say the tag, the quoted one does not
	default:
		e.indicator(n.tag, true, false, false)
	}
	e.increaseIndent(true, false)
	switch style {
	case 0:
		e.plainText(n.text, !p.simpleKey, len(n.text) > 0 || e.flowLevel > 0)
	case '\'':
		e.singleQuoted(n.text, !p.simpleKey)
	case '"':
		e.doubleQuoted(n.text, !p.simpleKey)
	case '|':
		e.literal(n.text)
	case '>':
		e.folded(n.text)
	}
	e.decreaseIndent()
}

func (e *emitter) style(n *node, a analysis, p place) byte {
	style := n.style
	tagged := !n.plain && !n.quoted // the tag is written
	if p.simpleKey && a.multiline {
		style = '"'
	}
	if style == 0 {
		flow := e.flowLevel > 0
		switch {
		case flow && !a.flowPlain, !flow && !a.blockPlain, n.text == "" && (flow || p.simpleKey), !tagged && !n.plain:
			style = '\''
		}
	}
	if style == '\'' && !a.single {
		style = '"'
	}
	if (style == '|' || style == '>') && (!a.block || e.flowLevel > 0 || p.simpleKey) {
		style = '"'
	}
	return style
}

func indentHint(text string, indent int) string {
	hint := ""
	if first, _ := utf8.DecodeRuneInString(text); first == ' ' || isBreak(first) {
		hint = strconv.Itoa(indent)
	}
	last, n := utf8.DecodeLastRuneInString(text)
	switch {
	case !isBreak(last):
		return hint + "-"
	case n == len(text):
		return hint + "+"
	}
	if before, _ := utf8.DecodeLastRuneInString(text[:len(text)-n]); isBreak(before) {
		return hint + "+"
	}
	return hint
}
