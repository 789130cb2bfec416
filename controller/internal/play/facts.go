package play

import (
	"slices"

	"hark/controller/internal/play/admit"
	"hark/controller/internal/play/answer"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/inventory"
)

// factKeeper carries facts between the cache of earlier runs and the mirror of this one. It belongs to the goroutine
// of Run, but for what it hears from the mirror.
type factKeeper struct {
	cache     FactCache
	mirror    *answer.Mirror
	admission *admit.Admission
	known     func() []*inventory.Host // those of the inventory
	loaded    map[string]bool
	dirty     map[string]bool
}

func newFactKeeper(c FactCache, m *answer.Mirror, admission *admit.Admission,
	known func() []*inventory.Host) *factKeeper {
	return &factKeeper{cache: c, mirror: m, admission: admission, known: known, loaded: map[string]bool{},
		dirty: map[string]bool{}}
}

// load brings the cached facts of the hosts of a batch into the mirror, and those of the inventory, of which hostvars
// tells: once for each.
func (k *factKeeper) load(batch []string) {
	if k.cache == nil {
		return
	}
	hosts := slices.Clone(batch)
	for _, h := range k.known() {
		hosts = append(hosts, h.Name)
	}
	for _, h := range hosts {
		if k.loaded[h] {
			continue
		}
		k.loaded[h] = true
		if facts, ok := k.cache.Load(h); ok && k.mirror.Facts(h) == nil {
			k.mirror.SetFacts(h, k.admission.Cached(h, facts))
		}
	}
}

// gathered reports whether a host's facts are known, so that gathering=smart leaves it alone.
func (k *factKeeper) gathered(host string) bool {
	v, ok := k.mirror.Facts(host).Get(result.Gathered)
	b, isBool := v.(value.Bool)
	return ok && (!isBool || bool(b))
}

// changed notes that a host's facts are to be stored.
func (k *factKeeper) changed(host string) {
	if k.cache != nil {
		k.dirty[host] = true
	}
}

// store writes what has changed.
func (k *factKeeper) store(warn func(string)) {
	for h := range k.dirty {
		if err := k.cache.Store(h, k.mirror.Facts(h)); err != nil {
			warn("cannot keep the facts of " + h + ": " + err.Error())
		}
		delete(k.dirty, h)
	}
}

// forget drops the facts of a host: meta clear_facts.
func (k *factKeeper) forget(host string, warn func(string)) {
	k.mirror.SetFacts(host, admit.Facts{})
	delete(k.dirty, host)
	if k.cache == nil {
		return
	}
	k.loaded[host] = true
	if err := k.cache.Forget(host); err != nil {
		warn("cannot forget the facts of " + host + ": " + err.Error())
	}
}

// flush empties the cache for all hosts: --flush-cache.
func (k *factKeeper) flush(hosts []*inventory.Host, warn func(string)) {
	for _, h := range hosts {
		k.forget(h.Name, warn)
	}
}
