package cli

import (
	"context"
	"errors"
	"io"
	"sync"

	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/collect"
)

// met tells, of an implied broker that cannot be reached, which agents this operator has met; nil for a broker that
// was named: there any may be.
func (p *run) met() func(agent string) bool {
	if p.o.Broker != "" {
		return nil
	}
	known, err := trust.OpenKnown(p.fleet.Home, nil)
	return func(agent string) bool { return err != nil || known.Key(agent) != "" }
}

// farEnd is the connection to the broker of a run, which is made when the first host needs it. It lasts until the run
// is on record.
type farEnd struct {
	p     *run
	seats *collect.Seats

	mu sync.Mutex
	up *uplink // nil until it is there; guarded by mu
	// facts are the names of agents of whose hosts all facts were gathered; guarded by mu.
	facts map[string]bool
}

// dial implements link.Config.Dial. A broker that nobody named in this call may be one that was tried once and left:
// hosts are reached without it.
func (f *farEnd) dial(ctx context.Context) (link.Far, error) {
	b, err := f.p.fleet.DialPatiently(ctx, f.p.o.Broker)
	if err == nil {
		if err = b.MayCommand(); err != nil {
			err = errors.Join(err, b.Close())
		}
	}
	if err != nil {
		if f.p.o.Broker == "" && f.p.cfg.Bool("HARK_SSH") {
			f.p.display.Warn(err.Error() + ". Hosts whose agents are not on record here are reached over ssh")
		}
		return link.Far{}, err
	}
	f.mu.Lock()
	f.up = f.p.rise(b)
	f.mu.Unlock()
	return link.Far{Broker: b.Transport, Operator: b.Operator, Roster: b.Roster, Standing: b.Standings()}, nil
}

// gathered notes that there are new facts of the host of an agent.
func (f *farEnd) gathered(agent string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.facts == nil {
		f.facts = map[string]bool{}
	}
	f.facts[agent] = true
}

// ownedLink closes the transport that was opened for it.
type ownedLink struct {
	link.Link
	owned io.Closer
}

func (l *ownedLink) Close() error { return errors.Join(l.Link.Close(), l.owned.Close()) }
