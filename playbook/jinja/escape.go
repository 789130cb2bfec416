package jinja

import "strings"

// EscapeBackslashes doubles the backslashes in the strings of {{ }} expressions, as Ansible does for text of
// playbooks, where people write \1 and mean just that. The result renders as the source would; whitespace that tags
// strip is already gone.
func EscapeBackslashes(src string, s Syntax) (string, error) {
	if strings.IndexByte(src, '\\') < 0 || !strings.Contains(src, "{{") {
		return src, nil
	}
	tokens, err := lex(src, &s, true)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	inVariable := false
	for _, t := range tokens {
		text := t.text
		switch {
		case t.kind == tokVariableBegin:
			inVariable = true
		case t.kind == tokVariableEnd:
			inVariable = false
		case inVariable && t.kind == tokString:
			text = strings.ReplaceAll(text, `\`, `\\`)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// IsTemplate reports whether text has a whole tag in it: its beginning and, as the next of all ends, its end.
func IsTemplate(src string, s Syntax) bool {
	if !strings.Contains(src, s.BlockStart) && !strings.Contains(src, s.VariableStart) &&
		!strings.Contains(src, s.CommentStart) {
		return false
	}
	tokens, _ := lex(src, &s, true)
	open := tokEOF
	start, comment := true, false
	for _, t := range tokens {
		switch t.kind {
		case tokVariableBegin, tokBlockBegin, tokCommentBegin, tokRawBegin:
			comment = comment || start && t.kind == tokCommentBegin
			start = false
			open = t.kind
		case tokVariableEnd, tokBlockEnd, tokCommentEnd, tokRawEnd:
			if t.kind == endOf(open) {
				return true
			}
			if !comment {
				return false
			}
		}
	}
	return false
}

func endOf(begin tokenKind) tokenKind {
	switch begin {
	case tokVariableBegin:
		return tokVariableEnd
	case tokBlockBegin:
		return tokBlockEnd
	case tokCommentBegin:
		return tokCommentEnd
	case tokRawBegin:
		return tokRawEnd
	}
	return tokEOF
}
