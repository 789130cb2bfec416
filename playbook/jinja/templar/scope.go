package templar

import (
	"context"
	"time"

	"hark/modules/py/localtime"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// scope is where one evaluation finds its variables. Those around it are the variables that are being rendered.
type scope struct {
	t         *Templar
	up        *scope
	name      string // the variable whose text is rendered in this scope
	src       string // the template that is evaluated; only in the tagged language
	settings  settings
	noLookups bool
	constants bool // texts with templates in an expression stand for what they render to
	work      *work
}

// work is what all evaluations of one call of the Templar share. It is the context in which they are made, so that a
// call of any Templar from within, as by hostvars or the lookup template, knows how deep it is.
type work struct {
	context.Context
	budget  jinja.Budget
	nesting int
}

// workKey is what the work of a context is found under.
type workKey struct{}

// Value implements context.Context.
func (w *work) Value(key any) any {
	if key == (workKey{}) {
		return w
	}
	return w.Context.Value(key)
}

var (
	_ jinja.Scope = (*scope)(nil)
	_ jinja.Clock = (*scope)(nil)
)

// enter begins a call of the Templar: its evaluations are made with the context and in the scope.
func enter(ctx context.Context, t *Templar) (context.Context, *scope, error) {
	s := &struct {
		scope
		work
	}{scope: scope{t: t}, work: work{Context: ctx, budget: *jinja.NewBudget()}}
	s.scope.work = &s.work
	if within, ok := ctx.Value(workKey{}).(*work); ok {
		s.nesting = within.nesting
	}
	return &s.work, &s.scope, s.deeper()
}

// evaluating returns the scope in which a program is evaluated.
func (s *scope) evaluating(p *program, r rendering) *scope {
	e := *s
	e.settings = p.settings
	e.noLookups = r.noLookups
	return &e
}

// deeper and higher count how deep lists, dicts and variables are nested in each other.
func (s *scope) deeper() error {
	s.work.nesting++
	if s.work.nesting > maxNesting {
		return value.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	return nil
}

func (s *scope) higher() { s.work.nesting-- }

// Now implements jinja.Clock.
func (s *scope) Now() time.Time {
	if s.t.o.Now == nil {
		return localtime.Now()
	}
	return s.t.o.Now()
}

// Budget is shared by all evaluations of one call.
func (s *scope) Budget() *jinja.Budget { return &s.work.budget }

// Var returns a variable, rendered. If it cannot be rendered because something in it is undefined, it is undefined
// itself.
func (s *scope) Var(ctx context.Context, name string) (value.Value, bool, error) {
	raw, ok, err := s.t.raw(ctx, name)
	if !ok || err != nil {
		return nil, false, err
	}
	if s.t.o.Engine.tagged {
		v, err := s.lazyVar(ctx, name, raw)
		return v, err == nil, err
	}
	switch v := raw.(type) {
	case value.UnsafeStr, value.NativeUnsafeStr, value.Int, value.Bool, value.Float, value.None, value.Mapping,
		*value.Undefined:
		return v, true, nil
	case value.Source:
		if !s.t.possiblyTemplate(v.Text()) {
			return v, true, nil
		}
	case value.Rendered:
		if !s.t.possiblyTemplate(v.Text()) {
			return v, true, nil
		}
	case value.Str, value.NativeStr, value.Markup:
		return data(v), true, nil
	case *value.Dict:
		if name == "vars" {
			return v, true, nil
		}
	}
	v, err := s.renderVar(ctx, name, raw)
	return v, err == nil, err
}

func (s *scope) renderVar(ctx context.Context, name string, raw value.Value) (value.Value, error) {
	for at := s; at != nil; at = at.up {
		if at.name == name {
			return nil, s.wordVarError(raw, recursiveLoop(raw))
		}
	}
	if err := s.deeper(); err != nil {
		return nil, s.wordVarError(raw, recursiveLoop(raw))
	}
	defer s.higher()
	inner := &scope{t: s.t, up: s, name: name, work: s.work}
	v, err := s.t.template(ctx, raw, s.t.usual(), inner)
	if err != nil {
		if IsUndefined(err) {
			return &value.Undefined{Name: name, Msg: bounded(value.Printed(raw) + ": " + err.Error()), Err: err}, nil
		}
		return nil, s.wordVarError(raw, err)
	}
	return v, nil
}

func recursiveLoop(raw value.Value) error {
	return because("AnsibleError", value.Errorf("RecursionError", "maximum recursion depth exceeded"),
		"recursive loop detected in template string: "+value.Printed(raw))
}

// wordVarError says that a variable cannot be rendered.
func (s *scope) wordVarError(raw value.Value, err error) error {
	if passThrough(err) {
		return err
	}
	return ansibleError(err, "An unhandled exception occurred while templating '%s'. Error was a %s, original message: %s",
		value.Printed(raw), classRepr(err), err)
}

// Names lists all variables.
func (s *scope) Names(ctx context.Context) []string {
	var names []string
	s.t.local.Each(func(k, _ value.Value) bool {
		if name, ok := value.Text(k); ok {
			names = append(names, name)
		}
		return true
	})
	if s.t.vars != nil {
		for _, name := range s.t.vars.Names(ctx) {
			if _, ok := s.t.local.Get(name); !ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// Load returns a template that the one being evaluated includes, imports or extends.
func (s *scope) Load(ctx context.Context, name string) (*jinja.Template, error) {
	if s.t.o.Load == nil {
		return nil, &jinja.NotFoundError{Name: name}
	}
	source, found, err := s.t.o.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, &jinja.NotFoundError{Name: name}
	}
	text, settings := source.Text(), s.settings
	settings.name = name
	e := s.t.o.Engine
	p := e.cached(settings.key(text, textIncluded), func() *program {
		t, err := jinja.Parse(text, e.options(settings))
		return &program{t: t, settings: settings, src: text, err: err}
	})
	return p.t, p.err
}
