package pyre

import (
	"math"
	"strconv"
	"strings"
)

// parser reads Python's grammar and writes regexp2's. All groups are written without names, so that they are numbered
// as Python numbers them.
type parser struct {
	source
	flags  Options
	out    strings.Builder
	names  map[string]int
	widths []width // of the groups; those that are still open have open set
	behind int     // the first group that is inside of a look-behind; 0 outside of any
}

// width is how many characters a part can match.
type width struct {
	least, most int
	open        bool
}

// endless is the width of what has no bound.
const endless = math.MaxInt32

func (w width) then(next width) width {
	return width{least: min(w.least+next.least, endless), most: min(w.most+next.most, endless)}
}

func (w width) or(other width) width {
	return width{least: min(w.least, other.least), most: max(w.most, other.most)}
}

func (w width) times(least, most int) width {
	if w.most == 0 {
		return width{}
	}
	return width{least: int(min(int64(w.least)*int64(least), endless)), most: int(min(int64(w.most)*int64(most), endless))}
}

// maxDepth bounds nested groups.
const maxDepth = 250

func (p *parser) parse() error {
	if n := len(p.text); n > 0 && p.text[n-1] == '\\' && (n-1-lastOther(p.text))%2 == 1 {
		return p.failAt(n-1, "bad escape (end of pattern)")
	}
	if err := p.globalFlags(); err != nil {
		return err
	}
	if _, err := p.branches(p.flags.Verbose, 0); err != nil {
		return err
	}
	if !p.done() {
		return p.fail(0, "unbalanced parenthesis")
	}
	return nil
}

// lastOther returns the place of the last character that is no backslash.
func lastOther(text []rune) int {
	i := len(text) - 1
	for i >= 0 && text[i] == '\\' {
		i--
	}
	return i
}

// globalFlags takes the flags at the beginning, as in (?i).
func (p *parser) globalFlags() error {
	for {
		rest := string(p.text[p.at:])
		end := strings.IndexByte(rest, ')')
		if !strings.HasPrefix(rest, "(?") || end < 3 || strings.Trim(rest[2:end], "aiLmsux") != "" {
			return nil
		}
		for _, c := range rest[2:end] {
			p.flags.set(c, true)
		}
		p.at += end + 1
	}
}

func (f *Options) set(letter rune, on bool) {
	switch letter {
	case 'i':
		f.IgnoreCase = on
	case 'm':
		f.Multiline = on
	case 's':
		f.DotAll = on
	case 'x':
		f.Verbose = on
	case 'a':
		f.ASCII = on
	case 'u':
		f.ASCII = !on
	}
}

// branches reads alternatives up to a closing parenthesis or the end.
func (p *parser) branches(verbose bool, depth int) (width, error) {
	if depth > maxDepth {
		return width{}, reError("the expression is nested too deeply")
	}
	w, err := p.sequence(verbose, depth)
	for err == nil && p.take('|') {
		p.out.WriteByte('|')
		var next width
		next, err = p.sequence(verbose, depth)
		w = w.or(next)
	}
	return w, err
}

// itemKind is what a repetition may follow.
type itemKind int

const (
	nothing itemKind = iota // the beginning, or a place like ^
	element
	repeated
)

func (p *parser) sequence(verbose bool, depth int) (width, error) {
	var total, last width
	kind, from := nothing, 0 // the last item and where it begins in the output
	for !p.done() && p.peek() != '|' && p.peek() != ')' {
		c := p.peek()
		p.at++
		if verbose && p.skipVerbose(c) {
			continue
		}
		if strings.ContainsRune("*+?{", c) {
			least, most, ok, err := p.bounds(c)
			if err != nil {
				return width{}, err
			}
			if ok {
				if err := p.repeat(kind, from, least, most); err != nil {
					return width{}, err
				}
				total, kind = total.then(last.times(least, most)), repeated
				last = width{}
				continue
			}
		}
		total = total.then(last)
		before := p.out.Len()
		w, k, err := p.item(c, verbose, depth)
		if err != nil {
			return width{}, err
		}
		last = w
		if k != skipped {
			kind, from = k, before
		}
	}
	return total.then(last), nil
}

// skipped is the kind of what leaves nothing behind, as comments.
const skipped itemKind = -1

// skipVerbose takes the whitespace and comments that do not count in verbose mode.
func (p *parser) skipVerbose(c rune) bool {
	if strings.ContainsRune(" \t\n\r\v\f", c) {
		return true
	}
	if c != '#' {
		return false
	}
	for !p.done() && !p.take('\n') {
		p.at++
	}
	return true
}

// bounds reads how often something repeats; false means that the { is a character.
func (p *parser) bounds(c rune) (least, most int, ok bool, err error) {
	switch c {
	case '*':
		return 0, endless, true, nil
	case '+':
		return 1, endless, true, nil
	case '?':
		return 0, 1, true, nil
	}
	if p.peek() == '}' {
		return 0, 0, false, nil
	}
	here := p.at
	low, high := p.digits(decimal, math.MaxInt), ""
	if p.take(',') {
		high = p.digits(decimal, math.MaxInt)
	} else {
		high = low
	}
	if !p.take('}') {
		p.at = here
		return 0, 0, false, nil
	}
	least, most = 0, endless
	for _, b := range []struct {
		text string
		to   *int
	}{{low, &least}, {high, &most}} {
		if b.text == "" {
			continue
		}
		n, convErr := strconv.ParseInt(b.text, 10, 32)
		if convErr != nil {
			return 0, 0, false, &Error{Class: "OverflowError", Msg: "the repetition number is too large"}
		}
		*b.to = int(n)
	}
	if most < least {
		return 0, 0, false, p.failAt(here, "min repeat greater than max repeat")
	}
	return least, most, true, nil
}

// repeat writes a repetition of the last item, which begins at from in the output.
func (p *parser) repeat(kind itemKind, from, least, most int) error {
	at := p.at - 1
	if p.text[at] == '}' {
		for p.text[at] != '{' {
			at--
		}
	}
	switch kind {
	case nothing:
		return p.failAt(at, "nothing to repeat")
	case repeated:
		return p.failAt(at, "multiple repeat")
	}
	times := "{" + strconv.Itoa(least) + "," + strconv.Itoa(most) + "}"
	if most == endless {
		times = "{" + strconv.Itoa(least) + ",}"
	}
	switch {
	case p.take('?'):
		times += "?"
	case p.take('+'): // possessive: an atomic group around it
		all := p.out.String()
		p.out.Reset()
		p.out.WriteString(all[:from] + "(?>" + all[from:] + times + ")")
		return nil
	}
	p.out.WriteString(times)
	return nil
}

// item reads one item that begins with c.
func (p *parser) item(c rune, verbose bool, depth int) (width, itemKind, error) {
	one := width{least: 1, most: 1}
	switch c {
	case '\\':
		return p.escape()
	case '[':
		return one, element, p.class()
	case '.':
		p.out.WriteByte('.')
		return one, element, nil
	case '^', '$':
		p.out.WriteRune(c)
		return width{}, nothing, nil
	case '(':
		return p.group(verbose, depth)
	}
	p.literal(c)
	return one, element, nil
}

// literal writes a character that stands for itself.
func (p *parser) literal(c rune) {
	if strings.ContainsRune(`\*+?|{}[]()^$.# `, c) {
		p.out.WriteByte('\\')
	}
	p.out.WriteString(spelled(c))
}

// spelled returns a character as regexp2 reads it; that of a byte which is no UTF-8 cannot stand in a Go string.
func spelled(c rune) string {
	if isStray(c) {
		return `\u` + strconv.FormatInt(int64(c), 16)
	}
	return string(c)
}
