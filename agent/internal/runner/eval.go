package runner

import (
	"context"
	"strings"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// eval renders the texts of one step, or of one item of its loop.
type eval struct {
	g     *playState
	s     *plan.Step
	id    plan.ID
	scope *vars.Scope
	tpl   *templar.Templar
	far   *far
	// base is the current template file, "" outside.
	base string
	// notices are warnings and deprecations for the next result; the evals of a task share them.
	notices *notices
	// current is the value of the variable _task, nil where there is none.
	current *currentTask
	// looping says that the lookup of with_ is running, which looks for files where the task's module would.
	looping bool
	// change is what the module wants of the inventory, nil in steps that do not change it; see inventoryChange.
	change **inventoryChange
	// item is that of the loop whose condition or arguments are rendered, nil outside loops.
	item *loopItem
}

// fault is an error of the playbook: it fails the task, with its text as msg. Other errors break the run.
type fault struct {
	text string
	// place says that Ansible appends the task's place in the playbook.
	place bool
	// again is what Ansible repeats where there is no such place, as of an ad-hoc command.
	again string
	// of is the keyword whose value is that place, "" for the task.
	of string
	// kind is the class that Ansible reports for an error of a template, "" for AnsibleError.
	kind string
	// class is kind with its module, as Python prints it in a traceback.
	class string
	// links are the errors that led to it, outermost first, in the tagged language.
	links []link
	// bare says that nothing surrounds the links.
	bare bool
	// untried says that it is about a loop, not about what the loop repeats.
	untried bool
	// keyword says that it occurred while keywords were rendered, where Ansible shows the exception only.
	keyword bool
}

// Kind implements modules.ErrorKind.
func (f *fault) Kind() string { return f.kind }

// Class implements modules.ErrorClass.
func (f *fault) Class() string { return f.class }

func (f *fault) Error() string { return f.text }

// with returns an eval with more variables on top.
func (e *eval) with(local *value.Dict) *eval {
	if local.Len() == 0 {
		return e
	}
	out := *e
	out.scope = e.scope.With(local)
	out.tpl = templar.New(out.scope, out.options())
	return &out
}

func (e *eval) options() templar.Options {
	o := e.g.templates
	o.Warn = func(text string) { e.g.line.warn(e.id, text) }
	o.Deprecated = func(d templar.Deprecation) {
		d.Src = e.written(d.Src)
		e.notices.deprecated(d, e.item)
	}
	o.Noted = e.notices.warned
	if e.notices.hidden != nil {
		o.Secrets = e.notices
	}
	o.Lookup, o.Load, o.Plugin = e.lookup, e.load, e.g.plugins(e.id, func() *value.Dict { return e.ownVariables(e.scope) })
	return o
}

// written returns a template as the task has it: the var of debug has no delimiters there.
func (e *eval) written(src string) string {
	raw, _ := e.s.Args.Get("var")
	if name, _ := value.Text(raw); src == "{{"+name+"}}" {
		return name
	}
	return src
}

// lookup runs a lookup that only the controller can run, or that needs a file of the controller.
func (e *eval) lookup(ctx context.Context, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
	if isTemplateLookup(name) {
		return e.templateLookup(ctx, args, kw)
	}
	ask := wire.Ask{Kind: wire.AskLookup, Step: e.id, Name: name, Args: plan.Lit(value.NewList(args...)),
		Kw: plan.Dict{Dict: kw}, Own: plan.Dict{Dict: e.ownVariables(e.scope)}}
	if e.looping {
		ask.Dir = lookupDir(e.s.Written)
	}
	a, err := e.g.line.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	if a.ErrKind == wire.UnknownLookup {
		return nil, templar.ErrUnknownLookup
	}
	if err := hostvars.AnswerError(a); err != nil {
		return nil, err
	}
	if a.Value.IsZero() {
		return value.NewList(), nil
	}
	if len(a.Overrides) > 0 {
		return e.override(ctx, a.Value.V, a.Overrides, kw.True("show_origin"))
	}
	return a.Value.V, nil
}

// lookupDir returns the directory in which the lookup of a task's with_ looks for files, by the action's name as
// written.
func lookupDir(action string) string {
	switch {
	case strings.Contains(action, "template"):
		return "templates"
	case strings.Contains(action, "var"):
		return "vars"
	}
	return "files"
}

// over runs the lookup of with_.
func (e *eval) over(ctx context.Context, with string, terms []value.Value) (value.Value, error) {
	looping := *e
	looping.looping = true
	return templar.New(e.scope, looping.options()).Loop(ctx, with, terms)
}

// check converts an error of the Templar to a fault, unless the run itself broke.
func (e *eval) check(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if e.g.line.broken() != nil {
		return e.g.line.broken()
	}
	if e.g.held.undone() {
		return errBeyond
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f, ok := err.(*fault); ok {
		return f
	}
	if e.has(dialect.FailureCauses) {
		return taskFault(err, linksOf(err)...)
	}
	return &fault{text: err.Error(), kind: errorKind(err), class: templar.QualifiedClass(err)}
}

func errorKind(err error) string {
	switch class := templar.ErrorClass(err); class {
	case "AnsibleError":
		return ""
	case "UndefinedError":
		return "AnsibleUndefinedVariable"
	default:
		return class
	}
}

// unexpected reports whether the fault is an exception that is not one of Ansible's own.
func (f *fault) unexpected() bool { return f.kind != "" && !strings.HasPrefix(f.kind, "Ansible") }

// variable returns a rendered variable, nil if it is not defined.
func (e *eval) variable(ctx context.Context, name string) (value.Value, error) {
	raw, ok, err := e.scope.Raw(ctx, name)
	if err != nil || !ok {
		return nil, err
	}
	return e.tpl.Template(ctx, raw)
}

// conditions returns the values of a keyword that holds conditions.
func conditions(list []plan.Expr) []value.Value {
	out := make([]value.Value, 0, len(list))
	for _, x := range list {
		out = append(out, x.V)
	}
	return out
}

// message returns the msg of a fault.
func (e *eval) message(ctx context.Context, f *fault) string {
	if !f.place {
		return f.text
	}
	between := "\n\n"
	if e.has(dialect.ErrorOrigins) {
		between = "\n"
	}
	if where := e.far.step().Where(ctx, f.of); where != "" {
		return f.text + between + where
	}
	if f.again != "" {
		return f.text + ". " + f.again
	}
	return f.text
}

// failed returns the result of a task that a fault has ended.
func (e *eval) failed(ctx context.Context, f *fault) *result.Result {
	res := result.New()
	res.Set("failed", value.Bool(true))
	if e.has(dialect.FailureCauses) {
		if !f.untried {
			res.Set("changed", value.Bool(false))
		}
		f.tell(res)
		return res
	}
	if !f.unexpected() {
		res.Set("msg", value.UnsafeStr(e.message(ctx, f)))
		return res
	}
	res.Set("exception", value.UnsafeStr("Traceback (most recent call last):\n"+f.class+": "+f.text))
	if f.keyword {
		res.Set("changed", value.Bool(false))
		return res
	}
	res.Set("msg", value.UnsafeStr("Unexpected failure during module execution: "+f.text))
	res.Set("stdout", value.Str(""))
	return res
}

// gathers reports whether the step gathers the facts of its host.
func (e *eval) gathers() bool {
	m := e.g.cfg.Modules.Declared(e.s.Action)
	return m != nil && m.Facts
}
