package answer

import (
	"cmp"
	"context"
	"fmt"

	"hark/agent/wire"
	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/fleet/connections"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// Actions is what it takes to run action plug-ins in Python; without Run there are none.
type Actions struct {
	Run func(ctx context.Context, a plugins.Action) (plugins.Acted, error)
	// Dirs are the directories of playbooks and roles, Books those of playbooks only.
	Dirs, Books func() []string
	// Module finds a module by its name where these collections are in force: its full name, and its file if it is
	// not native.
	Module  func(name string, collections []string) (string, *plan.Foreign)
	Modules *modules.Registry
	// Tell shows what a plug-in has to say, see plugins.Action.
	Tell func(warning bool, text string)
}

// action runs the action plug-in of a step.
func (a *Answerer) action(ctx context.Context, b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	p := &acting{a: a, b: b, step: step, plugin: pluginOf(step), ask: ask}
	if ask.Call != nil && byPlugin(ask.Call.Reach) {
		p.direct = ask.Call.Reach["ansible_connection"]
		p.plugin = cmp.Or(p.plugin, &plan.ActionPlugin{Path: p.direct})
	}
	if p.plugin == nil || a.Actions.Run == nil || ask.Call == nil {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s has no action plug-in", ask.Step)}
	}
	if limit := ask.Call.Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	about, err := p.about(ctx)
	if err != nil {
		return wire.Answer{}, err
	}
	done, err := a.Actions.Run(ctx, plugins.Action{Path: p.plugin.Path, About: about, Ask: p.answer, Tell: a.Actions.Tell})
	switch {
	case err != nil:
		return wire.Answer{}, err
	case done.Unreachable != "":
		return wire.Answer{Err: done.Unreachable, ErrKind: "unreachable"}, nil
	case done.Error != "" || done.Class != "":
		return wire.Answer{Err: done.Error, ErrKind: done.Class}, nil
	}
	return p.result(done)
}

// result returns what the plug-in returns. Most of it is the word of its host, which is judged as the result of a
// call is.
func (p *acting) result(done plugins.Acted) (wire.Answer, error) {
	out := wire.Answer{Result: done.Result}
	if done.Ended {
		out.ErrKind = wire.ActionEnded
	}
	if p.a.Said == nil {
		return out, nil
	}
	var err error
	out.Result, err = p.a.Said(&wire.Exec{Host: p.ask.Name, Origin: p.ask.Host, Step: p.ask.Step}, done.Result)
	if err != nil {
		return wire.Answer{Err: err.Error()}, nil
	}
	return out, nil
}

// acting is one run of an action plug-in for a host.
type acting struct {
	a      *Answerer
	b      *batch
	step   *plan.Step
	plugin *plan.ActionPlugin
	ask    wire.Ask
	direct string // the connection that ansible-core opens itself, "" where the host's agent stands in
}

// byPlugin reports whether a way to a host takes a connection plug-in of ansible-core.
func byPlugin(way map[string]string) bool {
	kind := connections.KindOf(way["ansible_connection"])
	return kind == connections.Device || kind == connections.Foreign
}

// pluginOf returns the action plug-in that a host may ask for at a step, nil if there is none.
func pluginOf(step *plan.Step) *plan.ActionPlugin {
	if step.Plugin == nil && step.Facts != nil {
		return &step.Facts.Plugin
	}
	return step.Plugin
}

// about returns the plug-in's input, as action.py reads it.
func (p *acting) about(ctx context.Context) (*value.Dict, error) {
	said, _ := p.said("task").(*value.Dict)
	own, _ := p.said("own").(*value.Dict)
	known, err := p.a.stepVariables(ctx, p.b, p.step, p.ask.Host, own)
	if err != nil {
		return nil, err
	}
	c, s := p.ask.Call, p.step
	texts := func(list []string) *value.List {
		l := value.NewList()
		for _, text := range list {
			l.Items = append(l.Items, value.Str(text))
		}
		return l
	}
	d := value.NewDict()
	for name, text := range map[string]string{
		"plugin": p.plugin.Name, "name": s.Action, "path": p.plugin.Path, "place": s.Place, "host": p.ask.Name,
		"play": p.b.shared.Magic.Text("ansible_play_name"), "basedir": string(p.b.Dir),
	} {
		d.Set(name, value.Str(text))
	}
	d.Set("dirs", texts(p.a.Actions.Dirs()))
	d.Set("books", texts(p.a.Actions.Books()))
	d.Set("search", texts(searchPaths(p.b, s)))
	d.Set("direct", value.Str(p.direct))
	d.Set("verbosity", value.Int(c.Verbosity))
	d.Set("secrets", value.Bool(p.a.Secrets != nil && len(p.a.Secrets.List) > 0))
	d.Set("task", p.task(orEmpty(said)))
	d.Set("context", p.context(orEmpty(said), known))
	d.Set("role", p.role())
	d.Set("vars", known)
	return d, nil
}

// said returns what the session knows of its task.
func (p *acting) said(name string) value.Value {
	v, ok := p.ask.Kw.Get(name)
	if !ok {
		return value.None{}
	}
	return v
}

// task returns the keywords of the task: what the host has rendered, and what is judged later as it is written.
func (p *acting) task(said *value.Dict) *value.Dict {
	c, s := p.ask.Call, p.step
	d := value.NewDict()
	for _, k := range plan.Keywords() {
		if !k.On.Has(plan.OnTask) || !k.Kept() {
			continue
		}
		v, rendered := said.Get(k.AnsibleName())
		if !rendered && (k.Stage == plan.AtGuard || k.Stage == plan.AtResult || k.Stage == plan.AtLoad) {
			v = k.Given(s)
		}
		switch text, isText := value.Text(value.OrNone(v)); {
		case v == nil && k.Many != nil:
			v = value.NewList()
		case v == nil || isText && text == "":
			v = value.None{}
		}
		d.Set(k.AnsibleName(), v)
	}
	d.Set("check_mode", value.Bool(c.Check))
	d.Set("diff", value.Bool(c.Diff))
	d.Set("no_log", value.Bool(c.NoLog))
	tags, collections := value.NewList(), value.NewList()
	for _, t := range s.Tags {
		tags.Items = append(tags.Items, value.Str(t))
	}
	for _, c := range p.plugin.Collections {
		collections.Items = append(collections.Items, value.Str(c))
	}
	defaults := value.NewList()
	for _, of := range p.plugin.Defaults {
		defaults.Items = append(defaults.Items, of.Dict)
	}
	d.Set("module_defaults", defaults)
	d.Set("tags", tags)
	d.Set("collections", collections)
	d.Set("vars", orEmpty(s.Vars.Dict))
	return d
}

// context returns what plug-ins see of the way to the host.
func (p *acting) context(said, known *value.Dict) *value.Dict {
	d := value.NewDict()
	for _, name := range []string{"connection", "remote_user"} {
		v, _ := said.Get(name)
		d.Set(name, v)
	}
	d.Set("remote_addr", value.Str(p.ask.Name))
	if v, ok := known.Get("ansible_host"); ok && p.ask.Name == p.ask.Host {
		d.Set("remote_addr", v)
	}
	return d
}

func (p *acting) role() value.Value {
	r := p.b.role(p.step.Role)
	if r == nil {
		return value.None{}
	}
	d := value.NewDict()
	for name, text := range map[string]string{"name": r.Name, "path": r.Path, "collection": r.Collection} {
		d.Set(name, value.Str(text))
	}
	return d
}

// role returns a role of the plan or of a fragment, nil if there is none of the key.
func (b *batch) role(key string) *plan.Role {
	if r := b.Plan.Roles[key]; r != nil || key == "" {
		return r
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.fragments {
		if f.f != nil && f.f.Roles[key] != nil {
			return f.f.Roles[key]
		}
	}
	return nil
}
