package cli

import (
	"context"
	"time"

	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/factcache"
	"hark/controller/internal/play"
	"hark/modules/py/value"
	"hark/playbook/inventory"
)

// recentFacts returns what was last gathered of the host of an agent, nil if there is nothing or it is too old to go
// by.
func (p *run) recentFacts(agent string) *value.Dict {
	facts, at, ok := factcache.In(p.fleet.Home).Load(agent)
	if !ok || time.Since(at).Seconds() > p.cfg.Float("HARK_FACTS_AGE") {
		return nil
	}
	return facts
}

// recording keeps the facts of hosts beside what the settings' cache does.
type recording struct {
	play.FactCache // of the settings; may be nil
	book           *factcache.Cache
	agentOf        func(host string) string
	// gathered is called with whole facts that are new, by the agents' names.
	gathered func(agent string)
}

// recorded returns the cache of a run.
func (p *run) recorded(cache play.FactCache) play.FactCache {
	if none, _ := p.noAgents(); none {
		return cache
	}
	return &recording{cache, factcache.In(p.fleet.Home), p.agentOf, p.far.gathered}
}

// agentOf returns the name of the agent of a host.
func (p *run) agentOf(host string) string {
	h := p.Inventory.Host(host)
	if h == nil {
		return host
	}
	vars, err := p.Inventory.Vars(h)
	if err != nil {
		return host
	}
	return inventory.AgentOf(h, vars)
}

// Load implements play.FactCache.
func (r *recording) Load(host string) (*value.Dict, bool) {
	if r.FactCache == nil {
		return nil, false
	}
	return r.FactCache.Load(host)
}

// Store implements play.FactCache.
func (r *recording) Store(host string, facts *value.Dict) error {
	agent := r.agentOf(host)
	news, err := r.book.Merge(agent, facts, time.Now())
	if err != nil {
		return err
	}
	if news && inventory.WholeFacts(facts) {
		r.gathered(agent)
	}
	if r.FactCache == nil {
		return nil
	}
	return r.FactCache.Store(host, facts)
}

// Forget implements play.FactCache.
func (r *recording) Forget(host string) error {
	if r.FactCache == nil {
		return nil
	}
	return r.FactCache.Forget(host)
}

// factsOf returns the facts of a fleet, as this operator reads and writes them.
func factsOf(b *fleet.Connection, home string) (*factcache.Fleet, error) {
	readers, err := b.Readers(home)
	if err != nil {
		return nil, err
	}
	return factcache.New(factcache.Config{Conn: b.Conn(), Self: b.Operator, Readers: readers, Believes: b.Believes})
}

// syncFacts fetches what other operators have gathered. Without it this operator's own facts count.
func syncFacts(ctx context.Context, p *run, b *fleet.Connection) {
	agents, err := b.Roster.All(ctx)
	names := map[string]string{}
	for _, a := range agents {
		names[a.ID] = a.Name
	}
	var shared *factcache.Fleet
	if err == nil {
		shared, err = factsOf(b, p.fleet.Home)
	}
	var warnings []string
	if err == nil {
		warnings, err = shared.Sync(ctx, factcache.In(p.fleet.Home), func(id string) (string, bool) {
			name, ok := names[id]
			return name, ok
		})
	}
	if err != nil {
		p.display.Warn("facts that others have gathered are not known: " + err.Error())
	}
	for _, text := range warnings {
		p.display.Verbose(1, "", text)
	}
}

// fleetFacts is syncFacts over a connection of its own, where there is a broker.
func (p *run) fleetFacts(ctx context.Context) {
	if none, _ := p.noAgents(); none {
		return
	}
	b, err := p.fleet.DialPatiently(ctx, p.o.Broker)
	if err != nil {
		p.display.Warn("facts that others have gathered are not known: " + err.Error())
		return
	}
	defer b.Close()
	syncFacts(ctx, p, b)
}

// agentHosts returns the agents as the inventory plug-in hark sees them.
func (p *run) agentHosts(ctx context.Context) ([]inventory.Agent, error) {
	b, err := p.fleet.DialPatiently(ctx, p.o.Broker)
	if err != nil {
		p.noFleet = err
		return nil, err
	}
	defer b.Close()
	agents, err := b.Agents(ctx)
	if err != nil {
		p.noFleet = err
		return nil, err
	}
	syncFacts(ctx, p, b)
	book := factcache.In(p.fleet.Home)
	var out []inventory.Agent
	for _, a := range agents {
		vars := value.NewDict()
		vars.Set("hark_version", value.UnsafeStr(a.Version))
		vars.Set("hark_os", value.UnsafeStr(a.OS))
		vars.Set("hark_arch", value.UnsafeStr(a.Arch))
		vars.Set("hark_present", value.Bool(a.Present))
		facts, at, ok := book.Load(a.Name)
		if ok {
			vars.Set("hark_facts_at", value.Str(at.UTC().Format(time.RFC3339)))
		}
		out = append(out, inventory.Agent{Name: a.Name, Present: a.Present, Vars: vars, Facts: facts})
	}
	return out, nil
}

// shareFacts puts what a run has gathered to the broker, for as long as ctx allows.
func shareFacts(ctx context.Context, b *fleet.Connection, home string, gathered map[string]bool) error {
	agents, err := b.Roster.All(ctx)
	if err != nil {
		return err
	}
	hosts := map[string]string{}
	for _, a := range agents {
		if gathered[a.Name] {
			hosts[a.ID] = a.Name
		}
	}
	if len(hosts) == 0 { // they were reached without agents
		return nil
	}
	shared, err := factsOf(b, home)
	if err != nil {
		return err
	}
	return shared.Put(ctx, factcache.In(home), hosts)
}
