package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// target is an agent on a bus with somebody who has the whole bus in his hands.
type target struct {
	t        *testing.T
	agent    *Agent
	identity *wire.Identity
	operator *wire.Identity
	attacker wire.Transport
	codec    wire.Codec
	away     atomic.Bool // the broker lets the agent listen to nothing more

	mu   sync.Mutex
	ran  int        // guarded by mu
	keys []wire.Key // of sessions; guarded by mu
	// listens is called when the agent subscribes to the subjects of a run; guarded by mu
	listens func()
}

// answers makes the operator one who wants what he has begun: questions and batches of sessions that the test has
// opened are answered.
func (g *target) answers() {
	g.t.Helper()
	for _, subject := range []string{wire.QuestionsOfRun("*"), wire.ResultsOfRun("*")} {
		if _, err := g.attacker.Subscribe(subject, g.answer); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *target) answer(m wire.Msg) {
	f, err := wire.Parse(m.Data)
	if err != nil {
		return
	}
	for _, key := range g.known() {
		var b wire.Batch
		if f.Body(&g.codec, wire.SealHost, wire.Keys{Host: &key}, &b) != nil {
			continue
		}
		var ack wire.Acked
		for _, e := range b.Events {
			ack.Seq = e.Seq
		}
		_ = m.Respond(g.pack(wire.Header{Kind: wire.KindAnswer, Run: f.Header.Run, To: f.Header.Nonce}, ack, wire.Packing{Key: &key, Seal: wire.SealHost}))
	}
}

func (g *target) key() wire.Key {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys = append(g.keys, wire.NewKey())
	return g.keys[len(g.keys)-1]
}

func (g *target) known() []wire.Key {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.keys)
}

// fragile is the agent's connection, over which it may stop to hear of anything new.
type fragile struct {
	wire.Transport
	target *target
}

func (b fragile) Subscribe(subject string, f func(wire.Msg)) (wire.Subscription, error) {
	if b.target.listening(); b.target.away.Load() {
		return nil, wire.ErrDenied
	}
	return b.Transport.Subscribe(subject, f)
}

type noArgs struct{}

func newTarget(t *testing.T) *target {
	t.Helper()
	g := &target{t: t, identity: newIdentity(t), operator: newIdentity(t)}
	touch := modules.Define("test.t.touch", "Counts its runs.", func(context.Context, *modules.Env, noArgs) (modules.Result, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.ran++
		return modules.Result{Changed: true}, nil
	})
	var bus mem.Bus
	g.attacker = bus.Connect(g.operator.ID()) // answers go to the operator alone
	client := bus.Connect(g.identity.ID())
	ready := make(chan struct{})
	g.agent = New(Config{
		Transport: fragile{client, g}, Identity: g.identity, Name: "web1", Fleet: "prod", Modules: modules.NewRegistry(touch),
		Trusted:   func(k string) bool { return k == g.operator.Key },
		Heartbeat: -1, Grace: -1, Ready: func() { close(ready) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := g.agent.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = client.Close()
		_ = g.attacker.Close()
	})
	<-ready
	g.answers()
	return g
}

func (g *target) listening() {
	g.mu.Lock()
	f := g.listens
	g.mu.Unlock()
	if f != nil {
		f()
	}
}

func newIdentity(t *testing.T) *wire.Identity {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// opening is a plan of one step for the target.
func (g *target) opening(run string) wire.Opening {
	g.t.Helper()
	p := &plan.Plan{Version: plan.Version, Play: plan.Play{ID: "0.0"}, Blocks: []plan.Block{{ID: "1", Body: []plan.Node{{Step: &plan.Step{
		ID: "1.0", Kind: plan.Task, Action: "test.t.touch", Written: "touch", Args: plan.Dict{Dict: value.NewDict()}}}}}}}
	digest, body, err := p.Digest()
	if err != nil {
		g.t.Fatal(err)
	}
	return wire.Opening{Start: wire.Start{Run: run, Host: "web1", Play: "0.0", Digest: digest, Plan: body, Lease: time.Minute},
		HostKey: g.key(), RunKey: wire.NewKey(), Turn: 1}
}

// send publishes a frame and waits until the target has taken it: messages of one subject come in order, and the
// second, meant for another fleet, is answered with a refusal.
func (g *target) send(k wire.Kind, frame []byte) {
	g.t.Helper()
	if err := g.attacker.Publish(wire.HostSubject(g.identity.ID(), k), frame); err != nil {
		g.t.Fatal(err)
	}
	h := g.header(k, "r")
	h.Fleet = "the fence"
	g.request(k, g.pack(h, struct{}{}, wire.Packing{Sign: g.operator}))
}

func (g *target) request(k wire.Kind, frame []byte) wire.Ack {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	raw, err := g.attacker.Request(ctx, wire.HostSubject(g.identity.ID(), k), frame)
	if err != nil {
		g.t.Fatal(err)
	}
	f, err := wire.Parse(raw)
	if err != nil {
		g.t.Fatal(err)
	}
	var ack wire.Ack
	if err := f.Body(&g.codec, "", wire.Keys{}, &ack); err != nil {
		g.t.Fatal(err)
	}
	return ack
}

func (g *target) pack(h wire.Header, body any, p wire.Packing) []byte {
	g.t.Helper()
	frame, err := g.codec.Pack(h, body, p)
	if err != nil {
		g.t.Fatal(err)
	}
	return frame
}

func (g *target) header(k wire.Kind, run string) wire.Header {
	return wire.Header{Kind: k, Fleet: "prod", Run: run, Targets: []string{g.identity.ID()}}
}

func (g *target) runs() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ran
}

func TestAttackersRunNothing(t *testing.T) {
	g := newTarget(t)
	stranger, other := newIdentity(t), newIdentity(t)
	good := wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator}
	plan := wire.KindPlan
	before := func() time.Time { return time.Now().Add(-time.Hour) }
	later := func() time.Time { return time.Now().Add(time.Hour) }
	head := func(change func(*wire.Header)) wire.Header {
		h := g.header(plan, "r")
		change(&h)
		return h
	}
	altered := g.pack(g.header(plan, "r"), g.opening("r"), good)
	altered[len(altered)-1] ^= 1
	tests := []struct {
		name  string
		kind  wire.Kind
		frame []byte
		want  wire.Reason
	}{
		{"garbage", plan, []byte("{}"), wire.Malformed},
		{"empty", plan, nil, wire.Malformed},
		{"altered", plan, altered, wire.Altered},
		{"signed by a stranger", plan, g.pack(g.header(plan, "r"), g.opening("r"), wire.Packing{Sign: stranger, To: g.identity.XKey, Box: stranger}), wire.Untrusted},
		{"not signed", plan, g.pack(g.header(plan, "r"), g.opening("r"), wire.Packing{To: g.identity.XKey, Box: stranger}), wire.Forged},
		{"for another agent", plan, g.pack(head(func(h *wire.Header) { h.Targets = []string{other.ID()} }), g.opening("r"), good), wire.Audience},
		{"for all of a run", plan, g.pack(head(func(h *wire.Header) { h.Targets = []string{wire.TargetRun} }), g.opening("r"), good), wire.Audience},
		{"of another fleet", plan, g.pack(head(func(h *wire.Header) { h.Fleet = "test" }), g.opening("r"), good), wire.Audience},
		{"of another run", plan, g.pack(g.header(plan, "r1"), g.opening("r2"), good), wire.Untrusted},
		{"expired", plan, g.pack(g.header(plan, "r"), g.opening("r"), wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator, Now: before}), wire.Expired},
		{"of tomorrow", plan, g.pack(g.header(plan, "r"), g.opening("r"), wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator, Now: later}), wire.Expired},
		{"in clear", plan, g.pack(g.header(plan, "r"), g.opening("r"), wire.Packing{Sign: g.operator}), wire.Altered},
		{"sealed for another", plan, g.pack(g.header(plan, "r"), g.opening("r"), wire.Packing{Sign: g.operator, To: other.XKey, Box: g.operator}), wire.Unsealed},
		{"a plan as a call", wire.KindExec, g.pack(g.header(plan, "r"), g.opening("r"), good), wire.Altered},
		{"a body that is none", plan, g.pack(g.header(plan, "r"), []int{1}, good), wire.Malformed},
	}
	for _, tt := range tests {
		count := g.agent.Refused()[tt.want]
		g.send(tt.kind, tt.frame)
		g.agent.work.Wait()
		if tt.want == wire.Audience {
			count++ // the fence
		}
		if g.agent.Refused()[tt.want] <= count {
			t.Errorf("%s: not refused as %q: %v", tt.name, tt.want, g.agent.Refused())
		}
	}
	if n := g.runs(); n != 0 {
		t.Fatalf("the module ran %d times", n)
	}
}

// A run belongs to the operator that opened it: another one, though trusted, can neither steer nor end it.
func TestRunsBelongToTheirOperator(t *testing.T) {
	for name, each := range map[string]bool{"a subject for each kind": false, "one subject": true} {
		t.Run(name, func(t *testing.T) { stealRun(t, each) })
	}
}

func stealRun(t *testing.T, each bool) {
	to := wire.RunSubject("r", wire.KindAdvance)
	if each {
		to = wire.ToEach("r")
	}
	g := newTarget(t)
	second := newIdentity(t)
	g.agent.cfg.Trusted = func(k string) bool { return k == g.operator.Key || k == second.Key }
	in := g.opening("r")
	var p plan.Plan
	if err := json.Unmarshal(in.Start.Plan, &p); err != nil {
		t.Fatal(err)
	}
	p.Play.Gated, p.Blocks[0].Body[0].Step.Gate = true, true
	digest, body, err := p.Digest()
	if err != nil {
		t.Fatal(err)
	}
	in.Start.Digest, in.Start.Plan, in.Each = digest, body, each
	if ack := g.request(wire.KindPlan, g.pack(g.header(wire.KindPlan, "r"), in,
		wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator})); ack.Err != "" {
		t.Fatal(ack.Err)
	}

	stolen := g.opening("r") // the run of the other, with keys of one's own
	g.send(wire.KindPlan, g.pack(g.header(wire.KindPlan, "r"), stolen, wire.Packing{Sign: second, To: g.identity.XKey, Box: second}))
	g.send(wire.KindCancel, g.pack(g.header(wire.KindCancel, "r"), wire.Cancel{Run: "r"}, wire.Packing{Sign: second}))
	g.send(wire.KindEnd, g.pack(g.header(wire.KindEnd, "r"), wire.End{Run: "r"}, wire.Packing{Sign: second}))
	all := wire.Header{Kind: wire.KindAdvance, Fleet: "prod", Run: "r", Targets: []string{wire.TargetRun}}
	advance := wire.Advance{Run: "r", Play: "0.0", Seq: 1, Step: "1.0"}
	wrong := wire.NewKey()
	for _, p := range []wire.Packing{
		{Sign: second, Key: &in.RunKey, Seal: wire.SealRun},
		{Sign: g.operator, Key: &wrong, Seal: wire.SealRun},
		{Sign: g.operator},
		{Key: &in.RunKey, Seal: wire.SealRun},
	} {
		if err := g.attacker.Publish(to, g.pack(all, advance, p)); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []wire.Kind{wire.KindPlan, wire.KindExec, wire.KindTrust, wire.KindPing} { // not for all of a run
		other := all
		other.Kind = k
		if err := g.attacker.Publish(to, g.pack(other, advance, wire.Packing{Sign: g.operator, Key: &in.RunKey, Seal: wire.SealRun})); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.agent.runs.sessions()) != 1 {
		t.Fatalf("%d sessions are left", len(g.agent.runs.sessions()))
	}
	s := g.agent.runs.sessions()[0]
	if g.runs() != 0 {
		t.Error("the step ran without the operator's advance")
	}

	// The operator's own advance still counts, and comes after all of those.
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		<-s.playing
	}()
	if err := g.attacker.Publish(to,
		g.pack(all, advance, wire.Packing{Sign: g.operator, Key: &in.RunKey, Seal: wire.SealRun})); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ran:
	case <-time.After(20 * time.Second):
		t.Fatal("the operator's advance does nothing")
	}
	if n := g.runs(); n != 1 {
		t.Errorf("the step ran %d times", n)
	}
}

// One signature may be for openings of several agents. Who has one, or the broker who has all, makes no other of them.
func TestJointSignaturesRunWhatWasMeantOnce(t *testing.T) {
	g := newTarget(t)
	other := newIdentity(t)
	joint := wire.BatchSigner{By: g.operator}
	packing := func(to *wire.Identity) wire.Packing {
		return wire.Packing{Sign: g.operator, To: to.XKey, Box: g.operator, Jointly: func(head []byte) ([]byte, error) { return joint.Sign(head, 20*time.Second) }}
	}
	frames := make([][]byte, 32)
	var packed sync.WaitGroup
	for i := range frames { // as many as one signature is for: nobody waits
		h, to := g.header(wire.KindPlan, "r"), g.identity
		if i > 0 {
			h.Targets, to = []string{other.ID()}, other
		}
		in := g.opening("r")
		packed.Go(func() { frames[i] = g.pack(h, in, packing(to)) })
	}
	packed.Wait()
	own, theirs := taken(t, frames[0]), taken(t, frames[1])
	stolen := bytes.Replace(theirs.head, []byte(other.ID()), []byte(g.identity.ID()), 1)
	for name, c := range map[string]struct {
		frame []byte
		want  wire.Reason
	}{
		"another agent's":                   {frames[1], wire.Audience},
		"another agent's with one's own id": {made(stolen, theirs.sig, theirs.body), wire.Forged},
		"with the way of one's own":         {made(stolen, own.sig, theirs.body), wire.Forged},
		"one's own with the body of others": {made(own.head, own.sig, theirs.body), wire.Altered},
		"one's own without a way":           {made(own.head, own.sig[:64], own.body), wire.Forged},
	} {
		count := g.agent.Refused()[c.want]
		g.send(wire.KindPlan, c.frame)
		g.agent.work.Wait()
		if c.want == wire.Audience {
			count++ // the fence
		}
		if g.agent.Refused()[c.want] <= count {
			t.Errorf("%s: not refused as %q: %v", name, c.want, g.agent.Refused())
		}
	}
	if n := g.runs(); n != 0 {
		t.Fatalf("the module ran %d times", n)
	}
	for range 2 {
		if ack := g.request(wire.KindPlan, frames[0]); ack.Err != "" {
			t.Fatal(ack.Err)
		}
	}
	s := g.agent.runs.sessions()[0]
	s.mu.Lock()
	playing := s.playing
	s.mu.Unlock()
	<-playing
	if n := g.runs(); n != 1 {
		t.Errorf("the module ran %d times", n)
	}
}

// parts are those of a frame.
type parts struct{ head, sig, body []byte }

const frameMagic = "hk1\n"

func taken(t *testing.T, frame []byte) parts {
	t.Helper()
	field := func(b []byte) (field, rest []byte) {
		n, size := binary.Uvarint(b)
		return b[size : size+int(n)], b[size+int(n):]
	}
	var p parts
	p.head, p.body = field(frame[len(frameMagic):])
	p.sig, p.body = field(p.body)
	return p
}

func made(head, sig, body []byte) []byte {
	b := append(binary.AppendUvarint([]byte(frameMagic), uint64(len(head))), head...)
	return append(append(binary.AppendUvarint(b, uint64(len(sig))), sig...), body...)
}
