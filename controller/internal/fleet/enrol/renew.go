package enrol

import (
	"encoding/json"
	"errors"

	"hark/agent/wire"
)

// takeRights answers an agent or an operator that asks for new credentials before those that it has expire. The book is
// not asked:
// credentials that were neither revoked nor have expired say as much, also where the book was lost.
func (r *Registrar) takeRights(m wire.Msg) {
	key, in, err := r.readRights(m)
	var out wire.Joined
	if err == nil {
		out, err = r.renew(key, in)
	}
	if err != nil {
		r.cfg.Logger.Warn().Str("subject", m.Subject).AnErr("cause", err).Msg("new credentials were refused")
		return // whoever it was, the agent that has good ones asks again
	}
	raw, err := json.Marshal(out)
	if err == nil {
		err = m.Respond(raw)
	}
	if err != nil {
		r.cfg.Logger.Warn().Str("key", key).AnErr("cause", err).Msg("cannot answer an agent")
	}
}

// renew gives newer credentials in place of good ones.
func (r *Registrar) renew(key string, in wire.Rights) (out wire.Joined, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if had, ok := r.cfg.Authority.IsAgent(in.JWT); ok && had == key {
		return r.again(key), nil
	}
	had, token, err := r.cfg.Authority.Renew(in.JWT)
	switch {
	case err != nil && had == key:
		return wire.Joined{Err: err.Error()}, nil
	case err != nil || had != key:
		return out, errors.New("the credentials that it has are not good")
	}
	if err := r.cfg.Authority.Saw(key, readerOf(in), token, r.cfg.Now()); err != nil { // they are good all the same
		r.cfg.Logger.Warn().Str("operator", key).AnErr("cause",
			err).Msg("cannot note until when an operator's credentials are good")
	}
	r.cfg.Logger.Info().Str("operator", key).Msg("an operator's credentials were renewed")
	return wire.Joined{JWT: token, CA: r.cfg.CA}, nil
}

// readerOf returns the key for records that an operator has told.
func readerOf(in wire.Rights) string {
	if wire.ValidReader(in.Reader) {
		return in.Reader
	}
	return ""
}

// again returns an agent new credentials that has, or may have, others. It assumes mu held.
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

// readRights reads a request that is signed by who asks. Its date is not looked at: what an old one is answered with is
// of use to the one who signed it alone.
func (r *Registrar) readRights(m wire.Msg) (key string, in wire.Rights, err error) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return "", in, err
	}
	key = f.Header.Issuer
	if !f.Signed || f.Header.Kind != wire.KindRights || m.Subject != wire.Credentials(wire.IDOf(key)) {
		return "", in, errors.New("it is not signed by who asks")
	}
	if m.Respond == nil || !wire.OwnReply(m.Reply, wire.IDOf(key)) {
		return "", in, errors.New("its reply would go to somebody else")
	}
	if err := f.Body(&r.codec, "", wire.Keys{}, &in); err != nil {
		return "", in, err
	}
	return key, in, nil
}
