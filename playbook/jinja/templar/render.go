package templar

import (
	"context"
	"errors"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

func (t *Templar) templateText(ctx context.Context, v value.Value, src string, r rendering,
	s *scope) (value.Value, error) {
	if !t.possiblyTemplate(src) {
		return v, nil
	}
	if name, ok := singleVar(src); ok {
		raw, ok, err := t.raw(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok && (value.IsNumber(raw) || value.IsNone(raw)) {
			return raw, nil
		}
		if ok && src[len(src)-1] != '\n' {
			if v, ok, err := t.plainVar(name, raw, r); ok {
				return v, err
			}
		}
	}
	return t.render(ctx, src, r, s)
}

// plainVar returns the short way for {{ name }} where the variable is text without a template.
func (t *Templar) plainVar(name string, raw value.Value, r rendering) (v value.Value, ok bool, err error) {
	switch s := raw.(type) {
	case value.UnsafeStr:
	case value.Source:
		if t.syntax != nil || possiblyTemplate(s.Text()) {
			return nil, false, nil
		}
	default:
		return nil, false, nil
	}
	switch name {
	case "true", "false", "none", "True", "False", "None", "self", "not":
		return nil, false, nil
	}
	if name[0] >= '0' && name[0] <= '9' {
		return nil, false, nil
	}
	switch r.flavor {
	case flavorText:
		return raw, true, nil
	case flavorNative:
		v, err = concatNative([]value.Value{raw})
	default:
		v, err = concatConvert([]value.Value{raw})
	}
	return v, true, err
}

// singleVar returns the name if the text is nothing but {{ name }}.
func singleVar(s string) (string, bool) {
	s = strings.TrimSuffix(s, "\n")
	if !strings.HasPrefix(s, "{{") || !strings.HasSuffix(s, "}}") || len(s) < 4 {
		return "", false
	}
	name := strings.TrimSpace(s[2 : len(s)-2])
	for i := range len(name) {
		if !isWord(name[i]) {
			return "", false
		}
	}
	return name, true
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// render evaluates a text that is a template (do_template).
func (t *Templar) render(ctx context.Context, src string, r rendering, s *scope) (value.Value, error) {
	p := t.o.Engine.compile(src, r.settings)
	if p.err != nil {
		return nil, p.err
	}
	if p.verbatim {
		return value.SourceText(p.src), nil
	}
	eval := s.evaluating(p, r)
	v, unsafe, err := p.t.EvalUnsafe(ctx, eval)
	if err != nil {
		return nil, renderError(p, err)
	}
	if unsafe {
		return keepNewlines(p, value.Unsafe(v), true), nil
	}
	return value.Again(keepNewlines(p, v, false)), nil
}

// keepNewlines returns a text as many newlines at its end as its template has, which rendering may have lost.
func keepNewlines(p *program, v value.Value, unsafe bool) value.Value {
	if p.newlines == 0 {
		return v
	}
	s, ok := value.Text(v)
	if !ok {
		return v
	}
	missing := p.newlines - trailingNewlines(s)
	if missing <= 0 {
		return v
	}
	newline := "\n"
	if p.settings.syntax != nil && p.settings.syntax.NewlineSequence != "" {
		newline = p.settings.syntax.NewlineSequence
	}
	s += strings.Repeat(newline, missing)
	if unsafe {
		return value.UnsafeStr(s)
	}
	return value.TextLike(v, s)
}

// renderError words why a template failed.
func renderError(p *program, err error) error {
	if passThrough(err) {
		return err
	}
	if syntax := (*jinja.SyntaxError)(nil); errors.As(err, &syntax) && syntax.Late {
		return templateError(p, err)
	}
	switch class := ErrorClass(err); class {
	case "UndefinedError", "AnsibleUndefinedVariable":
		return because("AnsibleUndefinedVariable", err, err.Error())
	case "TypeError", "AnsibleFilterTypeError":
		if strings.Contains(err.Error(), "AnsibleUndefined") {
			msg := "Unable to look up a name or access an attribute in template string (" + p.src + ").\n" +
				"Make sure your variable name does not contain invalid characters like '-': " + err.Error()
			why := because("AnsibleUndefinedVariable", err, msg)
			return because("AnsibleUndefinedVariable", why, why.Error())
		}
		return because("AnsibleError", err, "Unexpected templating type error occurred on ("+p.src+"): "+err.Error())
	}
	return err
}
