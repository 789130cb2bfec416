package view

import (
	"regexp"
	"strings"
	"unicode"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// yaml returns a result as YAML, indented below its line. Made for people it is lossy: blanks at line ends and
// characters that would force quotes are left out, so that text of several lines is shown as such.
func (d dumper) yaml(res *value.Dict, indent int) string {
	if d.lossy() {
		omitLines(res)
	}
	return indentLines(d.yamlText(res, indent), below(indent))
}

func (d dumper) lossy() bool { return d.pretty == nil || *d.pretty }

func (d dumper) yamlText(v value.Value, indent int) string {
	return yamlDump(v, pyyaml.DumpOptions{Indent: max(indent, 0), Width: d.width, Unicode: true,
		Text: func(s string) (string, byte) {
			if !strings.ContainsAny(s, "\n\u0085\u2028\u2029") {
				return s, 0
			}
			if d.lossy() {
				s = readable(s)
			}
			return s, '|'
		}})
}

func (d dumper) yamlDiff(v value.Value) string {
	return indentLines(d.yamlText(v, d.indent), usualIndent) + "\n"
}

// below returns how far a result is indented below its line.
func below(indent int) int {
	if indent <= 0 {
		return usualIndent
	}
	return indent
}

// yamlDump returns a value as YAML. What cannot be written is shown as its error.
func yamlDump(v value.Value, o pyyaml.DumpOptions) string {
	const usual = 2
	if value.TooDeep(v, max(o.Indent, usual)) {
		return value.JSONText(v, value.JSONOptions{}) + "\n"
	}
	text, err := pyyaml.Dump(v, o)
	if err != nil {
		return err.Error() + "\n"
	}
	return text
}

// omitLines leaves out the lists of lines where the text itself is there.
func omitLines(res *value.Dict) {
	for _, name := range []string{"stdout", "stderr"} {
		_, text := res.Get(name)
		if _, lines := res.Get(name + "_lines"); text && lines {
			res.Set(name+"_lines", value.Str("<omitted>"))
		}
	}
}

// readable is text that can be written as a block of lines.
func readable(s string) string {
	s = expandTabs(strings.TrimRightFunc(s, unicode.IsSpace))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r >= 32 && r <= 126, r == 0x85, r >= 0xa0 && r <= 0xfffd && r != 0xfeff, r >= 0x10000 && r < 0x10ffff:
			return r
		}
		return -1
	}, s)
	return regexp.MustCompile(" +([\n\u0085\u2028\u2029])").ReplaceAllString(s, "$1")
}

// expandTabs puts blanks in place of tabs, up to the next multiple of eight columns.
func expandTabs(s string) string {
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch r {
		case '\t':
			n := 8 - column%8
			b.WriteString(strings.Repeat(" ", n))
			column += n
		case '\n', '\r':
			b.WriteRune(r)
			column = 0
		default:
			b.WriteRune(r)
			column++
		}
	}
	return b.String()
}

// indentLines indents every line that has something on it.
func indentLines(text string, n int) string {
	lines := splitLines(text)
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = strings.Repeat(" ", n) + line
		}
	}
	return strings.Join(lines, "")
}

// newYAML returns the default view with results as community.general.yaml prints them.
func newYAML(o Options) (View, error) {
	v := newDefaultView(o)
	v.dump = o.dumper().readableYAML
	v.diffText = func(side value.Value) string {
		return yamlDump(side, pyyaml.DumpOptions{Unicode: true, Width: 1000})
	}
	return v, nil
}

// readableYAML has changed and skipped on the line of the host and the rest below it.
func (d dumper) readableYAML(s shown, _ int) string {
	res := d.abridge(s)
	out := ""
	for _, name := range []string{"changed", "skipped"} {
		if v, ok := res.Get(name); ok {
			out += name + "=" + strings.ToLower(pyText(v)) + " "
			drop(res, name)
		}
	}
	omitLines(res)
	if res.Len() > 0 {
		out += "\n" + yamlDump(res, pyyaml.DumpOptions{Unicode: true, Width: 1000, Text: blockText})
	}
	return strings.TrimRightFunc(strings.ReplaceAll(out, "\n", "\n  "), unicode.IsSpace)
}

// blockText makes a block of every text of several lines.
func blockText(s string) (string, byte) {
	if !strings.ContainsAny(s, "\n\r\x1c\x1d\x1e\u0085\u2028\u2029") {
		return s, 0
	}
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	s = strings.Map(func(r rune) rune {
		if r >= 32 && r <= 126 || r >= 0xa0 || r >= '\t' && r <= '\r' {
			return r
		}
		return -1
	}, s)
	s = strings.NewReplacer("\v", "", "\f", "", "\r", "").Replace(expandTabs(s))
	return regexp.MustCompile(" +\n").ReplaceAllString(s, "\n"), '|'
}
