package pyyaml

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// analysis says in which styles a text can be written.
type analysis struct{ multiline, flowPlain, blockPlain, single, block bool }

func isBreak(c rune) bool {
	return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029
}

// emitPrintable is what libyaml takes for printable: nothing beyond the basic plane.
func emitPrintable(c rune) bool {
	switch {
	case c == '\n', c >= 0x20 && c <= 0x7e, c >= 0xa0 && c <= 0xd7ff, c >= 0xe000 && c <= 0xfffd && c != 0xfeff:
		return true
	}
	return false
}

func analyze(s string, unicode bool) analysis {
	if s == "" {
		return analysis{blockPlain: true, single: true}
	}
	var blockMark, flowMark, breaks, special, lead, trailSpace, trail, breakSpace, spaceBreak bool
	if strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		blockMark, flowMark = true, true
	}
	before, prevSpace, prevBreak := true, false, false
	for i, c := range s {
		next := i + utf8.RuneLen(c)
		after := true
		if next < len(s) {
			following, _ := utf8.DecodeRuneInString(s[next:])
			after = blank(following)
		}
		flow, block := indicators(c, i == 0, before, after)
		flowMark, blockMark = flowMark || flow, blockMark || block
		special = special || !emitPrintable(c) || c >= utf8.RuneSelf && !unicode
		isSpace, isBrk := c == ' ', isBreak(c)
		breaks = breaks || isBrk
		lead = lead || i == 0 && (isSpace || isBrk)
		trail = trail || next == len(s) && (isSpace || isBrk)
		trailSpace = trailSpace || next == len(s) && isSpace
		breakSpace = breakSpace || isSpace && prevBreak
		spaceBreak = spaceBreak || isBrk && prevSpace
		prevSpace, prevBreak = isSpace, isBrk
		before = blank(c)
	}
	a := analysis{multiline: breaks, flowPlain: true, blockPlain: true, single: true, block: !trailSpace}
	if lead || trail || breaks || breakSpace {
		a.flowPlain, a.blockPlain = false, false
	}
	a.single = !breakSpace
	if spaceBreak || special {
		a.flowPlain, a.blockPlain, a.single, a.block = false, false, false, false
	}
	a.flowPlain, a.blockPlain = a.flowPlain && !flowMark, a.blockPlain && !blockMark
	return a
}

func blank(c rune) bool { return c == ' ' || c == '\t' || isBreak(c) || c == 0 }

// indicators reports whether a character would be taken for punctuation in flow and in block style.
func indicators(c rune, first, before, after bool) (flow, block bool) {
	if first {
		switch {
		case strings.ContainsRune("#,[]{}&*!|>'\"%@`", c):
			return true, true
		case c == '?' || c == ':':
			return true, after
		case c == '-':
			return after, after
		}
		return false, false
	}
	switch {
	case strings.ContainsRune(",?[]{}", c):
		return true, false
	case c == ':':
		return true, after
	case c == '#':
		return before, before
	}
	return false, false
}

// folds reports whether a line may be ended at the blank at s[i], being at neither end.
func (e *emitter) folds(s string, i int, allowed, spaces bool) bool {
	return allowed && !spaces && e.column > e.width && i > 0 && i < len(s)-1
}

func (e *emitter) plainText(s string, breaks, spaced bool) {
	e.openEnded = false
	if !e.whitespace && spaced {
		e.write(" ")
	}
	e.foldedText(s, func(i int, spaces bool) bool {
		return breaks && !spaces && e.column > e.width && !strings.HasPrefix(s[i+1:], " ")
	}, "")
	e.whitespace, e.indention = false, false
}

func (e *emitter) singleQuoted(s string, breaks bool) {
	e.indicator("'", true, false, false)
	if e.foldedText(s, func(i int, spaces bool) bool {
		return e.folds(s, i, breaks, spaces) && !strings.HasPrefix(s[i+1:], " ")
	}, "'") {
		e.writeIndent()
	}
	e.indicator("'", false, false, false)
	e.whitespace, e.indention = false, false
}

// foldedText writes text whose line ends are written as empty lines; fold says where a blank may become a line end,
// double is a character that is written twice. It reports whether the text ends with a line end.
func (e *emitter) foldedText(s string, fold func(i int, spaces bool) bool, double string) (atBreak bool) {
	spaces, breaks := false, false
	for i, c := range s {
		switch {
		case c == ' ':
			if fold(i, spaces) {
				e.writeIndent()
			} else {
				e.write(" ")
			}
			spaces = true
		case isBreak(c):
			if !breaks && c == '\n' {
				e.newline()
			}
			e.writeBreak(c)
			e.indention = true
			breaks = true
		default:
			if breaks {
				e.writeIndent()
			}
			if double != "" && string(c) == double {
				e.write(double)
			}
			e.write(string(c))
			e.indention = false
			spaces, breaks = false, false
		}
	}
	return breaks
}

var dumpEscapes = map[rune]string{0: `\0`, 7: `\a`, 8: `\b`, 9: `\t`, 10: `\n`, 11: `\v`, 12: `\f`, 13: `\r`,
	0x1b: `\e`,
	'"':  `\"`, '\\': `\\`, 0x85: `\N`, 0xa0: `\_`, 0x2028: `\L`, 0x2029: `\P`}

func (e *emitter) doubleQuoted(s string, breaks bool) {
	e.indicator(`"`, true, false, false)
	spaces := false
	for i, c := range s {
		switch {
		case !emitPrintable(c) || c >= utf8.RuneSelf && !e.unicode || isBreak(c) || c == '"' || c == '\\':
			e.write(dumpEscape(c))
			spaces = false
		case c == ' ':
			if e.folds(s, i, breaks, spaces) {
				e.writeIndent()
				if strings.HasPrefix(s[i+1:], " ") {
					e.write(`\`)
				}
			} else {
				e.write(" ")
			}
			spaces = true
		default:
			e.write(string(c))
			spaces = false
		}
	}
	e.indicator(`"`, false, false, false)
	e.whitespace, e.indention = false, false
}

func dumpEscape(c rune) string {
	if s, ok := dumpEscapes[c]; ok {
		return s
	}
	switch {
	case c <= 0xff:
		return fmt.Sprintf(`\x%02X`, c)
	case c <= 0xffff:
		return fmt.Sprintf(`\u%04X`, c)
	}
	return fmt.Sprintf(`\U%08X`, c)
}

// blockStart begins a block scalar. One that keeps the line ends behind it must not be the last thing of a document.
func (e *emitter) blockStart(sign, s string) {
	hint := indentHint(s, e.bestIndent)
	e.indicator(sign+hint, true, false, false)
	e.openEnded = strings.HasSuffix(hint, "+")
}

func (e *emitter) literal(s string) {
	e.blockStart("|", s)
	e.newline()
	e.indention, e.whitespace = true, true
	breaks := true
	for _, c := range s {
		if isBreak(c) {
			e.writeBreak(c)
			e.indention, breaks = true, true
			continue
		}
		if breaks {
			e.writeIndent()
		}
		e.write(string(c))
		e.indention, breaks = false, false
	}
}

func (e *emitter) folded(s string) {
	e.blockStart(">", s)
	e.newline()
	e.indention, e.whitespace = true, true
	breaks, leadingSpaces := true, true
	for i, c := range s {
		rest := s[i+utf8.RuneLen(c):]
		switch {
		case isBreak(c):
			if !breaks && !leadingSpaces && c == '\n' && !blankAfterBreaks(s[i:]) {
				e.newline()
			}
			e.writeBreak(c)
			e.indention, breaks = true, true
		default:
			if breaks {
				e.writeIndent()
				leadingSpaces = blank(c)
			}
			if !breaks && c == ' ' && !strings.HasPrefix(rest, " ") && e.column > e.width {
				e.writeIndent()
			} else {
				e.write(string(c))
			}
			e.indention, breaks = false, false
		}
	}
}

// blankAfterBreaks reports whether what follows the line ends at the beginning of s is blank or nothing.
func blankAfterBreaks(s string) bool {
	for _, c := range s {
		if !isBreak(c) {
			return blank(c)
		}
	}
	return true
}
