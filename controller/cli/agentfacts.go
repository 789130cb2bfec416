package cli

import (
	"context"
	"path/filepath"
	"time"

	"hark/controller/internal/play"
	"hark/modules/py/value"
	"hark/playbook/inventory"
)

// factsRecord is where facts of agents are kept from run to run, for patterns and inventories. Plays do not read them: for
// that there is the fact cache of the settings.
func factsRecord(a *app) *play.JSONFiles {
	return &play.JSONFiles{Dir: filepath.Join(a.fleet.Home, "facts"), Loose: true, Now: time.Now}
}

// cachedFacts are the facts that were last gathered from a host, nil if there are none.
func (p *run) cachedFacts(host string) *value.Dict {
	facts, ok := factsRecord(p.app).Load(host)
	if !ok {
		return nil
	}
	return facts
}

// recording keeps the facts of agents beside what the settings' cache does.
type recording struct {
	play.FactCache // of the settings; may be nil
	record         *play.JSONFiles
}

// recorded is the cache of a run.
func (p *run) recorded(cache play.FactCache) play.FactCache {
	if none, _ := p.noAgents(); none {
		return cache
	}
	return &recording{cache, factsRecord(p.app)}
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
	if merged, news := r.merged(host, facts); news {
		if err := r.record.Store(host, merged); err != nil {
			return err
		}
	}
	if r.FactCache == nil {
		return nil
	}
	return r.FactCache.Store(host, facts)
}

// merged are a run's facts over those on record: a run may have gathered some of them only, or none. news tells whether the record
// did not have them so.
func (r *recording) merged(host string, facts *value.Dict) (merged *value.Dict, news bool) {
	had, ok := r.record.Load(host)
	if !ok || inventory.WholeFacts(facts) {
		return facts, true
	}
	if facts != nil {
		facts.Each(func(k, v value.Value) bool {
			if old, ok := had.GetKey(k); !ok || !value.Same(old, v) {
				had.SetKey(k, v)
				news = true
			}
			return true
		})
	}
	return had, news
}

// Forget implements play.FactCache.
func (r *recording) Forget(host string) error {
	if r.FactCache == nil {
		return nil
	}
	return r.FactCache.Forget(host)
}

// agentHosts are the agents as the inventory plug-in hark sees them.
func (p *run) agentHosts(ctx context.Context) ([]inventory.Agent, error) {
	b, err := p.fleet.DialPatiently(ctx, p.o.Broker)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	agents, err := b.Agents(ctx)
	if err != nil {
		return nil, err
	}
	var out []inventory.Agent
	for _, a := range agents {
		vars := value.NewDict()
		vars.Set("hark_version", value.UnsafeStr(a.Version))
		vars.Set("hark_os", value.UnsafeStr(a.OS))
		vars.Set("hark_arch", value.UnsafeStr(a.Arch))
		vars.Set("hark_present", value.Bool(a.Present))
		out = append(out, inventory.Agent{Name: a.Name, Present: a.Present, Vars: vars, Facts: p.cachedFacts(a.Name)})
	}
	return out, nil
}
