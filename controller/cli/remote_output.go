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

// remoteOutput is the connection to the broker of a run, which is made when the first host needs it. It lasts until
// the run is on record.
type remoteOutput struct {
	p        *run
	sessions *collect.SessionKeyFiles

	mu sync.Mutex
	up *recordUpload // nil until it is there; guarded by mu
	// facts are the names of agents of whose hosts all facts were gathered; guarded by mu.
	facts map[string]bool
}

// dial implements link.Config.Dial. A broker that nobody named in this call may be one that was tried once and left:
// hosts are reached without it.
func (f *remoteOutput) dial(ctx context.Context) (link.RemoteConfig, error) {
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
		return link.RemoteConfig{}, err
	}
	f.mu.Lock()
	f.up = f.p.rise(b)
	f.mu.Unlock()
	return link.RemoteConfig{Broker: b.Transport, Operator: b.Operator, Roster: b.Roster, WhyAbsent: b.WhyAbsent()}, nil
}

// gathered notes that there are new facts of the host of an agent.
func (f *remoteOutput) gathered(agent string) {
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
