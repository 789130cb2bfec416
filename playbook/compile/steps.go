package compile

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// compiler makes the blocks of a plan or of a fragment.
type compiler struct {
	play *Play
	unit *Unit
	// prefix is the ID above the steps, "" for those of a plan; next is the last number given.
	prefix plan.ID
	next   int
	// keepAll keeps every task whatever its tags: handlers.
	keepAll bool
	// observed says that a host may still be at a step that looks at other hosts when another one comes to the next.
	observed bool
	// ending says that a step may have ended the play for a host that has not heard of it.
	ending bool
	errs   []error
}

// Compile makes the plan of a play for a batch of its hosts. An error is for the user, and ends the run.
func (p *Project) Compile(ctx context.Context, play *Play, b Batch) (*Unit, error) {
	if b.Settings == nil {
		s, err := p.Settings(ctx, play, b.World)
		if err != nil {
			return nil, err
		}
		b.Settings = s
	}
	switch b.Settings.Strategy {
	case "linear", "free", "host_pinned", "debug":
	default:
		return nil, noStrategy(play, b.Settings.Strategy)
	}
	bp := play.batch(b)
	missing, err := bp.readVarsFiles()
	if err := syntax.Join(err, missing); err != nil {
		return nil, err
	}
	bp.warnReserved(ctx)
	u := &Unit{
		play: bp, includes: map[plan.ID]*task{}, roleKeys: map[string]string{}, handlers: map[*object]bool{},
		surveys: map[*plan.Step]*survey{}, steering: map[*value.Dict][]string{},
		readings: readings{texts: map[string]templar.Reading{}},
	}
	pl := &plan.Plan{Version: plan.VersionOf(bp.project.cfg.Level), Play: bp.planPlay(), Roles: map[string]*plan.Role{}}
	u.Plan, u.roles = pl, pl.Roles
	c := &compiler{play: bp, unit: u}
	sections := bp.sections()
	u.reach = bp.reachOf(sections)
	if b.GatherFacts {
		pl.Blocks = c.blocks([]*block{bp.gathering()})
	}
	if spec := b.Settings.ArgSpec; spec != nil {
		pl.Blocks = append(pl.Blocks, c.blocks([]*block{bp.validating(spec)})...)
	}
	for _, list := range sections {
		pl.Blocks = append(pl.Blocks, c.blocks(list)...)
	}
	u.observes = c.everObserved(pl.Blocks)
	pl.Handlers = u.handlerSteps(bp.allHandlers(), &c.errs)
	u.findStart(b.StartAt)
	return u, syntax.Join(c.errs...)
}

// batch returns a copy of the play for one batch: what dynamic includes add to it stays with the batch.
func (p *Play) batch(b Batch) *Play {
	bp := *p
	bp.world, bp.hosts, bp.name = b.World, b, b.Settings.Name
	bp.roles = slices.Clone(p.roles)
	bp.roleCache = maps.Clone(p.roleCache)
	bp.importedHandlers = slices.Clone(p.importedHandlers)
	return &bp
}

// planPlay returns what all steps share.
func (p *Play) planPlay() plan.Play {
	s, cfg := p.hosts.Settings, &p.project.cfg
	sh := p.shared()
	pp := plan.Play{
		Name: keptName(p), ID: p.hosts.ID, Strategy: s.Strategy, ForceHandlers: s.ForceHandlers,
		Check: cfg.Options.Check, Diff: cfg.Options.Diff, Verbosity: cfg.Options.Verbosity,
		Invocation: cfg.Invocation, Brief: cfg.Brief, Interpreter: cfg.Interpreter,
		ForModules:   plan.Dict{Dict: cfg.ForModules},
		RoleDefaults: plan.Dict{Dict: sh.RoleDefaults}, Vars: plan.Dict{Dict: sh.Vars}, VarsFiles: sh.VarsFiles,
		RoleVars: plan.Dict{Dict: sh.RoleVars}, Extra: plan.Dict{Dict: sh.Extra},
		// Those that change while the play runs are asked for.
		Magic: plan.Dict{Dict: without(sh.Magic, "ansible_play_hosts", "ansible_play_batch", "play_hosts")},
		Zone:  cfg.Zone, AnyText: cfg.AnyText,
		HashMerge: cfg.HashMerge, Level: cfg.Level, BrokenConditions: cfg.BrokenConditions, Native: cfg.Native,
		Extensions: cfg.Extensions, Plugins: p.project.plugins(),
		Connections: p.project.own("connection"), Becomes: p.project.own("become"), InjectFacts: cfg.InjectFacts,
		Outgoing: cfg.Outgoing,
		Debugger: cfg.Debugger || s.Strategy == "debug", DebugIgnored: cfg.DebugIgnored,
		IgnoreMissingHandlers: cfg.IgnoreMissingHandlers,
	}
	fatal := s.AnyErrorsFatal || templar.IsTemplate(value.OrNone(p.own("any_errors_fatal"))) || s.MaxFail != nil
	pp.Gated = len(p.hosts.Batch) > 1 || p.hosts.Force
	pp.AllGated = fatal && !pp.Free() || p.hosts.Force
	return pp
}

// keptName returns the play's name for logs of hosts. Where secrets are hidden it is the playbook's, with its
// templates.
func keptName(p *Play) string {
	s, written := p.hosts.Settings, value.OrNone(p.own("name"))
	name, isText := value.Text(written)
	switch {
	case !p.project.cfg.Level.Has(dialect.SecretsRedacted) || !isText || name == "":
		return s.Name
	case isSealed(written):
		return strings.Join(s.Hosts, ",")
	}
	return name
}

// isSealed reports whether a value of a playbook is a vault string.
func isSealed(v value.Value) bool {
	_, ok := v.(*value.Vault)
	return ok
}

// sections returns the play's blocks: pre_tasks, roles and tasks, post_tasks, each followed by a flush. With
// force_handlers the flush is an always section.
func (p *Play) sections() [][]*block {
	var main []*block
	for _, r := range p.roles {
		if !r.included {
			main = append(main, r.compile(nil)...)
		}
	}
	main = append(main, p.tasks...)
	if !p.hosts.Settings.ForceHandlers {
		return [][]*block{p.pre, {p.flush()}, main, {p.flush()}, p.post, {p.flush()}}
	}
	var out [][]*block
	for _, list := range [][]*block{p.pre, main, p.post} {
		section := &block{o: p.top(), body: itemsOf(list, false), always: []item{{block: p.flush()}}}
		if len(list) == 0 {
			section.body = []item{{task: p.meta("noop")}}
		}
		out = append(out, []*block{section})
	}
	return out
}

func (p *Play) top() *object {
	return &object{play: p, attrs: syntax.Attrs{}, place: p.self.place, collections: p.self.collections}
}

func (p *Play) flush() *block {
	return &block{o: p.top(), body: []item{{task: p.meta("flush_handlers")}}}
}

// meta returns an implicit meta task.
func (p *Play) meta(action string) *task {
	o := p.top()
	o.isTask, o.parent = true, p.top()
	args := value.NewDict()
	args.Set("_raw_params", value.Str(action))
	return &task{
		o: o, implicit: true, action: plan.MetaAction,
		src: &syntax.Task{Action: "meta", Args: args, Attrs: syntax.Attrs{}},
	}
}

// gathering returns the implicit task that gathers facts.
func (p *Play) gathering() *block {
	b := &block{o: p.top()}
	b.o.attrs = syntax.Attrs{"run_once": {Value: value.Bool(false)}}
	o := p.top()
	o.isTask, o.parent, o.when = true, b.o, p.conditional
	if len(p.self.tags) == 0 {
		o.tags = []value.Value{value.Str("always")}
	}
	action := modules.GatherFacts
	if _, ok := p.project.cfg.Modules.Get(action); !ok {
		action = modules.Setup
	}
	args := value.NewDict()
	for _, name := range []string{"gather_subset", "gather_timeout", "fact_path"} {
		v := p.own(name)
		if v == nil {
			v, _ = p.project.cfg.Keywords.Get(name)
		}
		if v != nil && !value.IsNone(v) {
			args.Set(name, v)
		}
	}
	src := &syntax.Task{Name: "Gathering Facts", Action: "gather_facts", Args: args, Attrs: syntax.Attrs{}}
	b.body = []item{{task: &task{o: o, src: src, action: action, implicit: true}}}
	return b
}

// allHandlers returns the handlers in the order in which they run: of the play's roles, of the play, of roles that
// tasks import.
func (p *Play) allHandlers() []*block {
	var out []*block
	for _, r := range p.roles {
		if !r.included {
			out = append(out, r.handlerBlocks(nil)...)
		}
	}
	return append(append(out, p.handlers...), p.importedHandlers...)
}

func (c *compiler) id() plan.ID {
	c.next++
	return c.prefix.Under(c.next)
}

// blocks emits blocks, without those that the tags leave empty.
func (c *compiler) blocks(list []*block) []plan.Block {
	var out []plan.Block
	for _, b := range list {
		if pb, ok := c.block(b); ok {
			out = append(out, pb)
		}
	}
	return out
}

func (c *compiler) block(b *block) (plan.Block, bool) {
	pb := plan.Block{ID: c.id(), Name: b.name}
	first := c.next
	if b.roleEnd {
		pb.RoleEnd = c.unit.roleKey(b.o.role, b.o.chain())
		return pb, true
	}
	before := c.observed
	pb.Body = c.nodes(b.body)
	// A host may enter rescue and always from any step of the body.
	inside := before || c.everObserved([]plan.Block{{Body: pb.Body}})
	after := c.observed
	if len(b.rescue) > 0 {
		c.observed, c.ending = inside, true
		pb.Rescue = c.nodes(b.rescue)
		inside = inside || c.everObserved([]plan.Block{{Body: pb.Rescue}})
		after = after || inside
	}
	if len(b.always) > 0 {
		c.observed, c.ending = inside, true
		pb.Always = c.nodes(b.always)
		after = c.observed
	}
	c.observed = after
	if len(pb.Body)+len(pb.Rescue)+len(pb.Always) == 0 {
		c.next = first - 1
		return plan.Block{}, false
	}
	return pb, true
}

func (c *compiler) nodes(list []item) []plan.Node {
	var out []plan.Node
	for _, it := range list {
		if it.block != nil {
			if pb, ok := c.block(it.block); ok {
				out = append(out, plan.Node{Block: &pb})
			}
			continue
		}
		run, tags, err := c.play.selected(it.task)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		if run || c.keepAll {
			out = append(out, plan.Node{Step: c.step(it.task, c.id(), tags)})
		}
	}
	return out
}

// handlerSteps numbers handlers and makes their steps; it leaves out those already emitted.
func (u *Unit) handlerSteps(blocks []*block, errs *[]error) []plan.Handler {
	var out []plan.Handler
	c := &compiler{play: u.play, unit: u, observed: u.observes}
	for _, b := range blocks {
		if u.handlers[b.o] {
			continue
		}
		u.handlers[b.o] = true
		u.groups++
		for _, it := range b.body {
			if it.task == nil {
				continue
			}
			u.handlerCount++
			tags, _, err := u.play.tagNames(it.task.o)
			if err != nil {
				*errs = append(*errs, err)
			}
			id := plan.ID("0." + strconv.Itoa(u.handlerCount))
			c.observed = u.observes
			step := c.step(it.task, id, tags)
			step.Handler = true
			out = append(out, plan.Handler{Step: step, Group: u.groups, Listen: it.task.src.Listen})
		}
	}
	return out
}

// roleKey returns a short key of a role with a chain, unique in a plan and its fragments.
func (u *Unit) roleKey(r *role, chain []*role) string {
	id := r.identity
	for _, parent := range chain {
		id += "\x01" + parent.identity
	}
	if u.roleKeys[id] == "" {
		u.roleKeys[id] = r.fullName() + "#" + strconv.Itoa(len(u.roleKeys))
	}
	key := u.roleKeys[id]
	if u.roles[key] == nil {
		u.roles[key] = r.plan(chain, u.play.project.cfg.HashMerge)
	}
	return key
}
