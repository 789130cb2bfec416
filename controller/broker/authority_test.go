package broker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/fleet/roster"
)

// guarded is a broker with an authority, and its URL.
func guarded(t *testing.T) (*Authority, string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	a, err := OpenAuthority(data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Data: data, Listen: "127.0.0.1:0", Authority: a, Logger: zerolog.Nop()}, func(url string) { ready <- url })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case url := <-ready:
		return a, url
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	case <-time.After(30 * time.Second):
		t.Fatal("the broker is not ready after 30 s")
	}
	panic("unreachable")
}

type client struct {
	*nats.Transport
	id *wire.Identity
}

// connect opens a connection with a token of a role.
func connect(t *testing.T, url string, role func(string) (string, error)) client {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	token, err := role(id.Key)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := nats.Dial(t.Context(), nats.Config{URL: url, ID: id.ID(), Identity: id, JWT: token, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return client{tr, id}
}

func TestNobodyConnectsWithoutAToken(t *testing.T) {
	_, url := guarded(t)
	stranger, err := OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	forged, err := stranger.Controller(id.Key)
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]nats.Config{
		"nothing":         {URL: url, ID: id.ID()},
		"a key alone":     {URL: url, ID: id.ID(), Identity: id},
		"another's token": {URL: url, ID: id.ID(), Identity: id, JWT: forged},
	} {
		if tr, err := nats.Dial(t.Context(), cfg); err == nil {
			_ = tr.Close()
			t.Errorf("with %s: connected", name)
		}
	}
}

func TestTokensComeFromFiles(t *testing.T) {
	a, url := guarded(t)
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	token, err := a.Agent(id.Key)
	if err != nil {
		t.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, _ := user.PublicKey()
	seed, _ := user.Seed()
	foreign, err := a.Agent(key)
	if err != nil {
		t.Fatal(err)
	}
	creds, err := jwt.FormatUserConfig(foreign, seed)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text     []byte
		identity *wire.Identity
		as       string // id
		ok       bool
	}{
		"a token for the own key":   {[]byte(token + "\n"), id, id.ID(), true},
		"credentials with a key":    {creds, nil, wire.IDOf(key), true},
		"a token without its key":   {[]byte(token), nil, id.ID(), false},
		"a token of another's key":  {[]byte(foreign), id, id.ID(), false},
		"something else altogether": {[]byte("hello"), id, id.ID(), false},
	} {
		path := filepath.Join(t.TempDir(), "creds")
		if err := os.WriteFile(path, tt.text, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := nats.Dial(t.Context(), nats.Config{URL: url, ID: tt.as, Identity: tt.identity, Credentials: path})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = tr.Close()
		}
	}
	_, err = nats.Dial(t.Context(), nats.Config{URL: url, ID: id.ID(), Identity: id, Credentials: "/does/not/exist", Patient: true})
	if err == nil {
		t.Error("a file that is not there is no error")
	}
}

func TestAgentsSpeakForThemselvesOnly(t *testing.T) {
	a, url := guarded(t)
	checkAgentsRights(t, a, url)
}

// Operators read the roster and change nothing of the streams.
func TestOperatorsReadTheRosterOnly(t *testing.T) {
	a, url := guarded(t)
	operator := connect(t, url, a.Controller)
	for _, what := range []string{"STREAM.PURGE", "STREAM.DELETE", "STREAM.UPDATE", "STREAM.MSG.DELETE", "STREAM.CREATE", "STREAM.RESTORE", "STREAM.SNAPSHOT", "CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE"} {
		if err := operator.Publish("$JS.API."+what+"."+roster.StreamName, nil); err != nil {
			t.Fatal(err)
		}
		if err := operator.Flush(t.Context()); !errors.Is(err, wire.ErrDenied) {
			t.Errorf("%s: %v", what, err)
		}
	}
	agent := connect(t, url, a.Agent)
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: wire.KindHello}, wire.Hello{Name: "web1"}, wire.Packing{Sign: agent.id})
	if err == nil { // the stream says that it has it
		_, err = agent.Conn().RequestWithContext(t.Context(), wire.Presence(agent.id.ID(), wire.KindHello), frame)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if all, err := roster.New(operator.Conn(), nil).All(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("the roster: %v, %v", all, err)
		}
	}
	if _, err := roster.New(operator.Conn(), nil).Forget(t.Context(), "web1"); err == nil {
		t.Error("an operator purged the roster")
	}
}

func checkAgentsRights(t *testing.T, a *Authority, url string) {
	t.Helper()
	agent, other, controller := connect(t, url, a.Agent), connect(t, url, a.Agent), connect(t, url, a.Controller)
	me, him := agent.id.ID(), other.id.ID()
	publish := func(subject string) func() error { return func() error { return agent.Publish(subject, nil) } }
	subscribe := func(subject string) func() error {
		return func() error {
			_, err := agent.Subscribe(subject, func(wire.Msg) {})
			return err
		}
	}
	for _, tt := range []struct {
		name string
		do   func() error
		may  bool
	}{
		{"listen to its plans", subscribe(wire.HostSubject(me, wire.KindPlan)), true},
		{"listen to a run", subscribe(wire.RunSubject("r1", wire.KindAdvance)), true},
		{"send results", publish(wire.Results("r1", me, wire.KindBatch)), true},
		{"ask", publish(wire.Questions(me, "r1", wire.KindAsk)), true},
		{"say hello", publish(wire.Presence(me, wire.KindHello)), true},
		{"listen to another's plans", subscribe(wire.HostSubject(him, wire.KindPlan)), false},
		{"listen to all", subscribe(">"), false},
		{"listen to another's answers", subscribe(wire.Inbox(him) + ".>"), false},
		{"listen to results", subscribe(wire.ResultsOfRun("r1")), false},
		{"send another's results", publish(wire.Results("r1", him, wire.KindBatch)), false},
		{"ask as another", publish(wire.Questions(him, "r1", wire.KindAsk)), false},
		{"say hello as another", publish(wire.Presence(him, wire.KindHello)), false},
		{"command an agent", publish(wire.HostSubject(him, wire.KindPlan)), false},
		{"advance a run", publish(wire.RunSubject("r1", wire.KindAdvance)), false},
		{"answer unasked", publish(wire.Inbox(him) + ".x"), false},
		{"enrol somebody", publish(wire.Registrar("approve")), false},
		{"ask to be enrolled again", publish(wire.JoinSubject), false},
		{"forge a disconnection", publish(wire.DisconnectSubject), false},
		{"reach the streams", publish("$JS.API.STREAM.DELETE." + roster.StreamName), false},
	} {
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		err := agent.Flush(t.Context())
		if tt.may && err != nil || !tt.may && !errors.Is(err, wire.ErrDenied) {
			t.Errorf("%s: %v, want allowed %v", tt.name, err, tt.may)
		}
	}

	// It may answer what it is asked.
	if _, err := agent.Subscribe(wire.HostSubject(me, wire.KindPing), func(m wire.Msg) { _ = m.Respond(make([]byte, 2<<20)) }); err != nil {
		t.Fatal(err)
	}
	if err := agent.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer, err := controller.Request(t.Context(), wire.HostSubject(me, wire.KindPing), nil); err != nil || len(answer) != 2<<20 {
		t.Errorf("%d bytes, %v", len(answer), err)
	}
}

func TestControllersReadTheRoster(t *testing.T) {
	a, url := guarded(t)
	checkRoster(t, a, url)
}

func checkRoster(t *testing.T, a *Authority, url string) {
	t.Helper()
	agent, controller := connect(t, url, a.Agent), connect(t, url, a.Controller)
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: wire.KindHello}, wire.Hello{Name: "web1"}, wire.Packing{Sign: agent.id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Conn().RequestWithContext(t.Context(), wire.Presence(agent.id.ID(), wire.KindHello), frame); err != nil { // the stream says that it has it
		t.Fatal(err)
	}
	all, err := roster.New(controller.Conn(), nil).All(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "web1" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAgentsHearHowManyTheyAre from the registrar, and from no other agent.
func TestAgentsHearHowManyTheyAre(t *testing.T) {
	a, url := guarded(t)
	checkRoster(t, a, url) // one has said hello
	agent, other, registrar := connect(t, url, a.Agent), connect(t, url, a.Agent), connect(t, url, a.Registrar)
	heard := make(chan []byte, 1)
	if _, err := agent.Subscribe(wire.ToAll(wire.KindFleetSize), func(m wire.Msg) { heard <- m.Data }); err != nil {
		t.Fatal(err)
	}
	if err := agent.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := other.Publish(wire.ToAll(wire.KindFleetSize), []byte(`{"agents":1000000}`)); err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(t.Context()); !errors.Is(err, wire.ErrDenied) {
		t.Errorf("an agent may say how many there are: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		roster.PublishFleetSize(ctx, registrar.Conn(), func(err error) { t.Error(err) })
	}()
	select {
	case text := <-heard:
		if n := wire.ParseFleetSize(text); n != 1 {
			t.Errorf("there are %d agents", n)
		}
	case <-time.After(20 * time.Second):
		t.Error("nobody says how many there are")
	}
	cancel()
	<-ended
}

func TestAuthorityKeepsItsKeys(t *testing.T) {
	dir := t.TempDir()
	var keys []string
	for range 2 {
		a, err := OpenAuthority(dir)
		if err != nil {
			t.Fatal(err)
		}
		key, err := a.account.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	if keys[0] != keys[1] {
		t.Error("the account changed")
	}
	a, err := OpenAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Agent("nonsense"); err == nil {
		t.Error("a token for what is no key")
	}
}
