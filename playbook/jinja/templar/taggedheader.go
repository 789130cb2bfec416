package templar

import (
	"strings"

	"hark/modules/py/value"
)

// readTaggedHeader is readHeader in the tagged language, which refuses what it does not know.
func (p *program) readTaggedHeader() error {
	refuse := func(msg string) error {
		return &Error{Class: "AnsibleTemplateSyntaxError", Msg: "Syntax error in template: " + msg}
	}
	line, rest, ok := strings.Cut(strings.TrimPrefix(p.src, overrideHeader), "\n")
	if !ok {
		return refuse("Missing newline after '" + overrideHeader + "' override.")
	}
	p.src = rest
	syntax := newSyntax()
	if p.settings.syntax != nil {
		syntax = *p.settings.syntax
	}
	for _, pair := range strings.Split(line, ",") {
		key, val, ok := strings.Cut(pair, ":")
		key = strings.TrimSpace(key)
		switch {
		case strings.TrimSpace(pair) == "":
			return refuse("Empty '" + overrideHeader + "' override pair not allowed.")
		case !ok:
			return refuse("Missing key-value separator `:` in '" + overrideHeader + "' override pair " + value.ReprText(pair) +
				".")
		}
		kind := overrideKind(key)
		if kind == "" {
			return refuse("Invalid '" + overrideHeader + "' override key " + value.ReprText(key) + ".")
		}
		v, ok, err := parseLiteral(strings.TrimSpace(val), false)
		if err == nil && !ok {
			err = badLiteral(strings.TrimSpace(val))
		}
		if err != nil {
			return refuse(err.Error())
		}
		if is := value.PlainType(v); is != kind && !(is == "NoneType" && strings.HasPrefix(key, "line_")) {
			return refuse("TemplateOverrides." + key + " must be <class '" + kind + "'> instead of <class '" + is + "'>")
		}
		if err := override(&syntax, key, v); err != nil {
			return refuse(err.Error())
		}
	}
	p.settings.syntax = &syntax
	return nil
}

// overrideKind returns the type of what a header may set, "" for what it may not.
func overrideKind(key string) string {
	switch key {
	case "block_start_string", "block_end_string", "variable_start_string", "variable_end_string", "comment_start_string",
		"comment_end_string", "line_statement_prefix", "line_comment_prefix", "newline_sequence":
		return "str"
	case "trim_blocks", "lstrip_blocks", "keep_trailing_newline":
		return "bool"
	}
	return ""
}
