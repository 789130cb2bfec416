package enrol_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/controller/broker"
	"hark/controller/internal/fleet/enrol"
)

// office is a registrar on a bus, with an operator.
type office struct {
	t         *testing.T
	dir       string
	bus       mem.Bus
	authority *broker.Authority
	client    *enrol.Client
	published int
	now       time.Time
	registrar *enrol.Registrar
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, dir: t.TempDir(), now: time.Now()}
	var err error
	if o.authority, err = broker.OpenAuthority(o.dir); err != nil {
		t.Fatal(err)
	}
	o.serve()
	t.Cleanup(func() { o.registrar.Close() })
	o.client = o.operator(o.authority)
	return o
}

func (o *office) serve() {
	o.t.Helper()
	var err error
	o.registrar, err = enrol.Serve(enrol.Config{
		Dir: o.dir, Transport: o.bus.Connect("registrar"), Authority: o.authority, Logger: zerolog.Nop(),
		Publish: func(context.Context) error { o.published++; return nil }, Now: func() time.Time { return o.now },
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) operator(a *broker.Authority) *enrol.Client {
	o.t.Helper()
	id := identity(o.t)
	access, err := a.Controller(id.Key)
	if err != nil {
		o.t.Fatal(err)
	}
	return &enrol.Client{Transport: o.bus.Connect(id.ID()), Operator: id, Access: access}
}

func identity(t *testing.T) *wire.Identity {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (o *office) token(t enrol.Token) wire.JoinToken {
	o.t.Helper()
	if t.Uses == 0 {
		t.Uses = 1
	}
	t.Expires = o.now.Add(time.Hour)
	token, err := o.client.MakeToken(o.t.Context(), t)
	if err != nil {
		o.t.Fatal(err)
	}
	return token
}

// join asks as an agent does. The error is that there was no answer.
func (o *office) join(token wire.JoinToken, agent *wire.Identity, name string) (wire.Joined, error) {
	o.t.Helper()
	bearer, err := token.Identity()
	if err != nil {
		o.t.Fatal(err)
	}
	nonce := wire.NewNonce()
	proof, err := bearer.Sign(wire.JoinProof(agent.Key, name, nonce))
	if err != nil {
		o.t.Fatal(err)
	}
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: wire.KindJoin, Nonce: nonce}, wire.Join{Name: name, XKey: agent.XKey, Token: bearer.Key, Proof: proof},
		wire.Packing{Sign: agent})
	if err != nil {
		o.t.Fatal(err)
	}
	return o.send(bearer, frame)
}

func (o *office) send(bearer *wire.Identity, frame []byte) (wire.Joined, error) {
	o.t.Helper()
	tr := o.bus.Connect(bearer.ID())
	defer tr.Close()
	ctx, cancel := context.WithTimeout(o.t.Context(), 300*time.Millisecond)
	defer cancel()
	var out wire.Joined
	raw, err := tr.Request(ctx, wire.JoinSubject, frame)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

func (o *office) mustJoin(token wire.JoinToken, agent *wire.Identity, name string) wire.Joined {
	o.t.Helper()
	out, err := o.join(token, agent, name)
	if err != nil {
		o.t.Fatal(err)
	}
	return out
}

// keyOf is the key of the agent that the book has under a name.
func (o *office) keyOf(name string) (string, error) {
	a, err := o.client.Find(o.t.Context(), name)
	if a == nil || err != nil {
		return "", err
	}
	return a.Key, nil
}

func TestTokensLetAgentsIn(t *testing.T) {
	o := open(t)
	token := o.token(enrol.Token{Uses: 2, Approve: true})
	one, two, three := identity(t), identity(t), identity(t)
	first := o.mustJoin(token, one, "web1")
	if first.JWT == "" || first.Err != "" {
		t.Fatalf("%+v", first)
	}
	if again := o.mustJoin(token, one, "web1"); again.JWT == "" {
		t.Errorf("the same agent again: %+v", again)
	}
	if key, err := o.keyOf("web1"); err != nil || key != one.Key {
		t.Errorf("web1 is %q (%v)", key, err)
	}
	for _, tt := range []struct {
		agent *wire.Identity
		name  string
		want  string
	}{
		{two, "web1", "is enrolled with another key"},
		{two, "a b", "cannot be the name of an agent"},
		{two, "localhost", "cannot be the name of an agent"},
		{two, "all", "cannot be the name of an agent"},
		{two, "hark:", "cannot be the name of an agent"},
		{two, "127.0.0.1", "it is an address"},
		{two, "web2", ""},
		{three, "web3", "as often as it may be"},
	} {
		if out := o.mustJoin(token, tt.agent, tt.name); tt.want == "" != (out.Err == "") || !strings.Contains(out.Err, tt.want) {
			t.Errorf("%s: %+v, want %q", tt.name, out, tt.want)
		}
	}
	o.registrar.Close()
	o.serve() // the book survives
	o.now = o.now.Add(2 * time.Hour)
	if out := o.mustJoin(token, one, "web1"); !strings.Contains(out.Err, "expired") {
		t.Errorf("after its time: %+v", out)
	}
}

func TestTokensMayNameTheHost(t *testing.T) {
	o := open(t)
	token := o.token(enrol.Token{Approve: true, Name: "db1"})
	if out := o.mustJoin(token, identity(t), "web1"); !strings.Contains(out.Err, "for the name db1") {
		t.Errorf("%+v", out)
	}
	if out := o.mustJoin(token, identity(t), "db1"); out.JWT == "" {
		t.Errorf("%+v", out)
	}
	if err := o.client.DropToken(t.Context(), "nonsense"); err == nil {
		t.Error("a token that is not there was withdrawn")
	}
	_, tokens, err := o.client.List(t.Context())
	if err != nil || len(tokens) != 1 {
		t.Fatalf("%v, %v", tokens, err)
	}
	if err := o.client.DropToken(t.Context(), tokens[0].Key); err != nil {
		t.Error(err)
	}
}

func TestOperatorsApproveRevokeAndRemove(t *testing.T) {
	o := open(t)
	token, agent := o.token(enrol.Token{}), identity(t)
	for range 2 {
		if out := o.mustJoin(token, agent, "web1"); !out.Pending || out.JWT != "" {
			t.Fatalf("%+v", out)
		}
	}
	if key, err := o.keyOf("web1"); key != "" || err != nil {
		t.Errorf("a pending agent was found: %q, %v", key, err)
	}
	if list, err := o.client.Approve(t.Context(), "web1"); err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if out := o.mustJoin(token, agent, "web1"); out.JWT == "" {
		t.Errorf("%+v", out)
	}
	if _, err := o.client.Revoke(t.Context(), "web1"); err != nil || o.published != 1 {
		t.Errorf("%v, published %d times", err, o.published)
	}
	if out := o.mustJoin(token, agent, "web1"); !strings.Contains(out.Err, "revoked") {
		t.Errorf("%+v", out)
	}
	if revoked, err := o.authority.Revoked(); err != nil || revoked[agent.Key].IsZero() {
		t.Errorf("%v, %v", revoked, err)
	}
	if _, err := o.client.Approve(t.Context(), agent.Key); err != nil || o.published != 2 {
		t.Errorf("%v, published %d times", err, o.published)
	}
	if revoked, err := o.authority.Revoked(); err != nil || len(revoked) != 0 {
		t.Errorf("%v, %v", revoked, err)
	}
	if list, _, err := o.client.Remove(t.Context(), agent.ID()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	for what, f := range map[string]func(context.Context, string) ([]enrol.Agent, error){"approve": o.client.Approve, "revoke": o.client.Revoke} {
		if _, err := f(t.Context(), "web1"); err == nil {
			t.Errorf("%s: no error for an agent that is not there", what)
		}
	}
}

// TestBookTellsUntilWhenCredentialsAreGood, so that an agent that was away for too long can be told from one that is
// switched off.
func TestBookTellsUntilWhenCredentialsAreGood(t *testing.T) {
	o := open(t)
	o.authority.AgentLife = time.Hour
	over := func(name string) (expired, known bool) {
		t.Helper()
		agents, _, err := o.client.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range agents {
			if a.Name == name {
				return a.Expired(o.now.Add(61 * time.Minute)), !a.Expires.IsZero() && !a.Expired(o.now.Add(58*time.Minute))
			}
		}
		t.Fatalf("%s is not in the book", name)
		return false, false
	}
	by := o.token(enrol.Token{Uses: 2, Approve: true, Expires: o.now.Add(time.Hour)})
	o.mustJoin(by, identity(t), "by-token")
	trying := identity(t)
	if err := o.client.Enrol(t.Context(), enrol.Agent{Name: "by-ssh", Key: trying.Key}); err != nil {
		t.Fatal(err)
	}
	waits := identity(t)
	slow := o.token(enrol.Token{Uses: 1, Expires: o.now.Add(time.Hour)})
	o.mustJoin(slow, waits, "approved")
	if _, err := o.client.Approve(t.Context(), "approved"); err != nil {
		t.Fatal(err)
	}
	o.mustJoin(slow, waits, "approved")
	o.registrar.Close() // what is told was kept
	o.serve()
	for _, name := range []string{"by-token", "by-ssh", "approved"} {
		if expired, known := over(name); !expired || !known {
			t.Errorf("%s: expired after an hour %t, and not before %t", name, expired, known)
		}
	}
	if _, err := o.client.Revoke(t.Context(), "by-ssh"); err != nil {
		t.Fatal(err)
	}
	if expired, _ := over("by-ssh"); expired {
		t.Error("one that was revoked counts as expired")
	}
}

func TestRegistrarTellsOfItsDisk(t *testing.T) {
	o := open(t)
	if trouble, err := o.client.Health(t.Context()); err != nil || trouble != "" && !strings.Contains(trouble, "is full") { // as the disk of the test may be
		t.Errorf("%q, %v", trouble, err)
	}
	if err := os.RemoveAll(o.dir); err != nil {
		t.Fatal(err)
	}
	if trouble, err := o.client.Health(t.Context()); err != nil || trouble == "" {
		t.Errorf("a directory that is gone is no trouble: %v", err)
	}
}

func TestBootstrapReplacesTheKeyOfAName(t *testing.T) {
	o := open(t)
	old, fresh := identity(t), identity(t)
	for _, id := range []*wire.Identity{old, fresh, fresh} {
		agent := enrol.Agent{Name: "web1", Key: id.Key}
		before, err := o.keyOf("web1")
		if err != nil {
			t.Fatal(err)
		}
		if jwt, _, err := o.client.Grant(t.Context(), agent); err != nil || jwt == "" {
			t.Fatalf("%q, %v", jwt, err)
		}
		if key, err := o.keyOf("web1"); err != nil || key != before {
			t.Errorf("an agent that is tried stands in the book: %q, %v", key, err)
		}
		if err := o.client.Enrol(t.Context(), agent); err != nil {
			t.Fatal(err)
		}
	}
	if key, err := o.keyOf("web1"); err != nil || key != fresh.Key {
		t.Errorf("%q, %v", key, err)
	}
	if revoked, err := o.authority.Revoked(); err != nil || revoked[old.Key].IsZero() || len(revoked) != 1 {
		t.Errorf("%v, %v", revoked, err)
	}
	if _, err := o.client.Revoke(t.Context(), "web1"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.client.Grant(t.Context(), enrol.Agent{Name: "web1", Key: fresh.Key}); err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("a revoked agent: %v", err)
	}
}

func TestNobodyElseSteersTheRegistrar(t *testing.T) {
	o := open(t)
	foreign, err := broker.OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stranger, stolen := o.operator(foreign), o.operator(o.authority)
	stolen.Access = o.client.Access // another's token, seen on its way
	for name, c := range map[string]*enrol.Client{"a stranger": stranger, "who shows another's token": stolen} {
		if err := c.Enrol(t.Context(), enrol.Agent{Name: "x", Key: identity(t).Key}); err == nil || !strings.Contains(err.Error(), "no access") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Somebody who has the broker repeats a request, and puts it on the subject of another.
	seen := make(chan wire.Msg, 10)
	spy := o.bus.Connect("spy")
	if _, err := spy.Subscribe(wire.Registrar("*"), func(m wire.Msg) { seen <- m }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.client.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := o.bus.Connect(o.client.Operator.ID())
	m := <-seen
	for subject, want := range map[string]string{m.Subject: "made before", wire.Registrar("remove"): "another request"} {
		raw, err := again.Request(t.Context(), subject, m.Data)
		if err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %s, %v; want %q", subject, raw, err, want)
		}
	}
	// An agent's proof for one name or key is none for another.
	token, agent := o.token(enrol.Token{Approve: true}), identity(t)
	bearer, err := token.Identity()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := bearer.Sign(wire.JoinProof(agent.Key, "web1", "n"))
	if err != nil {
		t.Fatal(err)
	}
	thief := identity(t)
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: wire.KindJoin, Nonce: "n"}, wire.Join{Name: "web1", Token: bearer.Key, Proof: proof}, wire.Packing{Sign: thief})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := o.send(bearer, frame); err == nil {
		t.Errorf("another's proof was answered: %+v", out)
	}
}

// A request that was obeyed is not obeyed again, whoever was restarted meanwhile.
func TestRequestsAreObeyedOnceForEver(t *testing.T) {
	o := open(t)
	agent := identity(t)
	seen := make(chan wire.Msg, 10)
	spy := o.bus.Connect("spy")
	if _, err := spy.Subscribe(wire.Registrar("revoke"), func(m wire.Msg) { seen <- m }); err != nil {
		t.Fatal(err)
	}
	if err := o.client.Enrol(t.Context(), enrol.Agent{Name: "web1", Key: agent.Key}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.client.Revoke(t.Context(), "web1"); err != nil {
		t.Fatal(err)
	}
	m := <-seen
	if _, err := o.client.Approve(t.Context(), "web1"); err != nil {
		t.Fatal(err)
	}
	o.registrar.Close()
	o.serve()
	raw, err := o.bus.Connect(o.client.Operator.ID()).Request(t.Context(), m.Subject, m.Data)
	if err != nil || !strings.Contains(string(raw), "made before") {
		t.Errorf("%s, %v", raw, err)
	}
	if a := o.find("web1"); a.State != enrol.Approved {
		t.Errorf("it is %s", a.State)
	}
}

// An operator who may only command agents sees who is there, and lets nobody in or out.
func TestAdmissionIsNoRightToManageAgents(t *testing.T) {
	o := open(t)
	agent, other := identity(t), identity(t)
	if err := o.client.Enrol(t.Context(), enrol.Agent{Name: "web1", Key: agent.Key}); err != nil {
		t.Fatal(err)
	}
	self := identity(t)
	access, err := o.authority.ControllerUntil(self.Key, time.Time{}, false)
	if err != nil {
		t.Fatal(err)
	}
	limited := &enrol.Client{Transport: o.bus.Connect(self.ID()), Operator: self, Access: access}
	for what, err := range map[string]error{
		"a token":   second(limited.MakeToken(t.Context(), enrol.Token{Uses: 1, Expires: o.now.Add(time.Hour)})),
		"enrolment": limited.Enrol(t.Context(), enrol.Agent{Name: "web2", Key: other.Key}),
		"approval":  second(limited.Approve(t.Context(), "web1")),
		"a revoke":  second(limited.Revoke(t.Context(), "web1")),
		"removal":   third(limited.Remove(t.Context(), "web1")),
		"a grant":   third(limited.Grant(t.Context(), enrol.Agent{Name: "web2", Key: other.Key})),
		"a drop":    limited.DropToken(t.Context(), "x"),
	} {
		if err == nil || !strings.Contains(err.Error(), "may not let agents in or out") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if agents, _, err := limited.List(t.Context()); err != nil || len(agents) != 1 || agents[0].State != enrol.Approved {
		t.Errorf("%+v, %v", agents, err)
	}
	if a, err := limited.Find(t.Context(), "web1"); err != nil || a == nil {
		t.Errorf("%+v, %v", a, err)
	}
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

func FuzzJoinTokens(f *testing.F) {
	good, err := (wire.JoinToken{V: 1, URL: "nats://x", JWT: "j", Seed: "s", Operators: []string{"U"}}).Text()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "hark-join-1.", "hark-join-1.e30", good, good[:len(good)-3]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := wire.ParseJoinToken(text)
		if err == nil && (token.URL == "" || len(token.Operators) == 0) {
			t.Errorf("%q is a token without a broker or an operator", text)
		}
	})
}

// TestWhatCannotBeKeptWasNotDone: with no room for the book nothing of a request stays in memory either.
func TestWhatCannotBeKeptWasNotDone(t *testing.T) {
	o := open(t)
	token := o.token(enrol.Token{Approve: true, Uses: 2})
	o.mustJoin(token, identity(t), "web1")
	gone := o.dir + ".gone" // a book cannot be written where there is no directory
	if err := os.Rename(o.dir, gone); err != nil {
		t.Fatal(err)
	}
	if _, err := o.client.MakeToken(t.Context(), enrol.Token{Uses: 1, Expires: o.now.Add(time.Hour)}); err == nil || !strings.Contains(err.Error(), "cannot keep the book") {
		t.Errorf("a token without a book: %v", err)
	}
	if out := o.mustJoin(token, identity(t), "web2"); out.JWT != "" || !strings.Contains(out.Err, "cannot keep the book") {
		t.Errorf("an agent without a book: %+v", out)
	}
	if err := os.Rename(gone, o.dir); err != nil {
		t.Fatal(err)
	}
	agents, tokens, err := o.client.List(t.Context())
	if err != nil || len(agents) != 1 || len(tokens) != 1 || tokens[0].Uses != 1 {
		t.Errorf("the book has %+v and %+v, %v", agents, tokens, err)
	}
}
