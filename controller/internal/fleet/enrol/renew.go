package enrol

import (
	"encoding/json"
	"errors"

	"hark/agent/wire"
)

// takeRights answers an agent that asks for new credentials before those that it has expire. The book is not asked:
// credentials that were neither revoked nor have expired say as much, also where the book was lost.
func (r *Registrar) takeRights(m wire.Msg) {
	key, err := r.readRights(m)
	if err != nil {
		r.cfg.Logger.Warn().Str("subject", m.Subject).AnErr("cause", err).Msg("new credentials were refused")
		return // whoever it was, the agent that has good ones asks again
	}
	r.mu.Lock()
	out := r.again(key)
	r.mu.Unlock()
	raw, err := json.Marshal(out)
	if err == nil {
		err = m.Respond(raw)
	}
	if err != nil {
		r.cfg.Logger.Warn().Str("key", key).AnErr("cause", err).Msg("cannot answer an agent")
	}
}

// again gives an agent new credentials that has, or may have, others. It assumes mu held.
func (r *Registrar) again(key string) wire.Joined {
	out := r.credentials(key)
	if r.book.key(key) == nil {
		return out
	}
	if err := r.book.keep(r.cfg.Now()); err != nil { // the credentials are good all the same
		r.cfg.Logger.Warn().Str("key", key).AnErr("cause", err).Msg("cannot note until when an agent's credentials are good")
	}
	return out
}

// readRights believes a request that an agent has signed who shows good credentials of its own. Its date is not
// looked at: what an old one is answered with is of use to the agent alone.
func (r *Registrar) readRights(m wire.Msg) (key string, err error) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return "", err
	}
	key = f.Header.Issuer
	if !f.Signed || f.Header.Kind != wire.KindRights || m.Subject != wire.Credentials(wire.IDOf(key)) {
		return "", errors.New("it is not signed by the agent")
	}
	if m.Respond == nil || !wire.OwnReply(m.Reply, wire.IDOf(key)) {
		return "", errors.New("its reply would go to somebody else")
	}
	var in wire.Rights
	if err := f.Body(&r.codec, "", wire.Keys{}, &in); err != nil {
		return "", err
	}
	if had, ok := r.cfg.Authority.IsAgent(in.JWT); !ok || had != key {
		return "", errors.New("the credentials that it has are not good")
	}
	return key, nil
}
