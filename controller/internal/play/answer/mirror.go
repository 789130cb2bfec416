package answer

import (
	"context"
	"maps"
	"slices"
	"sync"

	"hark/agent/wire"
	"hark/controller/internal/play/admit"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Hosts is what the mirror needs of the inventory. It is called with the mirror's lock held.
type Hosts interface {
	// Vars are a host's variables, merged by precedence and raw; false if there is no such host. The
	// implicit localhost is a host.
	Vars(host string) (*value.Dict, bool)
	// Magic are inventory_hostname, group_names and the like.
	Magic(host string) *value.Dict
	// Groups is the magic variable groups.
	Groups() *value.Dict
}

// Mirror holds the variables of all hosts of a run, as the sessions of their agents have them: what the
// inventory says, and what results have changed since. It is safe for concurrent use.
type Mirror struct {
	// Templates are how hostvars renders the variables of other hosts. Set it before the mirror is used.
	Templates templar.Options

	inventory Hosts
	hashMerge bool

	mu    sync.Mutex
	hosts map[string]*vars.Host // guarded by mu
}

// NewMirror mirrors the hosts of an inventory.
func NewMirror(inventory Hosts, hashMerge bool) *Mirror {
	return &Mirror{inventory: inventory, hashMerge: hashMerge, hosts: map[string]*vars.Host{}}
}

// host returns the mirror of a host, made when it is first needed. Callers hold mu.
func (m *Mirror) host(name string) *vars.Host {
	h := m.hosts[name]
	if h == nil {
		h = &vars.Host{Name: name, HashMerge: m.hashMerge}
		h.Inventory, _ = m.inventory.Vars(name)
		h.Magic = m.inventory.Magic(name)
		m.hosts[name] = h
	}
	return h
}

// Apply takes over what a step of a host has changed. Effects may be for another host.
func (m *Mirror) Apply(host string, effects admit.Effects) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range effects.List() {
		whose := host
		if e.Host != "" {
			whose = e.Host
		}
		m.host(whose).Apply(vars.Layer(e.Layer), e.Vars.Dict, e.Clear)
	}
}

// SetFacts replaces a host's facts, as a cache of an earlier run has them.
func (m *Mirror) SetFacts(host string, facts admit.Facts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.host(host).Facts = facts.Dict()
}

// Facts returns a host's facts, nil if there are none.
func (m *Mirror) Facts(host string) *value.Dict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.host(host).Facts
}

// Hosts returns the hosts whose variables were asked for or changed.
func (m *Mirror) Hosts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.hosts))
}

// Restore gives a host the variables that an earlier run had admitted; those of the inventory stay.
func (m *Mirror) Restore(host string, v wire.HostVars) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.host(host)
	h.Facts, h.Include, h.Set = v.Facts.Dict, v.Include.Dict, v.Set.Dict
}

// Refresh reads the inventory's variables again for all hosts: it has changed.
func (m *Mirror) Refresh() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, h := range m.hosts {
		h.Inventory, _ = m.inventory.Vars(name)
		h.Magic = m.inventory.Magic(name)
	}
}

// Start returns the layers that a host's session begins a play with.
func (m *Mirror) Start(host string) wire.HostVars {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.host(host)
	return wire.HostVars{
		Inventory: plan.Dict{Dict: h.Inventory}, Facts: plan.Dict{Dict: h.Facts}, Include: plan.Dict{Dict: h.Include},
		Set: plan.Dict{Dict: h.Set}, Magic: plan.Dict{Dict: h.Magic},
	}
}

// Scope returns a host's variables under the layers of a play; shared may be nil.
func (m *Mirror) Scope(host string, shared *vars.Shared) *vars.Scope {
	return m.StepScope(host, shared, vars.Step{})
}

// StepScope is Scope with what a step adds.
func (m *Mirror) StepScope(host string, shared *vars.Shared, step vars.Step) *vars.Scope {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := vars.NewScope(m.host(host), shared, step)
	s.Lazy, s.LazyNames = m.lazy(shared), []string{"groups", "hostvars"}
	return s
}

// Known reports whether the inventory has the host.
func (m *Mirror) Known(host string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.inventory.Vars(host)
	return ok
}

// Groups returns the magic variable groups.
func (m *Mirror) Groups() *value.Dict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inventory.Groups()
}

// Lazy answers groups and hostvars for templates that the controller renders.
func (m *Mirror) Lazy(ctx context.Context, name string) (value.Value, bool, error) {
	return m.lazy(nil)(ctx, name)
}

// Raw returns the different raw values that hosts have for a variable, in the inventory or from include_vars.
func (m *Mirror) Raw(name string, hosts []string) []value.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []value.Value
	seen := map[string]bool{}
	for _, host := range hosts {
		h := m.host(host)
		for _, d := range []*value.Dict{h.Inventory, h.Include} {
			v, ok := d.Get(name)
			if !ok {
				continue
			}
			if text, isText := value.Text(v); isText {
				if seen[text] {
					continue
				}
				seen[text] = true
			}
			out = append(out, v)
		}
	}
	return out
}

func (m *Mirror) lazy(shared *vars.Shared) func(context.Context, string) (value.Value, bool, error) {
	return func(ctx context.Context, name string) (value.Value, bool, error) {
		switch name {
		case "groups":
			return m.Groups(), true, nil
		case "hostvars":
			return &hostvars{m: m, ctx: ctx, shared: shared}, true, nil
		}
		return nil, false, nil
	}
}

// ViewOptions is how the variables of a host are rendered for those who look at them.
type ViewOptions struct {
	// Shared are the layers of the play that are seen; may be nil.
	Shared *vars.Shared
	// Hostvars reports whether the templates of the variables see hostvars, as those of the host's own tasks do. In
	// hostvars itself Ansible leaves it out.
	Hostvars bool
}

// seen returns the variables of a host as they are seen.
func (m *Mirror) seen(host string, by ViewOptions) *vars.Scope {
	s := m.Scope(host, by.Shared)
	if !by.Hostvars {
		s.AsHostvars(m.Templates.Omit())
	}
	return s
}

// All returns the variables of a host, rendered as far as that is possible.
func (m *Mirror) All(ctx context.Context, host string, by ViewOptions) *value.Dict {
	out := value.NewDict()
	scope := m.seen(host, by)
	for _, name := range m.names(ctx, host, by) {
		v, ok, err := m.rendered(ctx, scope, name)
		if err != nil {
			v, ok, _ = scope.Raw(ctx, name)
		}
		if ok {
			out.Set(name, plain(v))
		}
	}
	return out
}

// Rendered are some variables of a host. Where something is undefined in one the text of its template stays; another
// error ends it.
func (m *Mirror) Rendered(ctx context.Context, host string, names []string, by ViewOptions) (*value.Dict, error) {
	out := value.NewDict()
	scope := m.seen(host, by)
	for _, name := range names {
		v, ok, err := m.rendered(ctx, scope, name)
		if err != nil {
			return nil, err
		}
		if ok {
			out.Set(name, plain(v))
		}
	}
	return out, nil
}

// rendered returns one variable. In the tagged language there is none where it cannot be rendered, and never the text
// of a template.
func (m *Mirror) rendered(ctx context.Context, scope *vars.Scope, name string) (value.Value, bool, error) {
	raw, ok, err := scope.Raw(ctx, name)
	if err != nil || !ok {
		return nil, false, nil
	}
	v, err := templar.New(scope, m.Templates).Template(ctx, raw)
	switch {
	case err == nil:
		return v, true, nil
	case m.Templates.Has(dialect.HostvarsLazy):
		return nil, false, nil
	case templar.IsUndefined(err):
		return raw, true, nil
	}
	return nil, false, err
}

// variable returns one variable of a host as hostvars shows it. In the tagged language one that cannot be rendered is
// undefined.
func (m *Mirror) variable(ctx context.Context, host, name string, by ViewOptions) (value.Value, bool, error) {
	if !m.Templates.Has(dialect.HostvarsLazy) {
		d, err := m.Rendered(ctx, host, []string{name}, by)
		v, ok := d.Get(name)
		return v, ok, err
	}
	scope := m.seen(host, by)
	raw, ok, err := scope.Raw(ctx, name)
	if err != nil || !ok {
		return nil, false, err
	}
	v, err := templar.New(scope, m.Templates).Template(ctx, raw)
	if err != nil {
		return templar.Undefined(err), true, nil
	}
	return v, true, nil
}

// names returns those of all variables of a host that are shown.
func (m *Mirror) names(ctx context.Context, host string, by ViewOptions) []string {
	return slices.DeleteFunc(m.seen(host, by).Names(ctx),
		func(n string) bool { return by.Hostvars && (n == "vars" || n == "hostvars") })
}

// Entry returns one entry of a variable of a host, as Rendered has it; all of a variable that is no mapping.
func (m *Mirror) Entry(ctx context.Context, host, name, entry string, by ViewOptions) (*value.Dict, error) {
	scope := m.seen(host, by)
	raw, _, err := scope.Raw(ctx, name)
	d, isDict := raw.(*value.Dict)
	if err != nil || !isDict {
		return m.Rendered(ctx, host, []string{name}, by)
	}
	part := value.NewDict()
	if v, ok := d.Get(entry); ok {
		part.Set(entry, v)
	}
	out := value.NewDict()
	v, err := templar.New(scope, m.Templates).Template(ctx, part)
	if err != nil {
		v = part
	}
	out.Set(name, plain(v))
	return out, nil
}

// plain makes text that a template left behind safe from being rendered again by whoever receives it.
func plain(v value.Value) value.Value {
	if templar.IsTemplate(v) {
		return value.Unsafe(v)
	}
	return v
}
