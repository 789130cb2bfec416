package runner

import (
	"context"
	"errors"
	"time"

	"hark/agent/internal/hostvars"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/mask"
	"hark/modules/py/localtime"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// playState is what a host's steps share: its variables, the link to the controller, and what this session can answer.
// It knows nothing of the position in the plan.
type playState struct {
	cfg   Config
	play  *plan.Play
	start wire.Start
	line  *controllerLink
	blobs *blobs
	late  *lateVars

	vars   *vars.Host
	shared *vars.Shared
	roles  map[string]*plan.Role
	// live: the inventory may change while the play runs, so the session asks for groups and the host's own variables;
	// stale: a step that may have changed it has passed.
	live, stale bool
	// checked are the jobs that check mode has run inline.
	checked checkedJobs
	// held is what this session can answer by itself.
	held localAnswers
	// templates are the options for all rendering in the session.
	templates templar.Options
	// looked are the layers of variables that were checked for reserved names.
	looked map[*value.Dict]bool
	// hidden are the secrets that the session knows; nil at a level that hides none.
	hidden *mask.Masker
	// protected are the variables that no host may set.
	protected vars.Protected
	// zone is the controller's time zone, nil if it is not known.
	zone *time.Location
	// job is the job that the current step has started already, "" for none; see plan.Stand.
	job string
}

func newPlayState(cfg Config, p *plan.Plan, start wire.Start) *playState {
	g := &playState{
		looked: map[*value.Dict]bool{}, cfg: cfg, play: &p.Play, start: start, shared: vars.SharedOf(&p.Play),
		roles: map[string]*plan.Role{},
		held:  localAnswers{own: cfg.Own, withheld: map[string]bool{}}, protected: vars.ProtectedIn(&p.Play, start.Reach),
		vars: &vars.Host{
			Name: start.Host, Inventory: start.Vars.Inventory.Dict, Magic: start.Vars.Magic.Dict,
			Facts: start.Vars.Facts.Dict, Include: start.Vars.Include.Dict, Set: start.Vars.Set.Dict,
			HashMerge: p.Play.HashMerge,
		},
	}
	g.line = &controllerLink{cfg: cfg, run: start.Run, play: p.Play.ID, host: start.Host, beyond: g.held.beyondHere}
	g.late = &lateVars{
		files: p.Play.VarsFiles, vars: g.vars, line: g.line, eval: func() *eval { return g.newEval(&plan.Step{}, "", nil) },
		seen: map[int]string{},
	}
	g.blobs = &blobs{line: g.line, open: cfg.Open, inline: map[string][]byte{}, about: map[string]*value.Dict{},
		packs: map[plan.ID]plan.File{}}
	g.held.withhold(p.Play.Withheld)
	g.held.withhold(start.Vars.Withheld)
	if zone, err := localtime.Of(p.Play.Zone); err == nil {
		g.zone = zone
	}
	g.templates = g.options()
	if p.Play.Level.Has(dialect.SecretsRedacted) {
		if g.hidden = cfg.Hidden; g.hidden == nil {
			g.hidden = &mask.Masker{}
		}
	}
	return g
}

// newEval returns an eval for a step; local are variables on top of all others.
func (g *playState) newEval(s *plan.Step, id plan.ID, local *value.Dict) *eval {
	e := &eval{g: g, s: s, id: id, notices: &notices{hidden: g.hidden}}
	e.far = &far{e: e}
	layers := vars.StepOf(g.roles, s)
	layers.Local = local
	e.scope = vars.NewScope(g.vars, g.shared, layers)
	e.scope.Lazy, e.scope.LazyNames = e.lazy, hostvars.Names
	e.tpl = templar.New(e.scope, e.options())
	return e
}

// clock returns the time on the controller, where Ansible renders, and in its zone.
func (g *playState) clock() time.Time {
	if g.zone == nil {
		return g.cfg.Clock()
	}
	return g.cfg.Clock().In(g.zone)
}

// address returns the ansible_host of a host that the inventory gives none.
func (g *playState) address() string {
	if file, _ := g.vars.Magic.Get("inventory_file"); g.vars.Name == "localhost" && (file == nil || value.IsNone(file)) {
		return "127.0.0.1" // the implicit one
	}
	return g.vars.Name
}

// options returns the options for all rendering in the session.
func (g *playState) options() templar.Options {
	o := templar.Options{Engine: g.engine(), BrokenConditions: g.play.BrokenConditions, Native: g.play.Native,
		Now: g.clock}
	o.Extensions(g.play.Extensions)
	o.Plugin = g.plugins("", nil)
	if p := g.play.Plugins; p != nil {
		o.Plugins = o.Engine.WithPlugins(p.Filters, p.Tests, p.More)
	}
	return o
}

// engine returns the engine of the play's level.
func (g *playState) engine() *templar.Engine { return g.cfg.Engine.At(g.play.Level) }

// hostvarsSession returns the session for hostvars and the like; lookup runs the lookups in the host's own variables
// there.
func (g *playState) hostvarsSession(lookup templar.LookupFunc) hostvars.Session {
	o := g.templates
	o.Lookup = lookup
	return hostvars.Session{
		Host: g.start.Host, Vars: g.vars, Shared: g.shared, Live: g.live, Templates: o, Reach: g.start.Reach, Ask: g.line.ask,
	}
}

// apply changes the variables as an outcome's effects say.
func (g *playState) apply(effects []wire.Effect) {
	for _, e := range effects {
		if e.Host == "" || e.Host == g.start.Host {
			g.vars.Apply(vars.Layer(e.Layer), e.Vars.Dict, e.Clear)
		}
	}
}

// know applies variables that the controller has sent again, or that were withheld before.
func (g *playState) know(did *wire.Did) {
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

// grow adds variables that were withheld. It replaces layers and never changes them: scopes of the current step keep
// theirs.
func (g *playState) grow(m *wire.More) {
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

// refresh asks for the host's own variables after something other than its own steps may have changed them.
func (g *playState) refresh(ctx context.Context) error {
	if err := g.lateVarsFiles(ctx); err != nil || !g.stale {
		return err
	}
	return g.renew(ctx)
}

// renew asks for the host's own variables, after everything that it has reported.
func (g *playState) renew(ctx context.Context) error {
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

// lateVarsFiles reads the vars_files whose names hold templates, where their names have changed. A session on its host
// has the controller do it.
func (g *playState) lateVarsFiles(ctx context.Context) error {
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
func (g *playState) changesInventory(s *plan.Step) bool {
	if s.Kind == plan.Meta {
		return metaAction(s) == "refresh_inventory"
	}
	return g.cfg.Modules.Has(s.Action, modules.ChangesInventory)
}
