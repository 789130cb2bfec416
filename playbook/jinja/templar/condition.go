package templar

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Condition judges a list of conditions (when, changed_when, until, assert's that): all must be true. failed is
// the first that is not. The error has Ansible's words, with the condition in them.
func (t *Templar) Condition(ctx context.Context, conds ...value.Value) (ok bool, failed value.Value, err error) {
	for _, c := range conds {
		if t.o.Engine.tagged {
			if ok, err := t.taggedCondition(ctx, c); err != nil || !ok {
				return false, c, about(err, value.Printed(c))
			}
			continue
		}
		ok, err := t.condition(ctx, c)
		if err != nil {
			if passThrough(err) {
				return false, c, err
			}
			return false, c, ansibleError(err, "The conditional check '%s' failed. The error was: %s", value.Printed(c), err)
		}
		if !ok {
			return false, c, nil
		}
	}
	return true, nil, nil
}

func (t *Templar) condition(ctx context.Context, c value.Value) (bool, error) {
	switch v := c.(type) {
	case value.None:
		return true, nil
	case value.Bool:
		return bool(v), nil
	}
	s, isText := value.Text(c)
	if isText && s == "" {
		return true, nil
	}
	if isText && IsTemplate(c) {
		t.warn("conditional statements should not include jinja2 templating delimiters such as {{ }} or {% %}. Found: " + s)
	}
	r := t.usual()
	r.noLookups = value.IsUnsafe(c)
	text := s
	ok, err := t.judge(ctx, c, &text, r)
	if err != nil && IsUndefined(err) {
		if ok, found := undefinedAnswer(err, text); found {
			return ok, nil
		}
		return false, &Error{Class: "AnsibleUndefinedVariable", Err: err,
			Msg: bounded(fmt.Sprintf("error while evaluating conditional (%s): %s", value.Printed(c), err))}
	}
	return ok, err
}

// judge evaluates a condition. text is set to what it is after templates in it are rendered.
func (t *Templar) judge(ctx context.Context, c value.Value, text *string, r rendering) (bool, error) {
	ctx, s, err := enter(ctx, t)
	if err != nil {
		return false, err
	}
	v, err := t.template(ctx, c, r, s)
	if err != nil {
		return false, err
	}
	cond, isText := value.Text(v)
	if !isText || cond == "" {
		return value.Truth(v)
	}
	*text = cond
	if value.IsUnsafe(v) { // which is what a Str is made
		return false, &Error{Class: "AnsibleTemplateError", Msg: "Conditional is marked as unsafe, and cannot be evaluated."}
	}
	presented := "{% if " + cond + " %} True {% else %} False {% endif %}"
	res, err := t.render(ctx, presented, r, s)
	if err != nil {
		return false, err
	}
	switch strings.TrimSpace(value.Printed(res)) {
	case "True":
		return true, nil
	case "False":
		return false, nil
	}
	return false, ansibleError(nil, "unable to evaluate conditional: %s", value.Printed(c))
}

// patterns of undefinedAnswer.
var (
	undefinedName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`'(hostvars\[.+\]|[\pL\pN_]+)' is undefined`)
	})
	definedTest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(hostvars\[.+\]|[\pL\pN_]+)\s+(not\s+is|is|is\s+not)\s+(defined|undefined)`)
	})
)

// undefinedAnswer is the rule that a condition which tests whether a variable is defined is answered by
// that test when the variable turns out to be undefined elsewhere in it.
func undefinedAnswer(err error, cond string) (answer, found bool) {
	name := undefinedName().FindStringSubmatch(err.Error())
	if name == nil {
		return false, false
	}
	same := func(s string) string { return strings.ReplaceAll(s, "'", `"`) }
	for _, m := range definedTest().FindAllStringSubmatch(cond, -1) {
		if same(m[1]) != same(name[1]) {
			continue
		}
		shouldExist := strings.Contains(m[2], "not") != (m[3] == "defined")
		return !shouldExist, true
	}
	return false, false
}

// Expr evaluates a bare expression, such as "a.b | default([])", and keeps its type.
func (t *Templar) Expr(ctx context.Context, expr value.Source) (value.Value, error) {
	if t.o.Engine.tagged {
		return t.taggedExpr(ctx, expr.Text(), false, t.usual())
	}
	ctx, s, err := enter(ctx, t)
	if err != nil {
		return nil, err
	}
	p := t.o.Engine.expression(expr.Text(), t.o.Plugins)
	if p.err != nil {
		return nil, p.err
	}
	v, unsafe, err := p.t.EvalUnsafe(ctx, s.evaluating(p, t.usual()))
	if err != nil {
		return nil, renderError(p, err)
	}
	if v, err = finalizeNative(v); err != nil {
		return nil, renderError(p, err)
	}
	if unsafe {
		v = value.Unsafe(v)
	}
	return v, nil
}

func (e *Engine) expression(src string, env *jinja.Env) *program {
	o := settings{env: env}
	return e.cached(o.key(src, textExpression), func() *program {
		p := &program{src: src}
		t, err := jinja.ParseExpr(src, e.options(o))
		if err != nil {
			p.err = templateError(p, err)
		}
		p.t = t
		return p
	})
}
