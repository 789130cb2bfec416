// Package roster knows the agents behind the broker: who they are, their keys, when they were last heard of. What
// agents say of themselves is kept by the broker in a stream, one message per agent and kind; the messages are signed
// by the agents, so the broker can lose them but not invent them. The record of trust says which key a name has.
package roster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/fleet/trust"
)

// StreamName is the stream in which the broker keeps the agents' presence.
const StreamName = "HARK_AGENTS"

// Absent is after how long without a heartbeat an agent counts as absent: two and a half heartbeats.
const Absent = 75 * time.Second

// Agent is one agent as it last said of itself.
type Agent struct {
	wire.Hello
	wire.Beat           // of its last heartbeat
	Key       string    `json:"key"`
	Since     time.Time `json:"since"` // its last hello
	Seen      time.Time `json:"seen"`  // its last word
	Present   bool      `json:"present"`
	// Left says that its last word was that it ends.
	Left bool `json:"left,omitempty"`
}

// UnknownError says that no agent of that name was ever heard of.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no agent named %s was ever enrolled", e.Name)
}

// Roster finds agents. It is safe for concurrent use.
type Roster struct {
	conn  *nats.Conn
	known *trust.Known
	now   func() time.Time
	// Vouch, if set, tells which key was let in under a name, "" if nobody knows. It is asked about names that are
	// not on record yet, so that the first agent that shows a name is not believed for that alone. It is set before
	// the roster is used.
	Vouch func(ctx context.Context, name string) (key string, err error)
	// Ask, if set, asks the agent with an id itself, and returns what it has signed of itself. It is asked about agents
	// whose record at the broker somebody has overwritten. An error means that it is not there, or does not obey this
	// operator. It may be called from several goroutines. It is set before the roster is used.
	Ask func(ctx context.Context, id string) (Agent, error)
	// Verified are the hellos that were verified before. It may be replaced before the roster is used.
	Verified *wire.Verified
	// API is that of streams.Manager, for Forget. It is set before the roster is used.
	API string

	fleet atomic.Pointer[summary] // as it was last read, nil before

	mu     sync.Mutex
	byName map[string]Agent // guarded by mu
	byKey  map[string]Agent // guarded by mu
	read   time.Time        // guarded by mu
}

// New makes a roster that reads from the broker. known keeps the agents' keys; nil accepts whatever key an agent
// shows, for lists that command nothing.
func New(conn *nats.Conn, known *trust.Known) *Roster {
	return &Roster{conn: conn, known: known, now: time.Now, Verified: &wire.Verified{}}
}

// StreamConfig returns the stream that Ensure makes, for those who configure a broker of their own.
func StreamConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        StreamName,
		Description: "the last word of every hark agent",
		Subjects: []string{wire.PresenceOfAll(wire.KindHello), wire.PresenceOfAll(wire.KindBeat),
			wire.PresenceOfAll(wire.KindBye)},
		MaxMsgsPerSubject: 1,
		MaxMsgs:           mostWords,
		MaxBytes:          sizes[0],
		MaxMsgSize:        64 << 10,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardNew, // but what takes the place of an agent's former word
		AllowDirect:       true,
	}
}

// Ensure makes the stream on a broker that does not have it. A cluster that has just been started may take until ctx
// is over.
func Ensure(ctx context.Context, m streams.Manager) error {
	cfg := StreamConfig()
	cfg.MaxBytes = 0
	if err := streams.Ensure(ctx, m, cfg); err != nil {
		return fmt.Errorf("cannot keep the roster at the broker: %w", err)
	}
	return nil
}

// Bound bounds the bytes of the stream, as far as the broker has room. JetStream keeps that room for the stream, so it
// comes after the streams without which a broker is of less use.
func Bound(ctx context.Context, m streams.Manager) error {
	return streams.EnsureWithin(ctx, m, StreamConfig(), sizes)
}

// Find returns the agent of a name. An agent that came after the roster was read is looked up again, at most once
// a second. The error is an *UnknownError or a *trust.ChangedKeyError if there is none to be trusted.
func (r *Roster) Find(ctx context.Context, name string) (Agent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.byName[name]
	if !ok && r.now().Sub(r.read) > time.Second {
		if err := r.load(ctx, passing); err != nil {
			return Agent{}, err
		}
		a, ok = r.byName[name]
	}
	if !ok {
		return Agent{}, &UnknownError{Name: name}
	}
	if r.known == nil {
		return a, nil
	}
	a, err := r.vouched(ctx, a)
	if err == nil {
		err = r.known.Pin(name, a.Key)
	}
	if err != nil {
		return Agent{}, err
	}
	return a, nil
}

// vouched returns the agent that was let in under the name of one that is not on record yet: another than the one
// that was heard of last, if that one only says so. It assumes mu held.
func (r *Roster) vouched(ctx context.Context, a Agent) (Agent, error) {
	if r.Vouch == nil || r.known.Key(a.Name) != "" {
		return a, nil
	}
	key, err := r.Vouch(ctx, a.Name)
	if err != nil || key == "" || key == a.Key {
		return a, err
	}
	if own, ok := r.byKey[key]; ok && own.Name == a.Name {
		return own, nil
	}
	return Agent{}, fmt.Errorf("an agent says that it is %s and shows another key than the one that was enrolled under "+
		"this name (%s): "+
		"`hark agents show %s`", a.Name, key, a.Name)
}

// Forget takes what the broker keeps of an agent out of it, by name, id or key, and reports whether there was anything.
func (r *Roster) Forget(ctx context.Context, what string) (bool, error) {
	all, err := r.All(ctx)
	if err != nil {
		return false, err
	}
	found := false
	for _, a := range all {
		if a.Name != what && a.ID != what && a.Key != what {
			continue
		}
		found = true
		if err := forget(ctx, streams.Manager{Conn: r.conn, API: r.API}, a.ID); err != nil {
			return true, fmt.Errorf("cannot take %s out of the roster: %w", a.Name, err)
		}
	}
	r.Refresh()
	return found, nil
}

// Refresh forgets what was read, so that the next Find asks the broker.
func (r *Roster) Refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byName, r.read = nil, time.Time{}
}

// All returns every agent, by name.
func (r *Roster) All(ctx context.Context) ([]Agent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx, whole); err != nil {
		return nil, err
	}
	all := make([]Agent, 0, len(r.byName))
	for _, a := range r.byName {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Agent) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// readLimit is how long reading the roster may take: a cluster that lost a server needs some seconds to agree on
// another.
const readLimit = 20 * time.Second

// load reads the stream, with or without what agents say with their heartbeats. It assumes mu held.
func (r *Roster) load(ctx context.Context, d depth) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	var byID map[string]*record
	err := streams.Settle(ctx, func(ctx context.Context) error {
		byID = map[string]*record{}
		_, err := streams.Each(ctx, r.conn, StreamName, wire.PresenceOfAll("*"), 1, func(m streams.Message) {
			id := wire.SubjectID(m.Subject)
			if byID[id] == nil {
				byID[id] = &record{verified: r.Verified, depth: d}
			}
			byID[id].take(id, wire.SubjectKind(m.Subject), m)
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot read the roster from the broker: %w", err)
	}
	r.byName, r.byKey, r.read = map[string]Agent{}, map[string]Agent{}, r.now()
	for _, rec := range byID {
		if a, ok := rec.agent(r.now()); ok {
			r.add(a)
		}
	}
	for _, a := range r.asked(ctx, byID) {
		r.add(a)
	}
	r.fleet.Store(r.look())
	return nil
}

// add enters an agent. When several show the same name, the one with the key on record wins, then the one heard of
// last. It assumes mu held.
func (r *Roster) add(a Agent) {
	r.byKey[a.Key] = a
	had, taken := r.byName[a.Name]
	if taken {
		pinned := ""
		if r.known != nil {
			pinned = r.known.Key(a.Name)
		}
		if had.Key == pinned || a.Key != pinned && !a.Seen.After(had.Seen) {
			return
		}
	}
	r.byName[a.Name] = a
}
