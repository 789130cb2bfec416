package enrol

import (
	"errors"
	"fmt"
	"time"

	"hark/agent/wire"
)

// Operator is somebody who was given access to the broker.
type Operator struct {
	Key  string `json:"key"`
	Name string `json:"name,omitempty"`
	// Reader is the public key that records are sealed with for this operator, "" if it is not known.
	Reader string `json:"reader,omitempty"`
	Access Rights `json:"access"`
	// Since is when the access was given, By who gave it.
	Since time.Time `json:"since"`
	By    string    `json:"by,omitempty"`
	// Until is when the access ends, the zero time for never. Expires is until when the credentials are good; Renews
	// says that they are renewed when the operator uses them.
	Until   time.Time `json:"until,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Renews  bool      `json:"renews,omitempty"`
	// Seen is when the operator was last connected, the zero time for never. Connected counts connections.
	Seen      time.Time `json:"seen,omitzero"`
	Connected int       `json:"connected,omitempty"`
}

// Rights are what an operator may do at the broker.
type Rights string

// The rights of operators.
const (
	MayManage Rights = "agents"    // commands agents, and lets them in and out
	MayPlay   Rights = "plays"     // commands agents
	MayRead   Rights = "read-only" // looks at the roster and at records
	MayListen Rights = "events"    // hears events, and nothing else
)

// Is reports whether an operator is meant by a name, a key or an id.
func (o Operator) Is(what string) bool {
	return what != "" && (o.Name == what || o.Key == what || wire.IDOf(o.Key) == what)
}

// check returns what in an entry cannot be: it ends in lines of lists.
func (o Operator) check() error {
	if !wire.ValidKey(o.Key) || o.Reader != "" && !wire.ValidReader(o.Reader) {
		return fmt.Errorf("%.300q is not an operator's public key", o.Key)
	}
	return wire.CheckWords("name of an operator", o.Name, o.By, string(o.Access))
}

// operators returns those who have access, with how many connections each has now. The one who asks is there, though
// the servers may not have said so yet. It assumes mu held.
func (r *Registrar) operators(by string) ([]Operator, error) {
	all, err := r.cfg.Authority.Operators()
	for i := range all {
		if all[i].Key == by {
			all[i].Connected, all[i].Seen = 1, r.cfg.Now().UTC()
		}
		if p := r.people[all[i].Key]; p != nil {
			all[i].Connected = max(all[i].Connected, p.connections)
			all[i].Seen = latest(all[i].Seen, p.seen)
			if p.connections > 0 {
				all[i].Seen = r.cfg.Now().UTC()
			}
		}
	}
	return all, err
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// expel takes back an operator's access, and the tokens with which that operator would let agents in.
func (r *Registrar) expel(by, what string) (out Operator, withdrawn int, err error) {
	all, err := r.operators(by)
	if err != nil {
		return out, 0, err
	}
	var found []Operator
	for _, o := range all {
		if o.Is(what) {
			found = append(found, o)
		}
	}
	switch {
	case len(found) > 1:
		return out, 0, fmt.Errorf("%d operators are called %s: say which by the key", len(found), what)
	case len(found) == 1:
		out = found[0]
	case wire.ValidKey(what): // admitted by a version that kept no list
		out = Operator{Key: what}
	default:
		return out, 0, fmt.Errorf("no operator %q has access: `hark broker operators` lists them", what)
	}
	if out.Key == by {
		return out, 0, errors.New("this is your own key: another operator has to do it")
	}
	if r.book.key(out.Key) != nil {
		return out, 0, fmt.Errorf("%s is an agent: `hark agents revoke` takes its credentials back", what)
	}
	if err := r.cfg.Authority.Expel(out.Key, r.cfg.Now()); err != nil {
		return out, 0, err
	}
	delete(r.people, out.Key)
	return out, r.book.dropTokensBy(out.Key), nil
}

// person is what the registrar has seen of an operator since it began.
type person struct {
	connections int
	reader      string    // that is written down
	seen, kept  time.Time // kept is when it was last written down
}

// keepSeen is how often it is written down that an operator was seen.
const keepSeen = 10 * time.Minute

// noteReader writes down the key that records are sealed with for an operator who asks for something.
func (r *Registrar) noteReader(key string, in request) {
	if !wire.ValidReader(in.Reader) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.person(key)
	if p.reader == in.Reader {
		return
	}
	if err := r.cfg.Authority.Saw(key, in.Reader, in.Access, r.cfg.Now()); err != nil {
		r.cfg.Logger.Warn().Str("operator", key).AnErr("cause", err).Msg("cannot note the reader's key of an operator")
		return
	}
	p.reader = in.Reader
}

// person returns the one with a key. It assumes mu held.
func (r *Registrar) person(key string) *person {
	p := r.people[key]
	if p == nil {
		p = &person{}
		r.people[key] = p
	}
	return p
}

// takeCame hears that somebody has connected to the broker.
func (r *Registrar) takeCame(m wire.Msg) { r.met(wire.Connected(m.Data), 1) }

// takeGone hears that a connection to the broker has ended.
func (r *Registrar) takeGone(m wire.Msg) { r.met(wire.Connected(m.Data), -1) }

// met notes a connection of an operator, or its end.
func (r *Registrar) met(c wire.Client, change int) {
	if !r.cfg.Authority.IsOperators(c.Issuer) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, now := r.person(c.Key), r.cfg.Now()
	p.connections, p.seen = p.connections+change, now
	if now.Sub(p.kept).Abs() < keepSeen {
		return
	}
	p.kept = now
	if err := r.cfg.Authority.Saw(c.Key, "", c.Token, now); err != nil {
		r.cfg.Logger.Warn().Str("operator", c.Key).AnErr("cause", err).Msg("cannot note that an operator was here")
	}
}
