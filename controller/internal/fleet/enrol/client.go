package enrol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/nats"
)

// Client is an operator's side of the registrar.
type Client struct {
	Transport wire.Transport
	Operator  *wire.Identity
	// Access is the operator's token of the broker's authority.
	Access string

	codec wire.Codec
}

// ErrNoRegistrar says that nobody enrols agents at this broker.
var ErrNoRegistrar = errors.New(
	"nobody enrols agents at this broker: `hark broker run` does, and `hark broker registrar` for a NATS cluster of " +
		"your own")

// errDenied says that the broker lets nothing through to the registrar.
var errDenied = errors.New(
	"the broker does not permit it: this operator may only look at who is there and at records of runs")

// requestLimit is how long the registrar may take.
const requestLimit = 15 * time.Second

// do sends a request. Its header's run names what is wanted, so that a request cannot be used as another.
func (c *Client) do(ctx context.Context, op string, in request) (reply, error) {
	var out reply
	in.Access, in.Reader = c.Access, c.Operator.XKey
	frame, err := c.codec.Pack(wire.Header{Kind: wire.KindManage, Run: op}, in, wire.Packing{Sign: c.Operator})
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	raw, err := c.Transport.Request(ctx, wire.Registrar(op), frame)
	switch {
	case errors.Is(err, wire.ErrNoResponder):
		return out, ErrNoRegistrar
	case errors.Is(err, wire.ErrDenied):
		return out, errDenied
	case errors.Is(err, context.DeadlineExceeded):
		return out, fmt.Errorf("the registrar did not answer within %s", requestLimit)
	case err != nil:
		return out, fmt.Errorf("cannot reach the registrar: %w", err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("cannot read the registrar's answer: %v", err)
	}
	if out.Err != "" {
		return out, errors.New(out.Err)
	}
	for i := range out.Agents {
		if err := out.Agents[i].check(); err != nil {
			return out, fmt.Errorf("cannot use the registrar's answer: %v", err)
		}
	}
	for _, o := range out.Operators {
		if err := o.check(); err != nil {
			return out, fmt.Errorf("cannot use the registrar's answer: %v", err)
		}
	}
	return out, nil
}

// Operators lists who has access to the broker.
func (c *Client) Operators(ctx context.Context) ([]Operator, error) {
	out, err := c.do(ctx, opOperators, request{})
	return out.Operators, err
}

// Expel takes the access of an operator back: a name, a key or an id says whose. Connections are closed, and the tokens
// withdrawn that the operator made; withdrawn counts them.
func (c *Client) Expel(ctx context.Context, what string) (expelled Operator, withdrawn int, err error) {
	out, err := c.do(ctx, opExpel, request{Name: what})
	if err == nil && len(out.Operators) != 1 {
		err = errors.New("the registrar's answer does not tell who was expelled")
	}
	if err != nil {
		return Operator{}, 0, err
	}
	return out.Operators[0], out.Withdrawn, nil
}

// MakeToken makes a token, whose secret never leaves this side. What t says of uses, name, approval and expiry
// counts; the caller adds where the broker is and whom the agent shall obey.
func (c *Client) MakeToken(ctx context.Context, t Token) (wire.JoinToken, error) {
	id, err := wire.NewIdentity()
	if err != nil {
		return wire.JoinToken{}, err
	}
	seed, err := id.Seed()
	if err != nil {
		return wire.JoinToken{}, err
	}
	t.Key, t.Expires = id.Key, t.Expires.UTC().Truncate(time.Second)
	if t.Approve {
		if t.Sig, err = c.Operator.Sign(tokenWords(t.Key, t.Name, t.Expires)); err != nil {
			return wire.JoinToken{}, err
		}
	}
	out, err := c.do(ctx, opToken, request{Token: &t})
	if err != nil {
		return wire.JoinToken{}, err
	}
	made := wire.JoinToken{V: wire.Version, JWT: out.JWT, Seed: seed, Name: t.Name}
	if out.CA != "" {
		made.CA, err = nats.Short(out.CA)
	}
	return made, err
}

// DropToken withdraws a token.
func (c *Client) DropToken(ctx context.Context, key string) error {
	_, err := c.do(ctx, opDrop, request{Name: key})
	return err
}

// Grant returns an agent's credentials, with which it can be tried, and the certificate of the broker's authority.
// Enrol lets it in.
func (c *Client) Grant(ctx context.Context, a Agent) (jwt, ca string, err error) {
	out, err := c.do(ctx, opGrant, request{Agent: &a})
	return out.JWT, out.CA, err
}

// Enrol lets an agent in, in place of whoever had its name, and vouches for it.
func (c *Client) Enrol(ctx context.Context, a Agent) error {
	v, err := vouch(c.Operator, a.Name, a.Key, time.Now())
	if err != nil {
		return err
	}
	a.Vouches = []Vouch{v}
	_, err = c.do(ctx, opEnrol, request{Agent: &a})
	return err
}

// Approve lets agents in that wait for it or were revoked, and vouches for them and for those that are in; what is a
// name, a key or an id.
func (c *Client) Approve(ctx context.Context, what string) ([]Agent, error) {
	agents, _, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	found := (&ledger{Agents: agents}).find(what)
	if len(found) == 0 {
		return nil, fmt.Errorf("no agent %s waits for approval", what)
	}
	var done []Agent
	for _, a := range found {
		v, err := vouch(c.Operator, a.Name, a.Key, time.Now())
		if err != nil {
			return done, err
		}
		out, err := c.do(ctx, opApprove, request{Name: a.Key, Agent: &Agent{Name: a.Name, Key: a.Key, Vouches: []Vouch{v}}})
		if err != nil {
			return done, err
		}
		done = append(done, out.Agents...)
	}
	return done, nil
}

// Revoke makes the credentials of agents void and cuts them off.
func (c *Client) Revoke(ctx context.Context, what string) ([]Agent, error) {
	out, err := c.do(ctx, opRevoke, request{Name: what})
	return out.Agents, err
}

// Remove forgets agents and cuts them off. heard tells that the roster had one, in the book or not.
func (c *Client) Remove(ctx context.Context, what string) (agents []Agent, heard bool, err error) {
	out, err := c.do(ctx, opRemove, request{Name: what})
	return out.Agents, out.Heard, err
}

// List returns the book.
func (c *Client) List(ctx context.Context) ([]Agent, []Token, error) {
	out, err := c.do(ctx, opList, request{})
	return out.Agents, out.Tokens, err
}

// Health returns what keeps the registrar from writing, "" for nothing: its disk is the broker's.
func (c *Client) Health(ctx context.Context) (trouble string, err error) {
	out, err := c.do(ctx, opHealth, request{})
	return out.Trouble, err
}

// Find returns the approved agent of a name, nil if there is none.
func (c *Client) Find(ctx context.Context, name string) (*Agent, error) {
	out, err := c.do(ctx, opFind, request{Name: name})
	if err != nil || len(out.Agents) == 0 {
		return nil, err
	}
	if a := out.Agents[0]; a.Name == name {
		return &a, nil
	}
	return nil, fmt.Errorf("the registrar was asked for %s and answers for %s", name, out.Agents[0].Name)
}
