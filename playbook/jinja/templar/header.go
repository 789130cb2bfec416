package templar

import (
	"strings"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
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
			return ansibleError(nil, "failed to parse jinja2 override '%s'. Did you use something different from colon as key-value separator?",
				strings.TrimSpace(pair))
		}
		v, ok, err := parseLiteral(strings.TrimSpace(val), false)
		if err != nil {
			return err
		}
		if !ok {
			return value.ValueErrorf("malformed node or string: %s", strings.TrimSpace(val))
		}
		if err := override(&syntax, strings.TrimSpace(key), v); err != nil {
			return err
		}
	}
	p.settings.syntax = &syntax
	return nil
}

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
			return value.TypeErrorf("%s must be text, not %s", key, v.Type())
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
	on, err := value.Truth(v)
	*flag = on
	return err
}
