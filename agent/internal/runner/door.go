package runner

import (
	"context"
	"errors"
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

// door is by what a module reaches the session that runs it: it can render, ask, and find files of the controller.
type door struct {
	e    *eval
	args *value.Dict // of the task, rendered
	mod  *modules.Module
	// host runs another module on the host of the task; see the ask of that name.
	host func(ctx context.Context, name string, args *value.Dict) (map[string]any, error)
	// blame is told of what could not be rendered.
	blame *blame
	// named are the digests of the files that the module has found in its Resolve stage.
	named []string
}

// env is the Env of a call.
func (d *door) env(c wire.Call, w way, title string) (*call.Env, error) {
	local := c
	if w.away() || d.e.g.start.Absent != "" {
		local.User = wire.RunAs{} // only the Resolve stage runs here
	}
	e := d.e
	ask := e.g.line.ask
	if c.Async > 0 {
		ask = e.g.line.askBeside
	}
	env, err := e.g.cfg.here().Env(local, d.mod, e.g.start.Host, func(ctx context.Context, a wire.Ask) (wire.Answer, error) {
		a.Step = e.id
		return ask(ctx, a)
	})
	if err != nil {
		return nil, err
	}
	env.Env.Native = e.g.play.Native || e.tagged()
	env.Env.User, env.Env.Task = c.User.User, title
	env.Env.Source, env.Env.Tree, env.Env.Place = d.source, d.tree, e.files().place
	env.Env.ForModules = e.g.play.ForModules.Dict
	env.Env.Background = c.Async > 0
	env.Env.Local, env.Env.Delegate = w.f.connection == "local", w.f.delegate
	env.Env.Open = func(ctx context.Context, digest string) (io.ReadCloser, error) { return e.g.blobs.reader(ctx, digest) }
	env.Env.Render, env.Env.RenderFile, env.Env.Condition, env.Env.Var = d.render, d.renderFile, d.condition, d.variable
	if d.mod.Session {
		env.Env.Ask = d.ask
	}
	return env, nil
}

func (d *door) source(ctx context.Context, dir, name string, decrypt bool) (*modules.Source, error) {
	src, err := d.e.files().source(ctx, dir, name, decrypt)
	if err == nil {
		d.named = append(d.named, src.Digest)
		for _, e := range src.Entries {
			d.named = append(d.named, e.Digest)
		}
	}
	return src, err
}

func (d *door) tree(ctx context.Context, name string, q mirror.Query) (*mirror.Tree, error) {
	tree, err := d.e.files().tree(ctx, name, q)
	for i := 0; err == nil && i < len(tree.Entries); i++ {
		d.named = append(d.named, tree.Entries[i].Digest)
	}
	return tree, err
}

// files are the digests of the files that were found: the host of the call may pull these.
func (d *door) files() []string {
	all := slices.DeleteFunc(slices.Clone(d.named), func(digest string) bool { return digest == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// render renders text for a module. Text that a module made of an unsafe argument is unsafe too, as Python's text is
// in Ansible: it stays as it is.
func (d *door) render(ctx context.Context, text string, extra map[string]any) (value.Value, error) {
	if tainted(d.args, text) || d.e.tagged() && slices.Contains(d.mod.Unrendered, "that") && !listed(ctx, d.e, text) {
		return value.UnsafeStr(text), nil
	}
	local, _ := value.FromGo(extra, value.KindUnsafe).(*value.Dict)
	v, err := d.e.with(local).tpl.Template(ctx, value.YAMLStr(text))
	if d.e.tagged() && d.mod.Has(modules.ShowsOnly) && err != nil {
		return d.blame.looked(ctx, text, err)
	}
	if err != nil {
		return nil, d.e.check(ctx, err)
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

func (d *door) condition(ctx context.Context, text string) (bool, error) {
	var c value.Value = value.YAMLStr(text)
	if d.e.tagged() {
		c = trusted(ctx, d.e, text)
	}
	ok, _, err := d.e.tpl.Condition(ctx, c)
	return ok, d.blame.caused(d.e.check(ctx, err), spot{text: text})
}

func (d *door) variable(ctx context.Context, name string) (value.Value, bool, error) {
	v, err := d.e.variable(ctx, name)
	if err != nil || v == nil {
		return nil, false, d.e.check(ctx, err)
	}
	out, err := value.ToPlain(v)
	return out, err == nil, err
}

// renderFile renders a template's text with the variables that Ansible gives to templates.
func (d *door) renderFile(ctx context.Context, text string, o modules.TemplateOptions) (string, error) {
	out, err := d.e.renderText(ctx, text, o)
	return out, d.blame.caused(d.e.check(ctx, err), spot{file: o.Name})
}

// errSameHost is the error of a "host" ask in a session that runs on the very host.
var errSameHost = errors.New("hark can restart a host only where it sees that before the play begins: " +
	"this task came in with a dynamic include; import it, or put it into the play")

// ask serves the kinds that the package comment lists.
func (d *door) ask(ctx context.Context, kind string, args map[string]any) (map[string]any, error) {
	a := wire.Ask{Step: d.e.id}
	switch kind {
	case "host":
		name, _ := args["module"].(string)
		params, _ := value.FromGo(args["args"], value.KindUnsafe).(*value.Dict)
		return d.host(ctx, name, params)
	case "reached":
		return d.reached(ctx)
	case "job":
		return d.e.g.cfg.Jobs.Answer(ctx, kind, args)
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
		return nil, fmt.Errorf("internal error: module %s asks for %q", d.e.s.Action, kind)
	}
	ans, err := d.e.g.line.ask(ctx, a)
	if err != nil {
		return nil, err
	}
	if ans.Err != "" {
		return nil, &fault{text: ans.Err}
	}
	switch kind {
	case "vars_file":
		return d.varsFile(ctx, ans, args)
	case "pause":
		text, _ := value.Text(ans.Value.V)
		return map[string]any{"text": text}, nil
	}
	return map[string]any{"changed": value.IsTrue(ans.Value.V)}, nil
}

// reached answers the "reached" ask: whether the task's host can be used now. A session on the host itself has reached it.
func (d *door) reached(ctx context.Context) (map[string]any, error) {
	res, err := d.host(ctx, modules.Ping, value.NewDict())
	switch {
	case errors.Is(err, errSameHost):
		return map[string]any{"ok": true}, nil
	case err != nil:
		return nil, err
	}
	return map[string]any{"ok": res["unreachable"] != true, "msg": res["msg"]}, nil
}

// varsFile is the answer about a variables file: its variables over those of "into"; with "merge" mappings are
// merged into the variables of that name that the host has.
func (d *door) varsFile(ctx context.Context, ans wire.Answer, args map[string]any) (map[string]any, error) {
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
			old, err := d.e.variable(ctx, name)
			if err != nil {
				return nil, d.e.check(ctx, err)
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
