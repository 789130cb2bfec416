package runner

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/mirror"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// env is the Env of a call of this step: it can also render, ask and find controller-side files.
func (x *execution) env(c wire.Call, mod *modules.Module) (*call.Env, error) {
	local := c
	if x.away() || x.e.r.start.Absent != "" {
		local.User = wire.RunAs{} // only the Resolve stage runs here
	}
	e := x.e
	ask := e.r.line.ask
	if c.Async > 0 {
		ask = e.r.line.askBeside
	}
	env, err := e.r.cfg.here().Env(local, mod, e.r.start.Host, func(ctx context.Context, a wire.Ask) (wire.Answer, error) {
		a.Step = e.id
		return ask(ctx, a)
	})
	if err != nil {
		return nil, err
	}
	env.Env.Native = e.r.doc.Play.Native || e.tagged()
	env.Env.User, env.Env.Task = c.User.User, x.t.title()
	env.Env.Source = func(ctx context.Context, dir, name string, decrypt bool) (*modules.Source, error) {
		src, err := e.source(ctx, dir, name, decrypt)
		if err == nil {
			x.named = append(x.named, digestsOf(src)...)
		}
		return src, err
	}
	env.Env.Tree = func(ctx context.Context, name string, q mirror.Query) (*mirror.Tree, error) {
		tree, err := e.tree(ctx, name, q)
		for i := 0; err == nil && i < len(tree.Entries); i++ {
			x.named = append(x.named, tree.Entries[i].Digest)
		}
		return tree, err
	}
	env.Env.Place = e.place
	env.Env.ForModules = e.r.doc.Play.ForModules.Dict
	env.Env.Background = c.Async > 0
	env.Env.Local, env.Env.Delegate = x.f.connection == "local", x.f.delegate
	env.Env.Open = func(ctx context.Context, digest string) (io.ReadCloser, error) { return e.r.blobs.reader(ctx, digest) }
	env.Env.Render = x.render
	env.Env.RenderFile = x.renderFile
	env.Env.Condition = x.condition
	env.Env.Var = x.variable
	if mod.Session {
		env.Env.Ask = x.moduleAsk
	}
	return env, nil
}

// title is the task's name as Ansible shows it.
func (t *task) title() string {
	name := t.name
	if name == "" {
		name = t.s.Written
	}
	if role := t.r.roles[t.s.Role]; role != nil {
		return role.Name + " : " + name
	}
	return name
}

// render renders text for a module. Text that a module made of an unsafe argument is unsafe too, as Python's text is
// in Ansible: it stays as it is.
func (x *execution) render(ctx context.Context, text string, extra map[string]any) (value.Value, error) {
	if tainted(x.f.args, text) || x.e.tagged() && slices.Contains(x.t.mod.Unrendered, "that") && !listed(ctx, x.e, text) {
		return value.UnsafeStr(text), nil
	}
	local, _ := value.FromGo(extra, value.KindUnsafe).(*value.Dict)
	v, err := x.e.with(local).tpl.Template(ctx, value.YAMLStr(text))
	if x.e.tagged() && x.t.mod.Has(modules.ShowsOnly) && err != nil {
		return looked(ctx, x, text, err)
	}
	if err != nil {
		return nil, x.e.check(ctx, err)
	}
	return value.ToPlain(v)
}

// tainted tells whether text holds an unsafe one among the values.
func tainted(v value.Value, text string) bool {
	switch v := v.(type) {
	case value.UnsafeStr:
		return v != "" && strings.Contains(text, string(v))
	case *value.List:
		return slices.ContainsFunc(v.Items, func(item value.Value) bool { return tainted(item, text) })
	case *value.Dict:
		for i := 0; i < v.Len(); i++ {
			if _, item := v.At(i); tainted(item, text) {
				return true
			}
		}
	}
	return false
}

func (x *execution) condition(ctx context.Context, text string) (bool, error) {
	var c value.Value = value.YAMLStr(text)
	if x.e.tagged() {
		c = trusted(ctx, x.e, text)
	}
	ok, _, err := x.e.tpl.Condition(ctx, c)
	return ok, x.caused(x.e.check(ctx, err), spot{text: text})
}

func (x *execution) variable(ctx context.Context, name string) (value.Value, bool, error) {
	v, err := x.e.variable(ctx, name)
	if err != nil || v == nil {
		return nil, false, x.e.check(ctx, err)
	}
	out, err := value.ToPlain(v)
	return out, err == nil, err
}

// renderFile renders a template's text with the variables that Ansible gives to templates.
func (x *execution) renderFile(ctx context.Context, text string, o modules.TemplateOptions) (string, error) {
	out, err := x.e.renderText(ctx, text, o)
	return out, x.caused(x.e.check(ctx, err), spot{file: o.Name})
}

// moduleAsk serves the kinds that the package comment lists.
func (x *execution) moduleAsk(ctx context.Context, kind string, args map[string]any) (map[string]any, error) {
	a := wire.Ask{Step: x.e.id}
	switch kind {
	case "host":
		return x.callHost(ctx, args)
	case "reached":
		return x.reached(ctx)
	case "job":
		return x.e.r.cfg.Jobs.Answer(ctx, kind, args)
	case "pause":
		seconds, _ := args["seconds"].(float64)
		text, _ := args["text"].(string)
		echo, _ := args["echo"].(bool)
		a.Kind, a.Prompt = wire.AskPrompt, &wire.Prompt{Text: text, Limit: time.Duration(seconds * float64(time.Second)), Echo: echo}
	case "vars_file":
		name, _ := args["name"].(string)
		a.Kind, a.Names, a.Dir = wire.AskVarsFile, []string{name}, "vars"
	case "add_host", "group_by":
		kw, _ := value.FromGo(args, value.KindUnsafe).(*value.Dict)
		a.Kind, a.Name, a.Kw = wire.AskInventory, kind, plan.Dict{Dict: kw}
	default:
		return nil, fmt.Errorf("internal error: module %s asks for %q", x.e.s.Action, kind)
	}
	ans, err := x.e.r.line.ask(ctx, a)
	if err != nil {
		return nil, err
	}
	if ans.Err != "" {
		return nil, &fault{text: ans.Err}
	}
	if kind == "vars_file" {
		return x.varsFile(ctx, ans, args)
	}
	return moduleAnswer(kind, ans)
}

func moduleAnswer(kind string, ans wire.Answer) (map[string]any, error) {
	if kind == "pause" {
		text, _ := value.Text(ans.Value.V)
		return map[string]any{"text": text}, nil
	}
	return map[string]any{"changed": value.IsTrue(ans.Value.V)}, nil
}

// varsFile is the answer about a variables file: its variables over those of "into"; with "merge" mappings are
// merged into the variables of that name that the host has.
func (x *execution) varsFile(ctx context.Context, ans wire.Answer, args map[string]any) (map[string]any, error) {
	out := map[string]any{"path": "", "dict": false, "secret": ans.Secret}
	if len(ans.Paths) > 0 {
		out["path"] = ans.Paths[0]
	}
	read, ok := ans.Value.V.(*value.Dict)
	if !ok {
		if empty, err := value.Truth(ans.Value.V); ans.Value.V != nil && (err != nil || empty) {
			return out, nil
		}
		read = value.NewDict()
	}
	all := value.NewDict()
	if into, ok := args["into"].(*value.Dict); ok {
		all = into.Copy()
	}
	merge, _ := args["merge"].(bool)
	for i := 0; i < read.Len(); i++ {
		k, v := read.At(i)
		if name, isText := value.Text(k); merge && isText {
			old, err := x.e.variable(ctx, name)
			if err != nil {
				return nil, x.e.check(ctx, err)
			}
			oldDict, okOld := old.(*value.Dict)
			newDict, okNew := v.(*value.Dict)
			if okOld && okNew {
				v = vars.Combine(oldDict, newDict, true)
			}
		}
		all.SetKey(k, v)
	}
	out["dict"], out["vars"] = true, all
	return out, nil
}
