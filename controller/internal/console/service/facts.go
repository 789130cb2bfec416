package service

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"hark/controller/internal/fleet/factcache"
	"hark/modules/py/value"
)

// factsFresh is how often the console asks the broker for facts that others have gathered.
const factsFresh = 30 * time.Second

// facts are those of this machine, and those from the broker. The younger count.
type facts struct {
	local, fleet *factcache.Cache
	// sync updates the cache from the fleet's facts; nil without a broker.
	sync func(ctx context.Context, into *factcache.Cache) error
	log  func(error)

	mu     sync.Mutex
	synced time.Time // guarded by mu
}

// newFacts returns the facts beside the records of this machine, and those in the console's own directory.
func (c *Config) newFacts() *facts {
	return &facts{
		local: factcache.In(filepath.Dir(c.Records)), fleet: factcache.In(c.Dir),
		log: func(err error) { c.Log.Warn().AnErr("cause", err).Msg("facts of the fleet cannot be read") },
	}
}

// of returns the facts of a host and when they were gathered.
func (f *facts) of(ctx context.Context, host string) (*value.Dict, time.Time, bool) {
	f.freshen(ctx)
	here, at, ok := f.local.Load(host)
	there, then, found := f.fleet.Load(host)
	if found && (!ok || then.After(at)) {
		return there, then, true
	}
	return here, at, ok
}

// freshen asks the broker, now and then. It logs errors: pages show what there is.
func (f *facts) freshen(ctx context.Context) {
	if f.sync == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.synced) < factsFresh {
		return
	}
	f.synced = time.Now()
	if err := f.sync(ctx, f.fleet); err != nil {
		f.log(err)
	}
}
