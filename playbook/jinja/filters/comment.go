package filters

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// commentMarks are what a style puts around and before lines.
type commentMarks struct{ beginning, decoration, end string }

func commentStyles() map[string]commentMarks {
	return map[string]commentMarks{
		"plain":  {decoration: "# "},
		"erlang": {decoration: "% "},
		"c":      {decoration: "// "},
		"cblock": {beginning: "/*", decoration: " * ", end: " */"},
		"xml":    {beginning: "<!--", decoration: " - ", end: "-->"},
	}
}

// pyWhitespace is what Python's strip takes off, as far as it is ASCII.
const pyWhitespace = " \t\n\r\v\f\x1c\x1d\x1e\x1f"

// maxCommentLines bounds prefix_count and postfix_count.
const maxCommentLines = 10_000

func comment(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, kw, err := bindSome(args, "comment", value.Opt("style", value.Str("plain")))
	if err != nil {
		return nil, err
	}
	if err := value.Hashable(a[0]); err != nil {
		return nil, err
	}
	style, _ := value.Text(a[0])
	marks, ok := commentStyles()[style]
	if !ok {
		return nil, value.Errorf("KeyError", "%s", value.PrintedRepr(a[0]))
	}
	p, err := commentParts(marks, kw)
	if err != nil {
		return nil, err
	}
	s, ok := value.Text(in)
	if !ok {
		return nil, noAttribute(in, "replace")
	}
	return value.Str(p.around(s)), nil
}

// commentText holds what a comment is made of.
type commentText struct {
	text                      map[string]string
	prefixCount, postfixCount int
}

func commentParts(marks commentMarks, kw []jinja.Kwarg) (*commentText, error) {
	p := &commentText{prefixCount: 1, postfixCount: 1, text: map[string]string{
		"newline": "\n", "beginning": marks.beginning, "decoration": marks.decoration, "end": marks.end,
	}}
	var err error
	for _, k := range kw {
		switch k.Name {
		case "prefix_count":
			p.prefixCount, err = lineCount(k.V)
		case "postfix_count":
			p.postfixCount, err = lineCount(k.V)
		default:
			p.text[k.Name], err = value.ToStr(k.V)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"prefix", "postfix"} {
		if _, given := p.text[name]; !given {
			p.text[name] = strings.TrimRight(p.text["decoration"], pyWhitespace)
		}
	}
	return p, nil
}

func lineCount(v value.Value) (int, error) {
	n, err := intArg(v)
	if n > maxCommentLines {
		return 0, value.ValueErrorf("a comment cannot have more than %d lines of prefix or postfix", maxCommentLines)
	}
	return max(n, 0), err
}

// around returns the comment of a text.
func (p *commentText) around(s string) string {
	newline, decoration, prefix := p.text["newline"], p.text["decoration"], p.text["prefix"]
	var b strings.Builder
	if p.text["beginning"] != "" {
		b.WriteString(p.text["beginning"] + newline)
	}
	if prefix == newline {
		b.WriteString(strings.Repeat(newline, p.prefixCount))
	} else if prefix != "" {
		b.WriteString(strings.Repeat(prefix+newline, p.prefixCount))
	}
	lines := decoration + strings.ReplaceAll(s, newline, newline+decoration)
	// A line with nothing but the decoration loses the whitespace at its end.
	b.WriteString(strings.ReplaceAll(lines, decoration+newline, strings.TrimRight(decoration, pyWhitespace)+newline))
	b.WriteString(strings.Repeat(newline+p.text["postfix"], p.postfixCount))
	if p.text["end"] != "" {
		b.WriteString(newline + p.text["end"])
	}
	return b.String()
}
