package runner

import (
	"context"
	"errors"

	"hark/agent/internal/report"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/foreign"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// task is one step that the host does: the runs of its module, and their result. conclude has what follows of the
// result.
type task struct {
	g    *playState
	s    *plan.Step
	id   plan.ID
	base *eval
	mod  *modules.Module // nil if there is no module of the name
	name string          // rendered
	// f are the keywords for the whole task; of a loop those as written.
	f *fields
	// latest is the last run of the task: the whole, or one item; nil if there was none.
	latest *execution
	// rescued says that a rescue handles a failure of the task.
	rescued bool
	// loopErr is why the loop's items are not known; it matters only if the conditions hold.
	loopErr error
	loop    bool
	started bool
	// shown says that the debugger has shown the result.
	shown bool
	// pending are results whose changes of the inventory are still to be made.
	pending []pendingChange
	// included are the files of a dynamic include, one for each item that was not skipped.
	included []included
}

func newTask(ctx context.Context, g *playState, s *plan.Step, id plan.ID, rescued bool) (*task, error) {
	if err := g.refresh(ctx); err != nil {
		return nil, err
	}
	t := &task{g: g, s: s, id: id, base: g.newEval(s, id, nil), rescued: rescued}
	if t.base.has(dialect.RegisterMap) {
		t.base.current = &currentTask{}
	}
	t.warnOfGiven()
	t.resolve(ctx)
	t.f = t.base.rawFields()
	t.name = s.Name
	if s.Name != "" {
		switch name, err := t.base.tpl.Text(ctx, s.NameText()); {
		case err == nil:
			t.name = name
		case t.base.has(dialect.MarkedNames):
			t.name = t.base.markedName(ctx, s.NameText())
		}
	}
	return t, g.line.broken()
}

// resolve finds the module. Its name may be a template; everything after uses the rendered name.
func (t *task) resolve(ctx context.Context) {
	if written := t.s.WrittenText(); templar.IsTemplate(written) {
		if name, err := t.base.tpl.Text(ctx, written); err == nil {
			rendered := *t.s
			rendered.Written, rendered.Action = name, t.g.cfg.Modules.FullName(name)
			t.s, t.base.s = &rendered, &rendered
		}
	}
	name := t.s.Action
	if t.s.Foreign != nil {
		name = foreign.Name
	}
	t.mod, _ = t.g.cfg.Modules.Get(name)
}

// result does the task and returns its result. An error means that the run broke.
func (t *task) result(ctx context.Context) (*result.Result, error) {
	res, err := t.execute(ctx)
	var f *fault
	if errors.As(err, &f) {
		res = t.base.failed(ctx, f)
		res.NoLog = result.FlagOf(t.f.noLog)
		return res, t.g.line.broken()
	}
	if err != nil {
		return nil, err
	}
	if _, ok := res.Get("changed"); !ok {
		res.Set("changed", value.Bool(false))
	}
	return res, nil
}

func (t *task) execute(ctx context.Context) (*result.Result, error) {
	items, err := looped{t.base}.items(ctx)
	if err != nil {
		var f *fault
		if !errors.As(err, &f) || !errors.Is(err, errUndefinedLoop) {
			return nil, err
		}
		t.loopErr = f
	}
	switch {
	case items == nil:
		return t.whole().run(ctx)
	case len(items) == 0:
		t.loop = true
		// nothing was rendered: Ansible hides only what the playbook hides without a template
		t.f.noLog = t.s.NoLog.V == value.Bool(true)
		res := result.New()
		res.Set("changed", value.Bool(false))
		res.Set("skipped", value.Bool(true))
		res.Set("skipped_reason", value.Str("No items in the list"))
		if t.base.has(dialect.SkippedResults) {
			res.Set("skip_reason", value.Str("No items in the list"))
			res.Set("failed", value.Bool(false))
		}
		res.Set("results", value.NewList())
		res.Items = []*result.Result{}
		return res, nil
	}
	t.loop = true
	return (&loop{t: t, items: items}).run(ctx)
}

// whole returns the run of a task without a loop.
func (t *task) whole() *execution { return &execution{t: t, e: t.base, f: t.f, view: newHostView()} }

// begin reports once that the host has begun the step.
func (t *task) begin() {
	if !t.started {
		t.started = true
		t.g.line.emit(wire.Event{Kind: wire.Started, Step: t.id, Name: t.name, Kept: keptName(t)})
	}
}

// report returns a reporter for results that these keywords produced.
func (t *task) report(f *fields) report.Reporter {
	return report.Reporter{
		Play: t.g.play, NoLog: f.noLog, Delegated: f.delegate, Diff: f.diff, Registered: len(t.s.Registers()) > 0,
		Rescued: t.rescued,
	}
}

// does reports whether the step's module has one of the traits.
func (t *task) does(traits modules.Trait) bool { return t.traits()&traits != 0 }

// traits returns the traits of the step's module.
func (t *task) traits() modules.Trait {
	if m := t.g.cfg.Modules.Declared(t.s.Action); m != nil {
		return m.Traits
	}
	return 0
}

// title returns the task's name as Ansible shows it.
func (t *task) title() string { return titleOf(t, t.name) }

// titleOf is title for a task with a given name.
func titleOf(t *task, name string) string {
	if name == "" {
		name = t.s.Written
	}
	if role := t.g.roles[t.s.Role]; role != nil {
		return role.Name + " : " + name
	}
	return name
}

// keptName returns the task's name for what stays on the host: its log and its list of jobs. Where secrets are hidden
// it is the playbook's, with its templates: the session does not know what vaults hold.
func keptName(t *task) string {
	switch {
	case !t.base.has(dialect.SecretsRedacted):
		return t.name
	case t.s.Sealed:
		return ""
	}
	return t.s.Name
}

// shownName returns the task's name for Ansible's messages.
func (t *task) shownName() string {
	name := t.s.Name
	if name == "" {
		name = t.s.Written
	}
	prefix := "TASK: "
	if t.s.Handler {
		prefix = "HANDLER: "
	}
	if role := t.g.roles[t.s.Role]; role != nil {
		name = role.FullName() + " : " + name
	}
	return prefix + name
}
