package templar

import (
	"cmp"
	"context"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
)

// brokenCondition is a condition that ansible-core 2.19 refuses.
func brokenCondition(msg string) error {
	return &Error{Class: "AnsibleBrokenConditionalError", Msg: msg}
}

// taggedCondition judges one condition, which must be a bool.
func (t *Templar) taggedCondition(ctx context.Context, c value.Value) (bool, error) {
	v, err := t.conditionValue(ctx, c)
	if err != nil {
		if IsUndefined(err) {
			err = &Error{Class: "AnsibleUndefinedVariable", Msg: "Error while evaluating conditional: " + err.Error(), Err: err,
				Src: value.Printed(c)}
		}
		return false, err
	}
	if b, ok := v.(value.Bool); ok {
		return bool(b), nil
	}
	ok, err := value.Truth(v)
	if err != nil {
		return false, taggedError(err, true)
	}
	is := "False"
	if ok {
		is = "True"
	}
	msg := "Conditional result (" + is + ") was derived from value of type " + value.ReprText(value.PlainType(v)) + " " +
		"at '<unknown>'. Conditionals must have a boolean result."
	of, variable := !value.IsNone(v), variableOf(ctx, t, value.Printed(c), v, ok)
	if t.o.BrokenConditions {
		t.o.deprecate(Deprecation{Msg: msg, Help: brokenAllowed, Src: value.Printed(c), Version: next, Of: of, Var: variable})
		return ok, nil
	}
	return false, &Error{Class: "AnsibleBrokenConditionalError", Msg: msg, Of: of, Var: variable}
}

// variableOf returns the variable that gave a condition its value, with the keys to it, separated by dots; "" if none
// did.
func variableOf(ctx context.Context, t *Templar, c string, v value.Value, truth bool) string {
	c = strings.TrimSpace(c)
	if AllTemplate(c) {
		c = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(c, "{{"), "}}"))
	}
	p := t.o.Engine.expression(c, t.env())
	if p.err != nil {
		return ""
	}
	list := p.t.Outcomes(truth)
	for _, o := range list {
		if strings.Contains(strings.Join(o.Path, ""), ".") {
			continue
		}
		own, err := t.taggedExpr(ctx, o.Expr, true, t.usual())
		same, unequal := value.Equal(own, v)
		if err == nil && unequal == nil && same && value.PlainType(own) == value.PlainType(v) {
			return strings.Join(o.Path, ".")
		}
	}
	return ""
}

const brokenAllowed = "Broken conditionals are currently allowed because the `ALLOW_BROKEN_CONDITIONALS` " +
	"configuration option is enabled."

// conditionValue returns what a condition evaluates to.
func (t *Templar) conditionValue(ctx context.Context, c value.Value) (value.Value, error) {
	c, err := t.strippedCondition(c)
	if err != nil {
		return nil, err
	}
	text, isText := value.Text(c)
	switch {
	case isText:
	case c.Type() == "bool":
		return c, nil
	case t.o.BrokenConditions:
		return t.Template(ctx, c)
	default:
		return nil, brokenCondition("Conditional expressions must be strings.")
	}
	if AllTemplate(text) {
		v, err := t.Template(ctx, c)
		if err == nil {
			v, err = t.strippedCondition(v)
		}
		if err != nil {
			return nil, err
		}
		if !value.IsText(v) {
			t.deprecated("Conditionals should not be surrounded by templating delimiters such as {{ }} or {% %}.", "", text,
				next)
			return v, nil
		}
		c = v
		text, _ = value.Text(v)
	}
	if _, trusted := c.(value.Source); !trusted {
		return nil, Untrusted()
	}
	return t.taggedExpr(ctx, text, true, t.usual())
}

// strippedCondition returns a condition without blanks around it; an empty one is broken.
func (t *Templar) strippedCondition(c value.Value) (value.Value, error) {
	text, isText := value.Text(c)
	switch trimmed := strings.TrimSpace(text); {
	case isText && trimmed != "":
		if text, ok := c.(value.Source); ok {
			return text.Trimmed(), nil
		}
		return value.Str(trimmed), nil
	case !isText && !value.IsNone(c):
		return c, nil
	}
	if t.o.BrokenConditions {
		t.deprecated("Empty conditional expression was evaluated as True.", brokenAllowed, cmp.Or(text, " "), next)
		return value.Bool(true), nil
	}
	return nil, brokenCondition("Empty conditional expressions are not allowed.")
}

// AllTemplate reports whether a text begins and ends with delimiters.
func AllTemplate(s string) bool {
	if strings.HasPrefix(s, overrideHeader) {
		return true
	}
	begins := strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "{%") || strings.HasPrefix(s, "{#")
	return begins && (strings.HasSuffix(s, "}}") || strings.HasSuffix(s, "%}") || strings.HasSuffix(s, "#}"))
}

// taggedExpr evaluates a bare expression. In a condition texts that hold templates stand for what they render to.
func (t *Templar) taggedExpr(ctx context.Context, src string, condition bool, r rendering) (value.Value, error) {
	p := t.o.Engine.expression(src, t.env())
	if p.err != nil {
		err := taggedError(p.err, true)
		if e, ok := err.(*Error); ok && t.possiblyTemplate(src) {
			e.Msg = strings.Replace(e.Msg, "Syntax error in expression:",
				"Syntax error in expression. Template delimiters are not supported in expressions:", 1)
		}
		return nil, about(err, src)
	}
	ctx, s, err := enter(ctx, t)
	if err != nil {
		return nil, err
	}
	s = s.evaluating(p, r)
	s.constants, s.src = condition, src
	v, _, err := p.t.EvalUnsafe(ctx, s)
	if err == nil {
		v, err = (&finisher{t, r.mark}).finish(v, 0)
	}
	err = about(taggedError(err, true), src)
	if r.mark != nil && IsUndefined(err) { // of an operator, which does not give it on
		return value.Str(r.mark(err)), nil
	}
	return v, err
}

// Marked is t.Expr in the tagged language where marks, which mark makes of errors, stand for what is undefined in the
// result.
func Marked(ctx context.Context, t *Templar, expr value.Source, mark func(error) string) (value.Value, error) {
	r := t.usual()
	r.mark = mark
	return t.taggedExpr(ctx, expr.Text(), false, r)
}

// constantTagged returns what a text with a template in it, as a constant of an expression, stands for. Conditions
// render it; among the terms of a lookup it is a template.
func constantTagged(ctx context.Context, s jinja.Scope, text string) (value.Value, error) {
	own, ok := s.(*scope)
	if !ok || !own.constants {
		return value.SourceText(text), nil
	}
	own.noted(embedded, embeddedHelp+"`when: \"{{ a_var }}\" == 42` becomes `when: a_var == 42`", own.src)
	return own.t.deeperText(ctx, value.SourceText(text), own)
}

// constantClassic returns what such a text stands for at level 2.14: among the terms of a lookup it is a template.
func constantClassic(_ context.Context, _ jinja.Scope, text string) (value.Value, error) {
	return value.Again(value.Str(text)), nil
}

const embeddedHelp = "Use inline expressions, for example: "

const embedded = "Jinja constant strings should not contain embedded templates. This feature will be disabled by " +
	"default in ansible-core 2.23."

// taggedFile renders the text of a template file.
func (t *Templar) taggedFile(ctx context.Context, text value.Source, r rendering) (string, error) {
	ctx, s, err := enter(ctx, t)
	if err != nil {
		return "", err
	}
	v, err := t.tagged(ctx, text, r, s)
	if err != nil {
		return "", err
	}
	return value.ToStr(v)
}

// next is the ansible-core that will not have what the language of 2.19 has deprecated.
const next = "2.23"

// Deprecation is what a version of ansible-core will not have.
type Deprecation struct {
	// Help is what else there is to say, and Src the template that it is about; both "" if there is none.
	Msg, Help, Src string
	// Version is the first ansible-core without it.
	Version string
	// Of and Var are those of Error.
	Of  bool
	Var string
}

// deprecated reports something that a later version of ansible-core will not have.
func (t *Templar) deprecated(msg, help, src, version string) {
	t.o.deprecate(Deprecation{Msg: msg, Help: help, Src: src, Version: version})
}

func (o *Options) deprecate(d Deprecation) {
	if o.Deprecated != nil {
		o.Deprecated(d)
	}
}

// noted warns of something about a template.
func (s *scope) noted(msg, help, src string) {
	if s.t.o.Noted != nil {
		s.t.o.Noted(msg, help, src)
	} else {
		s.t.warn(msg)
	}
}

// Deprecate is for filters.
func (s *scope) Deprecate(msg string) { s.t.deprecated(msg, "", "", next) }

// Warn is for filters.
func (s *scope) Warn(msg string) { s.t.warn(msg) }

// Secrets is for filters.
func (s *scope) Secrets() filters.Secrets { return s.t.o.Secrets }

// makeTagged makes the engine one of the tagged language.
func (e *Engine) makeTagged() {
	e.tagged = true
	e.env.Unknown = nil
	for name, f := range filters.Tagged() {
		if e.env.Filters[name] != nil {
			e.env.Filters[name] = f
		}
	}
	for _, name := range []string{"lookup", "query", "q", "undef"} {
		f := *e.env.Globals[name].(*jinja.Function)
		f.Direct = true
		e.env.Globals[name] = &f
	}
}

// Untrusted is the error of a text that would be evaluated and does not come from the playbook.
func Untrusted() error {
	return &Error{Class: "TemplateTrustCheckFailedError", Msg: "Encountered untrusted template or expression."}
}
