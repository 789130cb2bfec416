package enrol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
)

// Authority gives credentials and takes them back; broker.Authority is it.
type Authority interface {
	Agent(key string) (string, error)
	Joiner(key string, expires time.Time) (string, error)
	// IsController and IsAgent reports whether a token is good and was given to an operator, or to an agent, and to
	// whose key; manages is whether the operator may let agents in and out.
	IsController(token string) (key string, manages, ok bool)
	IsAgent(token string) (key string, ok bool)
	Revoke(key string, at time.Time) error
	Readmit(key string) error

	// Operators are those who have access. Expel takes that of one back, Renew gives newer credentials for good ones,
	// Saw notes that one was there, and IsOperators reports whether an issuer of tokens gives them to operators.
	Operators() ([]Operator, error)
	Expel(key string, at time.Time) error
	Renew(token string) (key, newer string, err error)
	Saw(key, reader, token string, at time.Time) error
	IsOperators(issuer string) bool
}

// Config is what a Registrar needs.
type Config struct {
	// Dir is where the book is kept.
	Dir       string
	Transport wire.Transport
	Authority Authority
	// CA is the certificate of the broker's authority in PEM, for new agents; "" if the system's authorities are to
	// be trusted.
	CA string
	// Forget takes an agent out of the roster, by name, key or id, and reports whether there was one; nil if there is
	// no roster.
	Forget func(ctx context.Context, what string) (bool, error)
	// Publish tells the servers that credentials were revoked or given back.
	Publish func(context.Context) error
	Logger  zerolog.Logger
	// Now is the clock, nil is time.Now.
	Now func() time.Time
}

// Registrar enrols agents. Make it with Serve.
type Registrar struct {
	cfg    Config
	codec  wire.Codec
	ctx    context.Context
	cancel context.CancelFunc
	subs   []wire.Subscription
	work   sync.WaitGroup // telling the servers

	mu     sync.Mutex
	book   *ledger              // guarded by mu
	had    map[string]time.Time // nonces of operators' requests, with their expiry; guarded by mu
	people map[string]*person   // operators by key; guarded by mu
}

// Serve answers agents and operators until Close.
func Serve(cfg Config) (*Registrar, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	b, err := openLedger(cfg.Dir)
	if err != nil {
		return nil, err
	}
	r := &Registrar{cfg: cfg, book: b, had: maps.Clone(b.Requests), people: map[string]*person{}}
	if r.had == nil {
		r.had = map[string]time.Time{}
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for subject, f := range map[string]func(wire.Msg){
		wire.JoinSubject: r.takeJoin, wire.Credentials("*"): r.takeRights, wire.Registrar("*"): r.takeRequest,
		wire.ConnectSubject: r.takeCame, wire.DisconnectSubject: r.takeGone,
	} {
		s, err := cfg.Transport.Subscribe(subject, f)
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("cannot listen for agents: %w", err)
		}
		r.subs = append(r.subs, s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := cfg.Transport.Flush(ctx); err != nil {
		r.Close()
		return nil, fmt.Errorf("cannot listen for agents: %w", err)
	}
	return r, nil
}

// Enrolled returns the ids of all agents in the book.
func (r *Registrar) Enrolled() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make(map[string]bool, len(r.book.Agents))
	for _, a := range r.book.Agents {
		ids[wire.IDOf(a.Key)] = true
	}
	return ids
}

// Close ends the registrar. The transport is its owner's.
func (r *Registrar) Close() {
	for _, s := range r.subs {
		_ = s.Unsubscribe()
	}
	r.cancel()
	r.work.Wait()
}

// takeJoin answers an agent that asks to be enrolled.
func (r *Registrar) takeJoin(m wire.Msg) {
	frame, in, err := r.readJoin(m)
	if err != nil {
		r.cfg.Logger.Warn().AnErr("cause", err).Msg("a request to be enrolled was refused")
		return // who it is from is not known, so there is nobody to tell
	}
	out := r.join(frame.Header, in)
	if out.Err != "" {
		r.cfg.Logger.Warn().Str("name", in.Name).Str("key", frame.Header.Issuer).Str("token", in.Token).Str("cause", out.Err).
			Msg("a request to be enrolled was refused")
	}
	raw, err := json.Marshal(out)
	if err == nil {
		err = m.Respond(raw)
	}
	if err != nil {
		r.cfg.Logger.Warn().Str("name", in.Name).AnErr("cause", err).Msg("cannot answer an agent")
	}
}

// readJoin believes a request that the agent's key and the token's key have both signed. Its date is not looked at:
// the clock of a new host may be wrong, and the same request again gives the same answer.
func (r *Registrar) readJoin(m wire.Msg) (*wire.Frame, wire.Join, error) {
	var in wire.Join
	f, err := wire.Parse(m.Data)
	switch {
	case err != nil:
		return nil, in, err
	case !f.Signed || f.Header.Kind != wire.KindJoin:
		return nil, in, errors.New("it is not signed by the agent")
	}
	if err := f.Body(&r.codec, "", wire.Keys{}, &in); err != nil {
		return nil, in, err
	}
	switch {
	case !wire.VerifySignature(in.Token, wire.JoinProof(f.Header.Issuer, in.Name, f.Header.Nonce), in.Proof):
		return nil, in, errors.New("it does not prove that the agent has a token")
	case m.Respond == nil || !wire.OwnReply(m.Reply, wire.IDOf(in.Token)):
		return nil, in, errors.New("its reply would go to somebody else")
	}
	return f, in, nil
}

func refuse(format string, a ...any) wire.Joined { return wire.Joined{Err: fmt.Sprintf(format, a...)} }

// join decides.
func (r *Registrar) join(h wire.Header, in wire.Join) wire.Joined {
	key := h.Issuer
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Now()
	t := r.book.token(in.Token, now)
	if t == nil {
		return refuse("the token has expired or was withdrawn")
	}
	if err := wire.CheckName(in.Name); err != nil {
		return wire.Joined{Err: err.Error()}
	}
	if t.Name != "" && t.Name != in.Name {
		return refuse("the token is for the name %s", t.Name)
	}
	had := r.book.key(key)
	another := had == nil || had.Name != in.Name // one more name costs one more use, for the same key too
	switch other := r.book.named(in.Name); {
	case had != nil && had.State == Revoked:
		return refuse("this agent was revoked: `hark agents approve %s` lets it in again", in.Name)
	case other != nil && other.Key != key:
		return refuse("%s is enrolled with another key: if it was installed again, run `hark agents remove %s`", in.Name,
			in.Name)
	case had != nil && had.Name == in.Name && had.State == Approved:
		return r.again(key)
	case had != nil && had.Name == in.Name && had.State == Pending && !t.Approve:
		return wire.Joined{Pending: true}
	case another && t.Uses <= 0:
		return refuse("the token was used as often as it may be")
	case had == nil && !t.Approve && r.book.pending() >= mostPending:
		return refuse("too many agents wait for approval")
	}
	a := Agent{Name: in.Name, Key: key, XKey: in.XKey, OS: in.OS, Arch: in.Arch, Version: in.Version, State: Pending,
		At: now, By: in.Token}
	if t.Approve {
		a.State = Approved
		a.vouchedByToken(t, TokenVouch{Key: t.Key, Name: t.Name, Expires: t.Expires, Nonce: h.Nonce, Proof: in.Proof})
	}
	before := r.book.clone()
	if another {
		t.Uses--
	}
	r.book.put(a)
	var given wire.Joined
	if a.State == Approved {
		given = r.credentials(key)
	}
	if err := r.book.keep(now); err != nil {
		r.book = before
		return wire.Joined{Err: err.Error()}
	}
	r.cfg.Logger.Info().Str("name", a.Name).Str("key", key).Str("state", string(a.State)).Msg("agent asks to be enrolled")
	if a.State == Pending {
		return wire.Joined{Pending: true}
	}
	return given
}

// vouchedByToken enters the word of the operator who made the token. Tokens of older controllers have none.
func (a *Agent) vouchedByToken(t *Token, v TokenVouch) {
	if len(t.Sig) > 0 {
		_ = a.add(Vouch{By: t.By, At: a.At, Sig: t.Sig, Token: &v}) // one that is not good is none
	}
}

// credentials returns an agent new ones. It assumes mu held.
func (r *Registrar) credentials(key string) wire.Joined {
	token, err := r.cfg.Authority.Agent(key)
	if err != nil {
		return wire.Joined{Err: err.Error()}
	}
	r.note(key, token)
	return wire.Joined{JWT: token, CA: r.cfg.CA}
}

// note enters in the book until when an agent's credentials are good, if it is in it. It assumes mu held.
func (r *Registrar) note(key, token string) {
	t, err := wire.ParseToken(token)
	if a := r.book.key(key); a != nil && err == nil {
		a.Expires = t.Expires
	}
}

// takeRequest answers an operator.
func (r *Registrar) takeRequest(m wire.Msg) {
	op := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	f, in, err := r.readRequest(m, op)
	if err != nil {
		r.cfg.Logger.Warn().Str("request", op).AnErr("cause", err).Msg("request refused")
		if f == nil || !f.Signed || m.Respond == nil || !wire.OwnReply(m.Reply, wire.IDOf(f.Header.Issuer)) {
			return
		}
		r.answer(m, reply{Err: err.Error()})
		return
	}
	r.noteReader(f.Header.Issuer, in)
	out, publish := r.serve(op, f.Header, in)
	forget := op == opRemove && out.Err == "" && r.cfg.Forget != nil
	if !publish && !forget {
		r.answer(m, out)
		return
	}
	r.work.Go(func() {
		var err error
		if forget {
			out.Heard, err = r.forget(in.Name, out.Agents)
		}
		if publish {
			err = errors.Join(err, r.cfg.Publish(r.ctx))
		}
		if err != nil && out.Err == "" {
			out.Err = err.Error()
		}
		r.answer(m, out)
	})
}

// forget takes what was removed out of the roster: by the name that was asked for, and by the keys that had it.
func (r *Registrar) forget(what string, removed []Agent) (heard bool, err error) {
	ctx, cancel := context.WithTimeout(r.ctx, requestLimit)
	defer cancel()
	for _, one := range append([]Agent{{Key: what}}, removed...) {
		was, err := r.cfg.Forget(ctx, one.Key)
		if err != nil {
			return heard, err
		}
		heard = heard || was
	}
	return heard, nil
}

func (r *Registrar) answer(m wire.Msg, out reply) {
	raw, err := json.Marshal(out)
	if err == nil {
		err = m.Respond(raw)
	}
	if err != nil {
		r.cfg.Logger.Warn().AnErr("cause", err).Msg("cannot answer an operator")
	}
}

// readRequest believes a request that is signed by an operator to whom the authority gave access, fresh and for the
// first time.
func (r *Registrar) readRequest(m wire.Msg, op string) (*wire.Frame, request, error) {
	var in request
	f, err := wire.Parse(m.Data)
	if err != nil {
		return nil, in, err
	}
	// Access says whom to trust
	demands := wire.Demands{Trusted: func(string) bool { return true }, Kind: wire.KindManage, Now: r.cfg.Now}
	if err := demands.Check(f); err != nil {
		return f, in, err
	}
	if err := f.Body(&r.codec, "", wire.Keys{}, &in); err != nil {
		return f, in, err
	}
	key, manages, ok := r.cfg.Authority.IsController(in.Access)
	switch {
	case !ok || key != f.Header.Issuer:
		return f, in, errors.New("this operator has no access to the broker")
	case m.Respond == nil || !wire.OwnReply(m.Reply, wire.IDOf(key)):
		return f, in, errors.New("its reply would go to somebody else")
	case f.Header.Run != op:
		return f, in, errors.New("it is another request than its subject says")
	case !manages && !looks(op):
		return f, in,
			fmt.Errorf(
				"this operator may not let agents in or out: `hark broker admit %s --agents` gives access with which he may", key)
	case !r.fresh(f.Header):
		return f, in, errors.New("it was made before")
	}
	return f, in, nil
}

// fresh reports whether a request comes for the first time.
func (r *Registrar) fresh(h wire.Header) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Now()
	for nonce, until := range r.had {
		if until.Before(now) {
			delete(r.had, nonce)
		}
	}
	if _, had := r.had[h.Nonce]; had {
		return false
	}
	r.had[h.Nonce] = good(h)
	return true
}

// good is until when a request could come again.
func good(h wire.Header) time.Time { return time.UnixMilli(h.Expires).Add(wire.Skew) }
