package runner

import (
	"context"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// included is one file or role of a dynamic include.
type included struct {
	call wire.IncludeCall
	// label is the label of the loop's item, nil outside loops.
	label value.Value
	// fragment is what it added, nil if nothing.
	fragment *plan.Fragment
}

// inclusion renders the file or role of a dynamic include, or of one item of its loop.
type inclusion struct {
	e    *eval
	f    *fields
	item *loopItem // nil outside loops
}

// render returns the result, and what is to be included, nil for nothing.
func (n inclusion) render(ctx context.Context) (*result.Result, *included, error) {
	args := value.NewDict()
	if n.e.s.Args.Dict != nil {
		args = n.e.s.Args.Copy()
	}
	res, called := result.New(), value.NewDict()
	if n.e.s.Action == plan.IncludeRole {
		res.Set("include_args", args)
		if err := n.role(ctx, called, args); err != nil {
			return nil, nil, err
		}
	} else {
		file, given := args.Get("_raw_params")
		if !given {
			file, given = args.Get("file")
		}
		args.Delete(value.Str("_raw_params"))
		args.Delete(value.Str("file"))
		if !given || !value.IsTrue(file) {
			return failure("No include file was specified to the include"), nil, nil
		}
		v, err := n.e.tpl.Template(ctx, file)
		if err != nil {
			return nil, nil, n.e.includeFault(n.e.check(ctx, err), file)
		}
		res.Set("include", v)
		res.Set("include_args", args)
		args.Each(func(k, v value.Value) bool { return called.SetKey(k, v) })
		called.Set("file", v)
	}
	vars, label := n.vars(ctx)
	return res, &included{call: wire.IncludeCall{Args: plan.Dict{Dict: called}, Vars: plan.Dict{Dict: vars}},
		label: label}, nil
}

// role renders the arguments that name the role and its files; apply and the like stay raw.
func (n inclusion) role(ctx context.Context, called, args *value.Dict) error {
	for i := 0; i < args.Len(); i++ {
		k, v := args.At(i)
		switch name, _ := value.Text(k); name {
		case "name", "role", "tasks_from", "vars_from", "defaults_from", "handlers_from":
			rendered, err := n.e.tpl.Template(ctx, v)
			if err != nil {
				return n.e.check(ctx, err)
			}
			if templar.IsOmit(rendered) {
				continue
			}
			if name == "role" {
				k = value.Str("name")
			}
			v = rendered
		}
		called.SetKey(k, v)
	}
	return nil
}

// vars returns the loop's variables for what is included, with the marks that Ansible gives them, and the label of the
// item.
func (n inclusion) vars(ctx context.Context) (d *value.Dict, label value.Value) {
	d = value.NewDict()
	var marks result.Marks
	if n.f.noLog {
		marks.NoLog = result.Yes
	}
	if n.item != nil {
		n.item.vars.Each(func(k, v value.Value) bool {
			name, _ := value.Text(k)
			if marks := name == "ansible_loop_var" || name == "ansible_index_var"; !marks || n.e.has(dialect.IncludeLoopMarks) {
				d.SetKey(k, v)
			}
			return true
		})
		if v, err := n.e.tpl.Template(ctx, n.item.label); err == nil {
			marks.Label = v
		}
	}
	marks.Write(d)
	return d, marks.Label
}

// calls returns the question to the controller for what is to be included.
func (t *task) calls() []wire.IncludeCall {
	var out []wire.IncludeCall
	for i := range t.included {
		out = append(out, t.included[i].call)
	}
	return out
}

// includedFiles returns the files for the "included:" lines. Roles have none at level 2.14.
func (t *task) includedFiles() []wire.Included {
	var out []wire.Included
	for i := range t.included {
		inc := &t.included[i]
		if inc.fragment == nil {
			continue
		}
		in := wire.Included{Path: inc.fragment.Path, Index: inc.fragment.Index}
		if in.Path == "" && t.base.has(dialect.IncludeRoleShown) {
			in.Path = inc.call.Args.Text("name")
		}
		if in.Path == "" {
			continue
		}
		// Ansible shows no label that is false, not even 0.
		if inc.label != nil && value.IsTrue(inc.label) {
			in.Label, _ = value.ToStr(inc.label)
			in.Item = value.PlainJSON(inc.label)
		}
		out = append(out, in)
	}
	return out
}
