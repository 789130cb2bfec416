package runner

import (
	"context"
	"errors"
	"slices"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// include does a dynamic include and walks what comes.
func (r *walk) include(ctx context.Context, s *plan.Step, id plan.ID) (flow, error) {
	f, fragments, err := r.bring(ctx, s, id)
	if err != nil || f != onward {
		return f, err
	}
	return r.fragments(ctx, fragments)
}

// bring renders what is to be included, has it compiled and takes it in.
func (r *walk) bring(ctx context.Context, s *plan.Step, id plan.ID) (flow, []plan.Fragment, error) {
	t, err := r.newTask(ctx, s, id)
	if err != nil {
		return failed, nil, err
	}
	if f := t.allows(ctx); f != nil {
		g, err := t.refused(ctx, f)
		return g, nil, err
	}
	res, err := t.result(ctx)
	if err != nil {
		return failed, nil, err
	}
	status := res.Status()
	if len(t.included) == 0 || status == wire.StatusFailed && !t.f.ignoreErrors {
		f, err := t.conclude(ctx, res)
		return f, nil, err
	}
	a, err := r.line.ask(ctx, wire.Ask{Kind: wire.AskInclude, Step: id, Includes: t.included})
	if err != nil {
		return failed, nil, err
	}
	if a.Err != "" {
		f, err := t.notIncluded(ctx, res, a)
		return f, nil, err
	}
	t.fragments = a.Fragments
	f, err := t.conclude(ctx, res)
	if err != nil || f != onward {
		return f, nil, err
	}
	for i := range a.Fragments {
		fragment := &a.Fragments[i]
		r.shared = r.shared.Extend(fragment)
		r.join(fragment.Roles, fragment.Handlers, fragment.Blocks)
	}
	return onward, a.Fragments, nil
}

// fragments walks what was included: in the order in which the batch came upon the files, which is not that of this host's
// loop if others have included one of them before.
func (r *walk) fragments(ctx context.Context, list []plan.Fragment) (flow, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b plan.Fragment) int { return a.Index - b.Index })
	for i := range list {
		for j := range list[i].Blocks {
			if f, err := r.block(ctx, &list[i].Blocks[j]); err != nil || f != onward {
				return f, err
			}
		}
	}
	return onward, nil
}

// notIncluded is an include whose file or role could not be had: the host has failed, whatever ignore_errors says, and
// no rescue is counted, though one is run.
func (t *task) notIncluded(ctx context.Context, res *result.Result, a wire.Answer) (flow, error) {
	if a.ErrKind == "broken" {
		t.r.line.emit(wire.Event{Kind: wire.Broken, Step: t.id, Text: a.Err})
		return failed, errors.New(a.Err)
	}
	shown := result.New()
	if t.base.tagged() {
		shown.Set("changed", value.Bool(false))
		if file, ok := res.Get("include"); ok {
			shown.Set("include", file)
		}
		say(shown) // nothing: the controller tells of it
	}
	shown.Set("failed", value.Bool(true))
	shown.Set("reason", value.UnsafeStr(a.Err))
	o := t.report(t.f).Outcome(shown)
	o.FailAll = t.fatal(ctx)
	t.registered(o, res)
	t.r.apply(o.Effects)
	t.r.line.done(wire.Event{Step: t.id, Name: t.name, Outcome: o})
	return t.r.failure(), t.r.line.broken()
}

// includeResult renders one include and notes its call.
func (x *execution) includeResult(ctx context.Context) (*result.Result, error) {
	args := value.NewDict()
	if x.e.s.Args.Dict != nil {
		args = x.e.s.Args.Copy()
	}
	res := result.New()
	call := value.NewDict()
	if x.e.s.Action == plan.IncludeRole {
		res.Set("include_args", args)
		if err := x.roleCall(ctx, call, args); err != nil {
			return nil, err
		}
	} else {
		file, given := args.Get("_raw_params")
		if !given {
			file, given = args.Get("file")
		}
		args.Delete(value.Str("_raw_params"))
		args.Delete(value.Str("file"))
		if !given || !value.IsTrue(file) {
			return failure("No include file was specified to the include"), nil
		}
		v, err := x.e.tpl.Template(ctx, file)
		if err != nil {
			return nil, x.e.includeFault(x.e.check(ctx, err), file)
		}
		res.Set("include", v)
		res.Set("include_args", args)
		args.Each(func(k, v value.Value) bool { return call.SetKey(k, v) })
		call.Set("file", v)
	}
	vars, marks := x.includeVars(ctx)
	marks.Write(vars)
	x.t.included = append(x.t.included, wire.IncludeCall{Args: plan.Dict{Dict: call}, Vars: plan.Dict{Dict: vars}})
	x.t.labels = append(x.t.labels, marks.Label)
	return res, nil
}

// roleCall renders what of the arguments names the role and its files; apply and the like stay raw.
func (x *execution) roleCall(ctx context.Context, call, args *value.Dict) error {
	for i := 0; i < args.Len(); i++ {
		k, v := args.At(i)
		switch name, _ := value.Text(k); name {
		case "name", "role", "tasks_from", "vars_from", "defaults_from", "handlers_from":
			rendered, err := x.e.tpl.Template(ctx, v)
			if err != nil {
				return x.e.check(ctx, err)
			}
			if templar.IsOmit(rendered) {
				continue
			}
			if name == "role" {
				k = value.YAMLStr("name")
			}
			v = rendered
		}
		call.SetKey(k, v)
	}
	return nil
}

// includeVars are the loop's variables, which what is included sees.
func (x *execution) includeVars(ctx context.Context) (d *value.Dict, marks result.Marks) {
	d = value.NewDict()
	if x.f.noLog {
		marks.NoLog = result.Yes
	}
	if x.item == nil {
		return d, marks
	}
	x.item.vars.Each(func(k, v value.Value) bool {
		if name, _ := value.Text(k); name != "ansible_loop_var" && name != "ansible_index_var" {
			d.SetKey(k, v)
		}
		return true
	})
	if label, err := x.e.tpl.Template(ctx, x.item.label); err == nil {
		marks.Label = label
	}
	return d, marks
}

// includedFiles are the files for the lines that tell of them.
func (t *task) includedFiles() []wire.Included {
	var out []wire.Included
	for i, f := range t.fragments {
		in := wire.Included{Path: f.Path, Index: f.Index}
		if f.Path == "" && t.base.tagged() && i < len(t.included) {
			name, _ := t.included[i].Args.Get("name")
			in.Path, _ = value.Text(value.OrNone(name))
		}
		if in.Path == "" {
			continue // a role
		}
		if i < len(t.included) {
			// Ansible shows no label that is false, not even 0.
			if label := t.labels[i]; label != nil && value.IsTrue(label) {
				in.Label, _ = value.ToStr(label)
				in.Item = value.PlainJSON(label)
			}
		}
		out = append(out, in)
	}
	return out
}
