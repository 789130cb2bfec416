package runner

import (
	"context"
	"errors"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// ground is what a host's steps stand on: its variables, the line to the controller, and what this session holds of
// the answers. It knows nothing of the way through the plan.
type ground struct {
	cfg   Config
	play  *plan.Play
	start wire.Start
	line  *line
	blobs *blobs
	late  *lateVars

	vars   *vars.Host
	shared *vars.Shared
	roles  map[string]*plan.Role
	// live: the inventory may change while the play runs, so groups and the host's own variables are asked for;
	// stale: a step that may have changed it has passed.
	live, stale bool
	// checked are the jobs that check mode has run inline.
	checked checkedJobs
	// held is what this session can answer by itself.
	held held
	// templates are the options of everything that is rendered in the session.
	templates templar.Options
	// looked are the layers of variables that were looked at for reserved names.
	looked map[*value.Dict]bool
	// hidden are the secrets that the session knows of; nil in a language that hides none.
	hidden *mask.Masker
	// protected are the variables that no host may set.
	protected vars.Protected
	// job is the job that the step in hand has started already, "" for none; see plan.Stand.
	job string
}

func newGround(cfg Config, p *plan.Plan, start wire.Start) *ground {
	g := &ground{
		looked: map[*value.Dict]bool{}, cfg: cfg, play: &p.Play, start: start, shared: vars.SharedOf(&p.Play), roles: map[string]*plan.Role{},
		held: held{own: cfg.Own, withheld: map[string]bool{}}, protected: vars.ProtectedIn(&p.Play, start.Reach),
		vars: &vars.Host{
			Name: start.Host, Inventory: start.Vars.Inventory.Dict, Magic: start.Vars.Magic.Dict,
			Facts: start.Vars.Facts.Dict, Include: start.Vars.Include.Dict, Set: start.Vars.Set.Dict,
			HashMerge: p.Play.HashMerge,
		},
	}
	g.line = &line{cfg: cfg, run: start.Run, play: p.Play.ID, host: start.Host, beyond: g.held.beyondHere}
	g.late = &lateVars{
		files: p.Play.VarsFiles, vars: g.vars, line: g.line, eval: func() *eval { return g.newEval(&plan.Step{}, "", nil) }, seen: map[int]string{},
	}
	g.blobs = &blobs{line: g.line, open: cfg.Open, inline: map[string][]byte{}, about: map[string]*value.Dict{}, packs: map[plan.ID]plan.File{}}
	g.held.withhold(p.Play.Withheld)
	g.held.withhold(start.Vars.Withheld)
	g.templates = g.options()
	if p.Play.Level.Has(dialect.SecretsRedacted) {
		if g.hidden = cfg.Hidden; g.hidden == nil {
			g.hidden = &mask.Masker{}
		}
	}
	return g
}

// newEval is for a step as it stands now; local are variables on top of all others.
func (g *ground) newEval(s *plan.Step, id plan.ID, local *value.Dict) *eval {
	e := &eval{g: g, s: s, id: id, notices: &notices{hidden: g.hidden}}
	e.far = &far{e: e}
	layers := vars.StepOf(g.roles, s)
	layers.Local = local
	e.scope = vars.NewScope(g.vars, g.shared, layers)
	e.scope.Lazy, e.scope.LazyNames = e.lazy, hostvars.Names
	e.tpl = templar.New(e.scope, e.options())
	return e
}

// address is the ansible_host of a host that the inventory gives none.
func (g *ground) address() string {
	if file, _ := g.vars.Magic.Get("inventory_file"); g.vars.Name == "localhost" && (file == nil || value.IsNone(file)) {
		return "127.0.0.1" // the implicit one
	}
	return g.vars.Name
}

// options are those of everything that is rendered in the session.
func (g *ground) options() templar.Options {
	o := templar.Options{Engine: g.engine(), BrokenConditions: g.play.BrokenConditions, Native: g.play.Native, Now: g.cfg.Now}
	o.Extensions(g.play.Extensions)
	o.Plugin = g.plugins("", nil)
	if p := g.play.Plugins; p != nil {
		o.Plugins = o.Engine.WithPlugins(p.Filters, p.Tests, p.More)
	}
	return o
}

// engine is that of the play's language.
func (g *ground) engine() *templar.Engine { return g.cfg.Engine.At(g.play.Level) }

// outside is the session as the world beyond the host is seen from it; lookup runs the lookups of what the host's own
// variables say there.
func (g *ground) outside(lookup templar.LookupFunc) hostvars.Session {
	o := g.templates
	o.Lookup = lookup
	return hostvars.Session{
		Host: g.start.Host, Vars: g.vars, Shared: g.shared, Live: g.live, Templates: o, Reach: g.start.Reach, Ask: g.line.ask,
	}
}

// apply changes the variables as an outcome's effects say.
func (g *ground) apply(effects []wire.Effect) {
	for _, e := range effects {
		if e.Host == "" || e.Host == g.start.Host {
			g.vars.Apply(vars.Layer(e.Layer), e.Vars.Dict, e.Clear)
		}
	}
}

// know takes in variables that the controller has sent anew, or that were withheld before.
func (g *ground) know(did *wire.Did) {
	if v := did.Vars; v != nil {
		g.vars.Inventory, g.vars.Magic = v.Inventory.Dict, v.Magic.Dict
		g.vars.Facts, g.vars.Include, g.vars.Set = v.Facts.Dict, v.Include.Dict, v.Set.Dict
		g.held.withhold(v.Withheld)
	}
	if did.Late != nil {
		late := map[int]*value.Dict{}
		for i, d := range did.Late {
			late[i] = d.Dict
		}
		g.vars.Late = late
	}
	if did.More != nil {
		g.grow(did.More)
	}
}

// grow adds variables that were withheld. Layers are replaced, never changed: scopes of the step in hand keep theirs.
func (g *ground) grow(m *wire.More) {
	add := func(to **value.Dict, d plan.Dict) {
		if d.Len() > 0 {
			*to = vars.Combine(d.Dict, *to, false)
		}
	}
	sh := *g.shared
	add(&sh.RoleDefaults, m.Play.RoleDefaults)
	add(&sh.Vars, m.Play.Vars)
	add(&sh.RoleVars, m.Play.RoleVars)
	add(&sh.Extra, m.Play.Extra)
	add(&sh.Magic, m.Play.Magic)
	if len(m.Play.VarsFiles) == len(sh.VarsFiles) {
		sh.VarsFiles = append([]plan.VarsFile(nil), sh.VarsFiles...)
		for i := range sh.VarsFiles {
			add(&sh.VarsFiles[i].Vars.Dict, m.Play.VarsFiles[i].Vars)
		}
	}
	g.shared = &sh
	for key, more := range m.Roles {
		if role := g.roles[key]; role != nil {
			grown := *role
			add(&grown.Defaults.Dict, more.Defaults)
			add(&grown.Vars.Dict, more.Vars)
			add(&grown.Params.Dict, more.Params)
			g.roles[key] = &grown
		}
	}
	add(&g.vars.Inventory, m.Vars.Inventory)
	add(&g.vars.Facts, m.Vars.Facts)
	add(&g.vars.Include, m.Vars.Include)
	add(&g.vars.Set, m.Vars.Set)
	clear(g.held.withheld)
	g.held.withhold(m.Withheld)
}

// refresh asks for the host's own variables after something else than its own steps may have changed them.
func (g *ground) refresh(ctx context.Context) error {
	if err := g.lateVarsFiles(ctx); err != nil || !g.stale {
		return err
	}
	return g.renew(ctx)
}

// renew asks for the host's own variables, as they stand after what it has told.
func (g *ground) renew(ctx context.Context) error {
	g.stale = false
	a, err := g.line.ask(ctx, wire.Ask{Kind: wire.AskOwn})
	if err != nil {
		return err
	}
	if a.Err != "" {
		return errors.New(a.Err)
	}
	if a.Did != nil {
		g.know(a.Did)
	}
	return nil
}

// lateVarsFiles reads the vars_files whose names hold templates, where these have changed. A session on its host has
// the controller do it.
func (g *ground) lateVarsFiles(ctx context.Context) error {
	if g.cfg.Own {
		return g.late.read(ctx)
	}
	changed := g.late.changed(ctx)
	g.held.fresh()
	if !changed {
		return nil
	}
	return g.renew(ctx)
}

// changesInventory reports whether a step may change groups and the variables that hosts have of them.
func (g *ground) changesInventory(s *plan.Step) bool {
	if s.Kind == plan.Meta {
		return metaAction(s) == "refresh_inventory"
	}
	return g.cfg.Modules.Has(s.Action, modules.ChangesInventory)
}
