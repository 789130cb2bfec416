package plugins

import (
	"context"
	"encoding/json"
	"regexp"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// answer answers what Python wants to know while it runs a plug-in.
func (r *Runner) answer(ctx context.Context, q question, c Call) (json.RawMessage, error) {
	switch {
	case q.Context:
		return c.variables()
	case q.Filter != "":
		return r.filtered(ctx, q)
	case q.Template != nil:
		return r.rendered(ctx, q, c)
	case c.Hostvars == nil:
		return nil, nil
	}
	known, err := c.Hostvars(*q.Hostvars)
	if err != nil {
		return nil, err
	}
	return encodeDict(known)
}

// filterName matches what can be the name of a filter, and no more of an expression.
var filterName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`) })

// filtered returns what one of hark's filters makes of arguments.
func (r *Runner) filtered(ctx context.Context, q question) (json.RawMessage, error) {
	given := value.NewDict()
	for name, raw := range map[string]json.RawMessage{"args": q.Args, "kw": q.Kw} {
		v, err := value.Decode(raw, value.KindUnsafe)
		if err != nil {
			return nil, err
		}
		given.Set(name, v)
	}
	if !filterName().MatchString(q.Filter) {
		return nil, value.Errorf("TemplateAssertionError", "No filter named %s.", value.ReprText(q.Filter))
	}
	call := value.SourceText("args[0] | " + q.Filter + "(*args[1:], **kw)")
	v, err := templar.New(templar.DictVars{Dict: given}, r.inPlugins()).Expr(ctx, call)
	if err != nil {
		return nil, err
	}
	return value.Encode(v)
}

// rendered returns a value whose templates are rendered.
func (r *Runner) rendered(ctx context.Context, q question, c Call) (json.RawMessage, error) {
	v, err := value.Decode(q.Template, value.KindSource)
	if err != nil {
		return nil, err
	}
	known, err := c.given(q.Vars)
	if err != nil {
		return nil, err
	}
	if v, err = templar.New(templar.DictVars{Dict: known}, r.inPlugins()).Template(ctx, v); err != nil {
		return nil, err
	}
	return value.Encode(v)
}

// given returns the variables that a plug-in wants a template to be rendered with.
func (c Call) given(vars json.RawMessage) (*value.Dict, error) {
	var known *value.Dict
	var err error
	switch {
	case len(vars) > 0 && string(vars) != "null":
		var v value.Value
		v, err = value.Decode(vars, value.KindSource)
		known, _ = v.(*value.Dict)
	case c.written != nil:
		known, err = c.written()
	default:
		known, err = c.known()
	}
	if known == nil {
		known = value.NewDict()
	}
	return known, err
}

// inPlugins returns the templates that are rendered for a plug-in: no other can run meanwhile.
func (r *Runner) inPlugins() templar.Options {
	o := r.Templates
	o.Plugin, o.Plugins = nil, nil
	return o
}
