package runner

import (
	"context"
	"errors"
	"io"
	"slices"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/treesync"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// moduleHost is how a module reaches the session that runs it: it renders, asks, and finds files of the controller.
type moduleHost struct {
	e   *eval
	mod *modules.Module
	// local and host are those of modules.Asks.
	local func(ctx context.Context) (bool, error)
	host  func(ctx context.Context, module string, args *value.Dict) (*value.Dict, error)
	// failure collects what could not be rendered.
	failure *failureReport
	// named are the digests of the files that the module has found in its Resolve stage.
	named []string
}

// env returns the Env of a call.
func (d *moduleHost) env(c wire.Call, w runTarget, title string) (*call.Env, error) {
	local := c
	if w.away() || d.e.g.start.Absent != "" {
		local.User = wire.RunAs{} // only the Resolve stage runs here
	}
	e := d.e
	ask := e.g.line.ask
	if c.Async > 0 {
		ask = e.g.line.askInBackground
	}
	env, err := e.g.cfg.here().Env(local, d.mod, e.g.start.Host,
		func(ctx context.Context, a wire.Ask) (wire.Answer, error) {
			a.Step = e.id
			return ask(ctx, a)
		})
	if err != nil {
		return nil, err
	}
	env.Env.Native = e.g.play.Native || e.has(dialect.SetFactText)
	env.Env.NamesVariable = e.g.play.Level.NamesVariable
	env.Env.User, env.Env.Task = c.User.User, title
	env.Env.Source, env.Env.Tree, env.Env.Place = d.source, d.tree, e.files().place
	env.Env.ForModules = e.g.play.ForModules.Dict
	env.Env.Background = c.Async > 0
	env.Env.Local, env.Env.Delegate = w.f.connection == "local", w.f.delegate
	env.Env.Open = func(ctx context.Context, digest string) (io.ReadCloser, error) { return e.g.blobs.reader(ctx, digest) }
	env.Env.Render, env.Env.Evaluate, env.Env.RenderFile = d.render, d.evaluate, d.renderFile
	env.Env.Condition, env.Env.Var = d.condition, d.variable
	env.Env.Option = func(ctx context.Context, name string) (value.Value, bool, error) {
		return d.given(w.option(ctx, name))
	}
	if d.mod.Session {
		env.Env.Asks = d.asks()
	}
	return env, nil
}

func (d *moduleHost) source(ctx context.Context, dir, name string, decrypt bool) (*modules.Source, error) {
	src, err := d.e.files().source(ctx, dir, name, decrypt)
	if err == nil {
		d.named = append(d.named, src.Digest)
		for _, e := range src.Entries {
			d.named = append(d.named, e.Digest)
		}
	}
	return src, err
}

func (d *moduleHost) tree(ctx context.Context, name string, q treesync.Query) (*treesync.Tree, error) {
	tree, err := d.e.files().tree(ctx, name, q)
	for i := 0; err == nil && i < len(tree.Entries); i++ {
		d.named = append(d.named, tree.Entries[i].Digest)
	}
	return tree, err
}

// files returns the digests of the files that were found; the host of the call may pull these.
func (d *moduleHost) files() []string {
	all := slices.DeleteFunc(slices.Clone(d.named), func(digest string) bool { return digest == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// render renders a text of the task's for a module. At level 2.19 only a list replaces what is asserted.
func (d *moduleHost) render(ctx context.Context, text value.Value) (value.Value, error) {
	v, err := d.e.tpl.Template(ctx, text)
	if d.e.has(dialect.DebugVar) && slices.Contains(d.mod.Unrendered, "that") {
		if _, isList := v.(*value.List); err != nil || !isList || !templar.AllTemplate(value.Printed(text)) {
			return text, nil
		}
	}
	return v, d.e.check(ctx, err)
}

// evaluate evaluates an expression for a module. At level 2.14 a text that may not be an expression stays a text,
// braces included, as in Ansible.
func (d *moduleHost) evaluate(ctx context.Context, expr value.Value) (value.Value, error) {
	text, _ := value.Text(expr)
	if d.e.has(dialect.TrustedTemplates) && !templar.Trusted(expr) {
		return d.failure.untrusted(text)
	}
	v, err := d.e.tpl.Template(ctx, templar.Braced(expr))
	if d.e.has(dialect.DebugVar) && err != nil {
		return d.failure.looked(ctx, expr, err)
	}
	if err != nil {
		return nil, d.e.check(ctx, err)
	}
	return value.ToPlain(v)
}

func (d *moduleHost) condition(ctx context.Context, c value.Value) (bool, error) {
	ok, _, err := d.e.tpl.Condition(ctx, c)
	return ok, d.failure.caused(d.e.check(ctx, err), spot{text: value.Printed(c)})
}

func (d *moduleHost) variable(ctx context.Context, name string) (value.Value, bool, error) {
	v, err := d.e.variable(ctx, name)
	return d.given(v, d.e.check(ctx, err))
}

// given returns a variable as modules get it; nil is none.
func (d *moduleHost) given(v value.Value, err error) (value.Value, bool, error) {
	if err != nil || v == nil {
		return nil, false, err
	}
	out, err := value.ToPlain(v)
	return out, err == nil, err
}

// renderFile renders a template file with the variables that Ansible gives to templates.
func (d *moduleHost) renderFile(ctx context.Context, src *modules.Source, o modules.TemplateOptions) (string, error) {
	out, err := d.e.renderFile(ctx, src, o)
	return out, d.failure.caused(d.e.check(ctx, err), spot{file: o.Name})
}

// errSameHost is the error of questions about the host in a session on the host itself.
var errSameHost = errors.New("hark can restart a host only where it sees that before the play begins: " +
	"this task came in with a dynamic include; import it, or put it into the play")

// asks returns the module's questions, for modules that run in a session.
func (d *moduleHost) asks() modules.Asks {
	return modules.Asks{
		Pause: d.pause, VarsFile: d.varsFile, Job: d.e.g.cfg.Jobs.Tell, Local: d.local, Host: d.host, Reached: d.reached,
		AddHost: func(h modules.NewHost) {
			d.changeInventory("add_host", value.DictOf("groups", h.Groups, "host_name", h.Name, "host_vars", h.Vars))
		},
		GroupBy: func(g modules.Grouping) {
			d.changeInventory("group_by", value.DictOf("add_group", g.Group, "parent_groups", g.Parents))
		},
	}
}

// controller asks the controller for what belongs to the step.
func (d *moduleHost) controller(ctx context.Context, a wire.Ask) (wire.Answer, error) {
	a.Step = d.e.id
	ans, err := d.e.g.line.ask(ctx, a)
	if err == nil && ans.Err != "" {
		err = &fault{text: ans.Err}
	}
	return ans, err
}

func (d *moduleHost) pause(ctx context.Context, p modules.Pause) (string, error) {
	ans, err := d.controller(ctx,
		wire.Ask{Kind: wire.AskPrompt, Prompt: &wire.Prompt{Text: p.Text, Ask: p.Ask, Limit: p.Limit, Echo: p.Echo}})
	if err != nil {
		return "", err
	}
	if p.Ask != "" && value.IsNone(ans.Value.V) {
		return "", modules.ErrUnattended
	}
	text, _ := value.Text(ans.Value.V)
	return text, nil
}

// changeInventory notes the change of add_host or group_by (the action).
func (d *moduleHost) changeInventory(action string, with *value.Dict) {
	if d.e.change != nil {
		*d.e.change = &inventoryChange{action: action, with: with}
	}
}

// reached reports whether the task's host can be used now. A session on the host itself has reached it; a local
// connection does not count.
func (d *moduleHost) reached(ctx context.Context) (ok bool, why value.Value, err error) {
	if local, err := d.local(ctx); err == nil && local {
		return true, nil, nil
	}
	res, err := d.host(ctx, modules.Ping, value.NewDict())
	switch {
	case errors.Is(err, errSameHost):
		return true, nil, nil
	case err != nil:
		return false, nil, err
	}
	why, _ = res.Get("msg")
	return !res.True("unreachable"), why, nil
}

// varsFile asks for a file of variables.
func (d *moduleHost) varsFile(ctx context.Context, q modules.VarsQuery) (modules.VarsFile, error) {
	ans, err := d.controller(ctx, wire.Ask{Kind: wire.AskVarsFile, Names: []string{q.Name}, Dir: "vars"})
	if err != nil {
		return modules.VarsFile{}, err
	}
	out := modules.VarsFile{Secret: ans.Secret}
	if len(ans.Paths) > 0 {
		out.Path = ans.Paths[0]
	}
	read, ok := ans.Value.V.(*value.Dict)
	if !ok {
		if full, err := value.Truth(ans.Value.V); ans.Value.V != nil && (err != nil || full) {
			return out, nil
		}
		read = value.NewDict()
	}
	out.Vars = q.Into.Copy()
	for i := 0; i < read.Len(); i++ {
		k, v := read.At(i)
		if name, isText := value.Text(k); q.Merge && isText {
			if v, err = d.merged(ctx, name, v); err != nil {
				return modules.VarsFile{}, err
			}
		}
		out.Vars.SetKey(k, v)
	}
	return out, nil
}

// merged merges a variable of a file into that of the same name which the host has, if both are mappings.
func (d *moduleHost) merged(ctx context.Context, name string, v value.Value) (value.Value, error) {
	old, err := d.e.variable(ctx, name)
	if err != nil {
		return nil, d.e.check(ctx, err)
	}
	under, okUnder := old.(*value.Dict)
	over, okOver := v.(*value.Dict)
	if !okUnder || !okOver {
		return v, nil
	}
	return vars.Combine(under, over, true), nil
}
