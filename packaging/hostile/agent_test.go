//go:build hostile

package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/modules"
	"hark/modules/all"
	"hark/playbook/plan"
)

// hostile is an agent with a good key and good credentials whose host was taken over. It is the project's own agent,
// so that it takes part in plays as others do, with its hands on the connection: it knows the keys of its sessions,
// alters what the agent says, and says what it likes beside it. Without callbacks it is honest.
type hostile struct {
	t        *testing.T
	name     string
	identity *wire.Identity
	bus      *nats.Transport
	codec    wire.Codec

	mu sync.Mutex
	// onPlan is called when a plan was handed to it, before it is acknowledged: the session is open at the controller.
	onPlan func(*session) // guarded by mu
	// onEvent replaces an event by others, before they are sent; none drops it. Those it gives are numbered anew.
	onEvent func(*session, wire.Event) []wire.Event // guarded by mu
	// onAsk may change the agent's own questions.
	onAsk func(*session, *wire.Ask) // guarded by mu
	// onResult may change the result of a delegated call.
	onResult func(*session, *wire.ExecDone) // guarded by mu
	// onExec is called when a call was handed to it, before it is done.
	onExec func(*session, *wire.Exec) // guarded by mu

	sessions map[string]*session // by run; guarded by mu
	heard    []heard             // guarded by mu
	holds    []string            // all that it could open, as text; guarded by mu
}

// heard is a question with what it was answered.
type heard struct {
	ask    wire.Ask
	answer wire.Answer
}

// session is what the hostile agent knows of a run.
type session struct {
	h      *hostile
	run    string
	issuer string // the operator whose run it is
	start  wire.Start
	key    wire.Key // of this agent and the controller
	runKey wire.Key // of all agents of the run

	mu   sync.Mutex
	sent map[uint64][]wire.Event // what became of the agent's events; guarded by mu
	last uint64                  // number of the last event that was sent; guarded by mu
}

// takeOver makes the hostile agent and waits until it is there. token, if given, lets it in.
func (s *site) takeOver(name, token string) *hostile {
	s.t.Helper()
	h := &hostile{t: s.t, name: name, sessions: map[string]*session{}}
	var err error
	if h.identity, err = wire.NewIdentity(); err != nil {
		s.t.Fatal(err)
	}
	if token == "" {
		token = s.token()
	}
	joined := s.join(token, h.identity, name)
	if joined.JWT == "" {
		s.t.Fatalf("%s was not let in: %+v", name, joined)
	}
	h.bus, err = nats.Dial(s.t.Context(), nats.Config{URL: s.url, ID: h.identity.ID(), Identity: h.identity, JWT: joined.JWT, Logger: zerolog.Nop()})
	if err != nil {
		s.t.Fatal(err)
	}
	a := agent.New(agent.Config{
		Transport: hands{h.bus, h}, Identity: h.identity, Name: name, Trusted: func(string) bool { return true },
		Modules: modules.NewRegistry(all.Modules()...), Cache: s.t.TempDir(), Logger: zerolog.Nop(), Grace: -1,
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		_ = h.bus.Close()
	})
	s.awaitAgent(name)
	return h
}

// join asks to be enrolled as hark-agent join does, once.
func (s *site) join(text string, identity *wire.Identity, name string) wire.Joined {
	s.t.Helper()
	token, err := wire.ParseJoinToken(text)
	if err != nil {
		s.t.Fatal(err)
	}
	bearer, err := token.Identity()
	if err != nil {
		s.t.Fatal(err)
	}
	bus, err := nats.Dial(s.t.Context(), nats.Config{URL: token.URL, ID: bearer.ID(), Identity: bearer, JWT: token.JWT, Logger: zerolog.Nop()})
	if err != nil {
		s.t.Fatal(err)
	}
	defer bus.Close()
	nonce := wire.NewNonce()
	proof, err := bearer.Sign(wire.JoinProof(identity.Key, name, nonce))
	if err != nil {
		s.t.Fatal(err)
	}
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: wire.KindJoin, Nonce: nonce},
		wire.Join{Name: name, XKey: identity.XKey, Token: bearer.Key, Proof: proof}, wire.Packing{Sign: identity})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	raw, err := bus.Request(ctx, wire.JoinSubject, frame)
	if err != nil {
		s.t.Fatal(err)
	}
	var joined wire.Joined
	if err := json.Unmarshal(raw, &joined); err != nil {
		s.t.Fatal(err)
	}
	return joined
}

// reset makes the agent honest again. What it heard it keeps.
func (h *hostile) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.onPlan, h.onEvent, h.onAsk, h.onResult, h.onExec = nil, nil, nil, nil, nil
}

// hello is what an agent says of itself that takes part in runs.
func (h *hostile) hello(runs ...string) wire.Hello {
	return wire.Hello{ID: h.identity.ID(), Name: h.name, Version: "1", Proto: wire.Version, OS: "linux", Arch: "amd64", Boot: "b", Runs: runs, XKey: h.identity.XKey}
}

// say publishes a message of presence with whatever body, as good as the agent's own.
func (h *hostile) say(k wire.Kind, body any) {
	h.t.Helper()
	frame, err := h.codec.Pack(wire.Header{Kind: k}, body, wire.Packing{Sign: h.identity})
	if err == nil {
		err = h.bus.Publish(wire.Presence(h.identity.ID(), k), frame)
	}
	if err == nil {
		err = h.bus.Flush(h.t.Context())
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// answers are the questions that were put and what came of them.
func (h *hostile) answers() []heard {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]heard(nil), h.heard...)
}

// ask puts a question of the run: run, play and host are filled in where they are empty.
func (s *session) ask(a wire.Ask) (wire.Answer, error) {
	if a.Run == "" {
		a.Run = s.run
	}
	if a.Play == "" {
		a.Play = s.start.Play
	}
	if a.Host == "" {
		a.Host = s.start.Host
	}
	var out wire.Answer
	err := s.request(wire.Questions(s.h.identity.ID(), s.run, wire.KindAsk), wire.KindAsk, a, wire.Packing{}, &out)
	if err == nil {
		s.h.hold(out)
		s.h.mu.Lock()
		s.h.heard = append(s.h.heard, heard{a, out})
		s.h.mu.Unlock()
	}
	return out, err
}

// done sends the result of a call that this agent was, or was not, given.
func (s *session) done(d wire.ExecDone) error {
	var ack wire.Acked
	return s.request(wire.Results(s.run, s.h.identity.ID(), wire.KindExecDone), wire.KindExecDone, d, wire.Packing{Sign: s.h.identity}, &ack)
}

// batch sends events as they are, numbers and all.
func (s *session) batch(b wire.Batch) error {
	var ack wire.Acked
	return s.request(wire.Results(s.run, s.h.identity.ID(), wire.KindBatch), wire.KindBatch, b, wire.Packing{Sign: s.h.identity}, &ack)
}

// askLimit is how long the controller may take for an answer: one that it refuses to give comes at once.
const askLimit = 10 * time.Second

func (s *session) request(subject string, k wire.Kind, body any, p wire.Packing, into any) error {
	p.Key, p.Seal = &s.key, wire.SealHost
	frame, err := s.h.codec.Pack(wire.Header{Kind: k, Run: s.run}, body, p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	raw, err := s.h.bus.Request(ctx, subject, frame)
	if err != nil {
		return err
	}
	f, err := wire.Parse(raw)
	if err != nil {
		return err
	}
	return f.Body(&s.h.codec, wire.SealHost, wire.Keys{Host: &s.key}, into)
}

// plan is what the host was handed.
func (s *session) plan() (*plan.Plan, error) {
	body := []byte(s.start.Plan)
	for eof := len(body) > 0; !eof; {
		a, err := s.ask(wire.Ask{Kind: wire.AskPlan, Digest: s.start.Digest, Offset: int64(len(body))})
		if err == nil && a.Err != "" {
			err = errors.New(a.Err)
		}
		if err != nil {
			return nil, err
		}
		body, eof = append(body, a.Data...), a.EOF
	}
	var p plan.Plan
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}
	return &p, nil
}

// step is the id of the first step with an action, as the playbook writes it or in full.
func (s *session) step(action string) plan.ID {
	for _, one := range s.steps() {
		if one.Action == action || one.Written == action {
			return one.ID
		}
	}
	s.h.t.Errorf("the plan of %s has no step %s", s.start.Host, action)
	return ""
}

// steps are those of the plan that the host was handed, handlers among them.
func (s *session) steps() []*plan.Step {
	p, err := s.plan()
	if err != nil {
		s.h.t.Error(err)
		return nil
	}
	var all []*plan.Step
	var walk func(nodes []plan.Node)
	walk = func(nodes []plan.Node) {
		for _, n := range nodes {
			if n.Step != nil {
				all = append(all, n.Step)
			}
			if n.Block != nil {
				walk(n.Block.Body)
				walk(n.Block.Rescue)
				walk(n.Block.Always)
			}
		}
	}
	for i := range p.Blocks {
		walk(p.Blocks[i].Body)
		walk(p.Blocks[i].Rescue)
		walk(p.Blocks[i].Always)
	}
	for i := range p.Handlers {
		all = append(all, p.Handlers[i].Step)
	}
	return all
}
