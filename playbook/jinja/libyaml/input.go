package libyaml

// input is the text with the place in it.
type input struct {
	text []rune // with some zeros behind it
	at   int
	mark Mark
}

// fault is an error at the current place.
func (in *input) fault(context string, from Mark, problem string) error {
	return &Error{Class: "ScannerError", Context: context, ContextMark: from, Problem: problem, Mark: in.mark}
}

func (in *input) peek(n int) rune { return in.text[min(in.at+n, len(in.text)-1)] }

func (in *input) column() int { return in.mark.Column - 1 }

func (in *input) skip(n int) {
	in.at += n
	in.mark.Column += n
}

// skipLine goes past a line break.
func (in *input) skipLine() {
	if in.peek(0) == '\r' && in.peek(1) == '\n' {
		in.at++
	}
	in.at++
	in.mark = Mark{in.mark.Line + 1, 1}
}

// line reads a line break, if there is one: those of ASCII and NEL are all a newline.
func (in *input) line(to []rune) []rune {
	r := in.peek(0)
	if !isBreak(r) {
		return to
	}
	in.skipLine()
	if r == '\u2028' || r == '\u2029' {
		return append(to, r)
	}
	return append(to, '\n')
}

// comment goes to the end of a line that has a comment here.
func (in *input) comment() {
	if in.peek(0) == '#' {
		for !isBreakOrEnd(in.peek(0)) {
			in.skip(1)
		}
	}
}

func (in *input) blanks() {
	for isBlank(in.peek(0)) {
		in.skip(1)
	}
}

// marker reports whether --- or ... stands here by itself.
func (in *input) marker(c rune) bool {
	return in.column() == 0 && in.peek(0) == c && in.peek(1) == c && in.peek(2) == c && isBlankOrEnd(in.peek(3))
}

func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

func isBreakOrEnd(r rune) bool { return r == 0 || isBreak(r) }

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func isBlankOrEnd(r rune) bool { return isBlank(r) || isBreakOrEnd(r) }

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-'
}
