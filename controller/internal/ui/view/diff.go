package view

import (
	"strings"

	"hark/modules/py/value"
)

// diffText prints one side of a diff that is a mapping.
func (d dumper) diffText(v value.Value) string {
	if d.format == "yaml" {
		return d.yamlDiff(v)
	}
	return value.JSONText(v, value.JSONOptions{Lines: true, Indent: strings.Repeat(" ", max(d.indent, 0)), Sorted: true,
		ASCII: true}) + "\n"
}

// differ prints the diff of a result: an entry or a list of them.
type differ struct {
	d       *Display
	context int
	mapping func(value.Value) string
}

func (f differ) text(diff value.Value) string {
	entries := []value.Value{diff}
	if l, ok := diff.(*value.List); ok {
		entries = l.Items
	}
	var b strings.Builder
	budget := matching
	for _, e := range entries {
		if entry, ok := e.(*value.Dict); ok {
			f.entry(&b, entry, &budget)
		}
	}
	return b.String()
}

func (f differ) entry(b *strings.Builder, e *value.Dict, budget *int) {
	has := func(key string) bool { _, ok := e.Get(key); return ok }
	for _, note := range []struct{ key, text string }{
		{"dst_binary", "diff skipped: destination file appears to be binary"},
		{"src_binary", "diff skipped: source file appears to be binary"},
		{"dst_larger", "diff skipped: destination file size is greater than " + textOf(e, "dst_larger")},
		{"src_larger", "diff skipped: source file size is greater than " + textOf(e, "src_larger")},
	} {
		if has(note.key) {
			b.WriteString(note.text + "\n")
		}
	}
	if has("before") && has("after") {
		f.sides(b, e, budget)
	}
	if has("prepared") {
		b.WriteString(textOf(e, "prepared"))
	}
}

func (f differ) sides(b *strings.Builder, e *value.Dict, budget *int) {
	header := func(side string) string {
		if h, ok := e.Get(side + "_header"); ok {
			return side + ": " + pyText(h)
		}
		return side
	}
	lines := unified(f.side(e, "before"), f.side(e, "after"), header("before"), header("after"), f.context, budget)
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "+"):
			line = f.d.Paint(ColorDiffAdd, line)
		case strings.HasPrefix(line, "-"):
			line = f.d.Paint(ColorDiffRemove, line)
		case strings.HasPrefix(line, "@@"):
			line = f.d.Paint(ColorDiffLines, line)
		}
		b.WriteString(line)
	}
	if len(lines) > 0 {
		b.WriteByte('\n')
	}
}

// side returns one side of a diff in lines that keep their ends.
func (f differ) side(e *value.Dict, key string) []string {
	v, _ := e.Get(key)
	text := ""
	switch v := v.(type) {
	case value.None:
	case *value.Dict:
		text = f.mapping(v)
	default:
		text = pyText(v)
	}
	lines := splitLines(text)
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n\\ No newline at end of file\n"
	}
	return lines
}

// splitLines cuts text after every line end that Python knows.
func splitLines(text string) []string {
	var lines []string
	start := 0
	for i, r := range text {
		if !lineEnd(r) || i < start {
			continue
		}
		end := i + len(string(r))
		if r == '\r' && strings.HasPrefix(text[end:], "\n") {
			end++
		}
		lines = append(lines, text[start:end])
		start = end
	}
	if start < len(text) {
		lines = append(lines, text[start:])
	}
	return lines
}

func lineEnd(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}
