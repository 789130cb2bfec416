package enrol

import (
	"errors"
	"fmt"
	"slices"

	"hark/agent/atomicfile"
	"hark/agent/wire"
)

// serve does what an operator wants. publish says that the servers must get changed credentials.
func (r *Registrar) serve(op string, h wire.Header, in request) (out reply, publish bool) {
	by := h.Issuer
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.book.clone() // what cannot be written was not done
	var err error
	switch op {
	case opList:
		out.Agents, out.Tokens, out.CA = slices.Clone(r.book.Agents), slices.Clone(r.book.Tokens), r.cfg.CA
	case opFind:
		if a := r.book.named(in.Name); a != nil {
			out.Agents = []Agent{*a}
		}
	case opHealth:
		if err := atomicfile.Room(r.cfg.Dir); err != nil {
			out.Trouble = err.Error()
		}
	case opToken:
		out.JWT, err = r.addToken(by, in.Token)
		out.CA = r.cfg.CA
	case opDrop:
		err = r.dropToken(in.Name)
	case opGrant:
		out.JWT, err = r.grant(in.Agent)
		out.CA = r.cfg.CA
	case opEnrol:
		out.JWT, publish, err = r.enrol(by, in.Agent)
		out.CA = r.cfg.CA
	case opApprove:
		out.Agents, publish, err = r.approve(by, in)
	case opRevoke:
		out.Agents, err = r.revoke(by, in.Name)
		publish = err == nil
	case opRemove:
		out.Agents, err = r.remove(in.Name)
		publish = err == nil && len(out.Agents) > 0
	case opOperators:
		out.Operators, err = r.operators(by)
	case opExpel:
		out.Operators = make([]Operator, 1)
		out.Operators[0], out.Withdrawn, err = r.expel(by, in.Name)
		publish = err == nil
	default:
		err = fmt.Errorf("there is no request %q", op)
	}
	if err == nil && !looks(op) && op != opGrant {
		r.book.did(h.Nonce, good(h))
		if err = r.book.keep(r.cfg.Now()); err != nil {
			r.book = before
		}
	}
	if err == nil && !looks(op) {
		r.cfg.Logger.Info().Str("request", op).Str("operator", by).Str("name", in.Name).Msg("request done")
	}
	if err != nil {
		out = reply{Err: err.Error()}
	}
	return out, publish
}

func (r *Registrar) addToken(by string, t *Token) (string, error) {
	if t == nil || t.Uses < 1 || !t.Expires.After(r.cfg.Now()) {
		return "", errors.New("a token needs a use and a time in the future at which it expires")
	}
	if t.Name != "" {
		if err := wire.CheckName(t.Name); err != nil {
			return "", err
		}
	}
	jwt, err := r.cfg.Authority.Joiner(t.Key, t.Expires)
	if err != nil {
		return "", err
	}
	t.By, t.Made = by, r.cfg.Now()
	r.book.Tokens = append(r.book.Tokens, *t)
	return jwt, nil
}

func (r *Registrar) dropToken(key string) error {
	n := len(r.book.Tokens)
	r.book.Tokens = slices.DeleteFunc(r.book.Tokens, func(t Token) bool { return t.Key == key })
	if len(r.book.Tokens) == n {
		return fmt.Errorf("there is no token %s", key)
	}
	return nil
}

// grant gives credentials to an agent that an operator wants to try before it is let in: the book, and who had the
// name, stay as they are.
func (r *Registrar) grant(a *Agent) (jwt string, err error) {
	if a == nil {
		return "", errors.New("there is no agent in the request")
	}
	if err := a.check(); err != nil {
		return "", err
	}
	if had := r.book.key(a.Key); had != nil && had.State == Revoked {
		return "", fmt.Errorf("this agent was revoked: `hark agents approve %s` lets it in again", had.Name)
	}
	return r.cfg.Authority.Agent(a.Key)
}

// enrol lets an agent in on an operator's word, in place of whoever had the name.
func (r *Registrar) enrol(by string, a *Agent) (jwt string, publish bool, err error) {
	if jwt, err = r.grant(a); err != nil {
		return "", false, err
	}
	if other := r.book.named(a.Name); other != nil && other.Key != a.Key {
		if err := r.cfg.Authority.Revoke(other.Key, r.cfg.Now()); err != nil {
			return "", false, err
		}
		r.book.drop(other.Key)
		publish = true
	}
	had, vouches := r.book.key(a.Key), a.Vouches
	a.State, a.At, a.By, a.Vouches = Approved, r.cfg.Now(), by, nil
	if had != nil && had.Name == a.Name {
		a.Vouches = had.Vouches
	}
	if err := a.vouched(by, vouches); err != nil {
		return "", false, err
	}
	r.book.put(*a)
	r.note(a.Key, jwt)
	return jwt, publish, nil
}

// readmit gives a key that was revoked its rights back.
func (r *Registrar) readmit(had *Agent, key string) (publish bool, err error) {
	if had == nil || had.State != Revoked {
		return false, nil
	}
	return true, r.cfg.Authority.Readmit(key)
}

// vouched enters what an operator signed together with his request.
func (a *Agent) vouched(by string, vouches []Vouch) error {
	for _, v := range vouches {
		if v.By != by {
			return errors.New("operators vouch only for themselves")
		}
		if err := a.add(v); err != nil {
			return err
		}
	}
	return nil
}

// approve lets in what waits, and takes the operator's word for it. An agent that is already in is only vouched for.
func (r *Registrar) approve(by string, in request) (agents []Agent, publish bool, err error) {
	what := in.Name
	for _, a := range r.book.find(what) {
		if in.Agent != nil && in.Agent.Key == a.Key && in.Agent.Name == a.Name {
			if err := a.vouched(by, in.Agent.Vouches); err != nil {
				return nil, false, err
			}
		}
		if a.State == Approved {
			if in.Agent != nil {
				agents = append(agents, *a)
			}
			continue
		}
		if other := r.book.named(a.Name); other != nil {
			return nil, false,
				fmt.Errorf("%s is enrolled with another key: if it was installed again, run `hark agents remove %s`", a.Name,
					a.Name)
		}
		again, err := r.readmit(a, a.Key)
		if err != nil {
			return nil, false, err
		}
		publish = publish || again
		a.State, a.At, a.By = Approved, r.cfg.Now(), by
		agents = append(agents, *a)
	}
	if len(agents) == 0 {
		return nil, false, fmt.Errorf("no agent %s waits for approval", what)
	}
	return agents, publish, nil
}

func (r *Registrar) revoke(by, what string) ([]Agent, error) {
	var done []Agent
	for _, a := range r.book.find(what) {
		if err := r.cfg.Authority.Revoke(a.Key, r.cfg.Now()); err != nil {
			return nil, err
		}
		a.State, a.At, a.By = Revoked, r.cfg.Now(), by
		done = append(done, *a)
	}
	if len(done) == 0 {
		return nil, fmt.Errorf("no agent %s is enrolled", what)
	}
	return done, nil
}

// remove forgets agents. One that is not in the book is no error: it may be known to the roster only.
func (r *Registrar) remove(what string) ([]Agent, error) {
	var done []Agent
	for _, a := range r.book.find(what) {
		done = append(done, *a)
	}
	for _, a := range done {
		if err := r.cfg.Authority.Revoke(a.Key, r.cfg.Now()); err != nil {
			return nil, err
		}
		r.book.drop(a.Key)
	}
	return done, nil
}
