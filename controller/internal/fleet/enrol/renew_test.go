package enrol_test

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/play/link"
	"hark/modules"
)

// rights asks for new credentials. The error is that there was no answer.
func (o *office) rights(agent *wire.Identity, subject, jwt string) (string, error) {
	o.t.Helper()
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: wire.KindRights}, wire.Rights{JWT: jwt}, wire.Packing{Sign: agent})
	if err != nil {
		o.t.Fatal(err)
	}
	tr := o.bus.Connect(agent.ID())
	defer tr.Close()
	ctx, cancel := context.WithTimeout(o.t.Context(), 300*time.Millisecond)
	defer cancel()
	var out wire.Joined
	raw, err := tr.Request(ctx, subject, frame)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out.JWT, err
}

// TestCredentialsAreRenewedForTheirOwner, and for nobody else: not with another's, not when they are void, and not
// with those of another authority or role. The book is not needed.
func TestCredentialsAreRenewedForTheirOwner(t *testing.T) {
	o := open(t)
	agent, other := identity(t), identity(t)
	token := func(a *broker.Authority, id *wire.Identity) string {
		jwt, err := a.Agent(id.Key)
		if err != nil {
			t.Fatal(err)
		}
		return jwt
	}
	foreign, err := broker.OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	late := *o.authority
	late.AgentLife = time.Nanosecond
	own := token(o.authority, agent)
	fresh, err := o.rights(agent, wire.Credentials(agent.ID()), own)
	if err != nil {
		t.Fatal(err)
	}
	if key, ok := o.authority.IsAgent(fresh); !ok || key != agent.Key {
		t.Errorf("the new ones are for %q, %t", key, ok)
	}
	for name, tt := range map[string]struct {
		who     *wire.Identity
		subject string
		jwt     string
	}{
		"another's":         {other, wire.Credentials(other.ID()), own},
		"another's subject": {agent, wire.Credentials(other.ID()), own},
		"none":              {agent, wire.Credentials(agent.ID()), ""},
		"expired":           {agent, wire.Credentials(agent.ID()), token(&late, agent)},
		"another authority": {agent, wire.Credentials(agent.ID()), token(foreign, agent)},
	} {
		if got, err := o.rights(tt.who, tt.subject, tt.jwt); err == nil {
			t.Errorf("%s: was answered with %q", name, got)
		}
	}
	if got, err := o.rights(o.client.Operator, wire.Credentials(o.client.Operator.ID()),
		o.client.Access); err != nil || got != "" {
		t.Errorf("an operator's that are good for ever: %q, %v", got, err)
	}
	if err := o.authority.Revoke(agent.Key, o.now); err != nil {
		t.Fatal(err)
	}
	if got, err := o.rights(agent, wire.Credentials(agent.ID()), own); err == nil {
		t.Errorf("revoked: was answered with %q", got)
	}
}

// purse is what an agent keeps its credentials in.
type purse struct {
	*nats.Transport

	mu    sync.Mutex
	token string // guarded by mu
}

func (p *purse) Token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.token
}

func (p *purse) Keep(token string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = token
	return nil
}

// TestAgentOutlivesItsCredentials: it renews them over its own connection, and stays there; those that it had are
// refused after their time.
func TestAgentOutlivesItsCredentials(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	authority, err := broker.OpenAuthority(data)
	if err != nil {
		t.Fatal(err)
	}
	authority.AgentLife = 5 * time.Second
	url := serveBroker(t, data, authority)
	operator, self := identity(t), identity(t)
	first, err := authority.Agent(self.Key)
	if err != nil {
		t.Fatal(err)
	}
	p := &purse{token: first}
	connected := make(chan struct{}, 10)
	if p.Transport, err = nats.Dial(t.Context(), nats.Config{
		URL: url, ID: self.ID(), Identity: self, Token: p.Token, Patient: true, MaxDelay: time.Second, Logger: zerolog.Nop(),
		OnConnect: func() { connected <- struct{}{} },
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	<-connected
	a := agent.New(agent.Config{
		Transport: p, Identity: self, Name: "web1", Modules: modules.NewRegistry(), Credentials: p, Logger: zerolog.Nop(),
		Trusted: func(key string) bool { return key == operator.Key },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })

	select {
	case <-connected: // anew, with newer ones
	case <-time.After(30 * time.Second):
		t.Fatal("the agent has not renewed its credentials")
	}
	thief := nats.Config{URL: url, ID: self.ID(), Identity: self, JWT: first, Logger: zerolog.Nop()}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		tr, err := nats.Dial(t.Context(), thief)
		if err != nil {
			break
		}
		_ = tr.Close()
		if time.Now().After(deadline) {
			t.Fatal("the first credentials are good for ever")
		}
	}
	access, err := authority.Controller(operator.Key)
	if err != nil {
		t.Fatal(err)
	}
	bus, err := nats.Dial(t.Context(), nats.Config{URL: url, ID: operator.ID(), Identity: operator, JWT: access, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	within, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if _, err := (&link.Pinger{Transport: bus, Operator: operator}).Await(within, self.Key); err != nil {
		t.Errorf("the agent is not there: %v", err)
	}
}

// serveBroker runs a broker with a registrar until the test ends, and gives its URL.
func serveBroker(t *testing.T, data string, authority *broker.Authority) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- broker.Run(ctx, broker.Config{
			Data: data, Listen: "127.0.0.1:0", Authority: authority, Logger: zerolog.Nop(),
			OnStart: func(open func() (net.Conn, error)) (func(), error) { return beside(data, authority, open) },
		}, func(url string) { ready <- url })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case url := <-ready:
		return url
	case <-time.After(30 * time.Second):
		t.Fatal("the broker is not ready after 30 s")
		return ""
	}
}

// beside serves a registrar from the broker's process.
func beside(data string, authority *broker.Authority, open func() (net.Conn, error)) (func(), error) {
	self, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	token, err := authority.Registrar(self.Key)
	if err != nil {
		return nil, err
	}
	bus, err := nats.Dial(context.Background(), nats.Config{Open: open, ID: self.ID(), Identity: self, JWT: token, Logger: zerolog.Nop()})
	if err != nil {
		return nil, err
	}
	r, err := enrol.Serve(enrol.Config{
		Dir: data, Transport: bus, Authority: authority, Logger: zerolog.Nop(), Publish: func(context.Context) error { return nil },
	})
	return func() { r.Close(); _ = bus.Close() }, err
}
