package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/collect"
	"hark/controller/internal/runs/ledger"
)

// sendLimit is how long the end of a run waits for what the broker does not have of its record.
const sendLimit = 5 * time.Second

// recordUpload is a run's traffic with its broker beside its agents: its record goes there, and it can be stopped from
// elsewhere.
type recordUpload struct {
	p       *run
	conn    *fleet.Connection
	sending *ledger.Sending // nil where nothing is recorded
	stops   wire.Subscription
}

// noted notes that the record of a run is to be sent, where there is a broker that takes it.
func (p *run) noted() {
	if access, err := p.fleet.Access(p.o.Broker); err != nil || access.ReadOnly || p.o.Broker == overSSH {
		return
	}
	if err := ledger.Note(p.fleet.Home, p.id); err != nil {
		p.display.Warn(err.Error())
	}
	if p.drive != nil {
		p.drive.recorded.Store(true)
	}
}

// rise begins what goes beside a run. What of it cannot begin is no reason for a run to fail.
func (p *run) rise(b *fleet.Connection) *recordUpload {
	u := &recordUpload{p: p, conn: b}
	s := &link.Stops{Transport: b, Operator: b.Operator, Run: p.id, Stop: func(wire.Stop) { interrupt() }}
	if stops, err := s.Listen(); err == nil {
		u.stops = stops
	}
	if p.recording == nil {
		return u
	}
	l, err := b.Ledger(p.fleet.Home)
	if err != nil {
		p.display.Warn(fmt.Sprintf("the record of this run is not sent to the broker: %v", err))
		return u
	}
	u.sending = l.Begin(p.recording.store, p.id)
	return u
}

// interrupt is Ctrl-C.
func interrupt() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(os.Interrupt)
	}
}

// share puts the facts that were gathered to the broker. That they are not there is no matter: they are gathered again.
func (u *recordUpload) share(agents map[string]bool) {
	if len(agents) == 0 || u.conn.Access.ReadOnly {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sendLimit)
	defer cancel()
	if err := shareFacts(ctx, u.conn, u.p.fleet.Home, agents); err != nil {
		u.p.display.Verbose(1, "", err.Error())
	}
}

// end ends it, when the record has its end, and closes the connection.
func (u *recordUpload) end() {
	if u.stops != nil {
		_ = u.stops.Unsubscribe()
	}
	if u.sending != nil {
		if err := u.sending.End(sendLimit); err != nil {
			u.p.display.Verbose(1, "", err.Error())
		}
	}
	_ = u.conn.Close()
}

// ended ends what goes beside a run.
func (f *remoteOutput) ended() {
	_ = f.sessions.Remove() // they are of no use to anybody who has not the operator's key
	f.mu.Lock()
	u, facts := f.up, f.facts
	f.mu.Unlock()
	switch {
	case u != nil:
		u.share(facts)
		u.end()
	case f.p.recording != nil && f.p.drive == nil:
		f.sendAlone()
	}
}

// reachLimit is how long a run that needed no broker looks for one that takes its record.
const reachLimit = time.Second

// sendAlone sends the record of a run that needed no broker. If that fails it goes with the next run.
func (f *remoteOutput) sendAlone() {
	p := f.p
	if unsent, err := ledger.Unsent(p.fleet.Home); err != nil || !slices.Contains(unsent, p.id) {
		return
	}
	dialer := *p.fleet
	dialer.Timeout = reachLimit
	ctx, cancel := context.WithTimeout(context.Background(), reachLimit+sendLimit)
	defer cancel()
	b, err := dialer.Dial(ctx, p.o.Broker)
	if err == nil {
		defer b.Close()
		var l *ledger.Ledger
		if l, err = b.Ledger(p.fleet.Home); err == nil {
			_, err = l.SendAll(ctx, p.recording.store)
		}
	}
	if err != nil {
		p.display.Verbose(1, "", "the record of this run goes to the broker with the next one: "+err.Error())
	}
}

// opens stores the keys of a session.
func (f *remoteOutput) opens(s link.SessionKeys) {
	if f.p.recording != nil {
		f.sessions.Add(s)
	}
}

// keep stores what an agent sent, before it is acknowledged.
func (f *remoteOutput) keep(agent string, frame []byte) {
	if f.p.recording != nil {
		f.sessions.Keep(agent, frame)
	}
}

// newRemoteOutput is for a run that begins.
func newRemoteOutput(p *run) *remoteOutput {
	return &remoteOutput{p: p, sessions: collect.NewSessionKeyFiles(p.fleet.Home, p.id)}
}
