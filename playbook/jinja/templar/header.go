package templar

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// overrideHeader starts a first line that changes the syntax of a template.
const overrideHeader = "#jinja2:"

// readHeader takes the header off the source and sets what it says.
func (p *program) readHeader() error {
	eol := strings.IndexByte(p.src, '\n')
	line := ""
	if eol < 0 { // as Python slices with the -1 of a failed find
		line = p.src[len(overrideHeader):max(len(overrideHeader), len(p.src)-1)]
	} else {
		line = p.src[len(overrideHeader):eol]
	}
	p.src = p.src[eol+1:]
	syntax := newSyntax()
	if p.settings.syntax != nil {
		syntax = *p.settings.syntax
	}
	for _, pair := range strings.Split(line, ",") {
		key, val, ok := strings.Cut(pair, ":")
		if !ok {
			return ansibleError(nil,
				"failed to parse jinja2 override '%s'. Did you use something different from colon as key-value separator?",
				strings.TrimSpace(pair))
		}
		v, ok, err := parseLiteral(strings.TrimSpace(val), false)
		if err != nil {
			return err
		}
		if !ok {
			return badLiteral(strings.TrimSpace(val))
		}
		if err := override(&syntax, strings.TrimSpace(key), v); errors.Is(err, errNotText) {
			p.verbatim = true
		} else if err != nil {
			return err
		}
	}
	p.settings.syntax = &syntax
	return nil
}

// errNotText is a header that makes Jinja's lexer fail: the text is printed as it is.
var errNotText = errors.New("not a text")

// badLiteral is how Python refuses a text as a literal.
func badLiteral(text string) error {
	switch {
	case text == "":
		return value.Errorf("SyntaxError", "invalid syntax (<unknown>, line 0)")
	case strings.HasPrefix(text, "'") || strings.HasPrefix(text, `"`):
		return value.Errorf("SyntaxError", "unterminated string literal (detected at line 1) (<unknown>, line 1)")
	case strings.IndexByte("[({", text[0]) >= 0:
		return value.Errorf("SyntaxError", "'%c' was never closed (<unknown>, line 1)", text[0])
	case identifier().MatchString(text):
		return value.ValueErrorf("malformed node or string on line 1: <ast.Name object at 0x0>")
	}
	return value.Errorf("SyntaxError", "invalid syntax (<unknown>, line 1)")
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_][\pL\pN_]*$`) })

// override sets one attribute of Jinja's environment. Those that do not concern the syntax change nothing here.
func override(s *jinja.Syntax, key string, v value.Value) error {
	text := map[string]*string{
		"block_start_string": &s.BlockStart, "block_end_string": &s.BlockEnd,
		"variable_start_string": &s.VariableStart, "variable_end_string": &s.VariableEnd,
		"comment_start_string": &s.CommentStart, "comment_end_string": &s.CommentEnd,
		"line_statement_prefix": &s.LineStatement, "line_comment_prefix": &s.LineComment,
		"newline_sequence": &s.NewlineSequence,
	}[key]
	if text != nil {
		t, ok := value.Text(v)
		if !ok && !value.IsNone(v) {
			return errNotText
		}
		*text = t
		return nil
	}
	flag := map[string]*bool{
		"trim_blocks": &s.TrimBlocks, "lstrip_blocks": &s.LstripBlocks,
		"keep_trailing_newline": &s.KeepTrailingNewline,
	}[key]
	if flag == nil {
		return nil
	}
	switch v.(type) {
	case *value.List, *value.Dict: // Jinja keeps lexers by their settings
		return errNotText
	}
	on, err := value.Truth(v)
	*flag = on
	return err
}
