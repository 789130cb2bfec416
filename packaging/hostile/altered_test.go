//go:build hostile

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// mostMemory is what the controller may need in MB, however its agents lie.
const mostMemory = 400

// alterer alters messages by chance. It is safe for concurrent use.
type alterer struct {
	mu     sync.Mutex
	rand   *rand.Rand // guarded by mu
	values [][]byte   // JSON that fields may become
}

func (a *alterer) n(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rand.IntN(n)
}

// alter changes a field somewhere in a body, or the body itself.
func (a *alterer) alter(body any) any {
	raw, err := json.Marshal(body)
	if err != nil {
		return body
	}
	v := a.decode(raw)
	for range 1 + a.n(3) {
		v = a.field(v)
	}
	return v
}

func (a *alterer) field(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || a.n(12) == 0 {
			break
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		k := keys[a.n(len(keys))]
		switch a.n(6) {
		case 0:
			delete(v, k)
		case 1:
			v[keys[a.n(len(keys))]] = v[k]
		default:
			v[k] = a.field(v[k])
		}
		return v
	case []any:
		if len(v) == 0 || a.n(6) == 0 {
			break
		}
		i := a.n(len(v))
		switch a.n(4) {
		case 0:
			return append(v, v[i], v[i])
		case 1:
			return slices.Delete(v, i, i+1)
		}
		v[i] = a.field(v[i])
		return v
	case string:
		if a.n(3) == 0 && len(v) < 100 {
			return strings.Repeat(v+"x", 1+a.n(1000))
		}
	}
	return a.decode(a.values[a.n(len(a.values))])
}

func (a *alterer) decode(raw []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// event is an event altered, but for what it is about: others are no events of the session.
func (a *alterer) event(e wire.Event) wire.Event {
	raw, err := json.Marshal(a.alter(e))
	var other wire.Event
	if err != nil || json.Unmarshal(raw, &other) != nil {
		return e
	}
	other.Run, other.Host = e.Run, e.Host
	return other
}

// invented are questions, answers and events that no agent of ours would send now.
func (s *site) invented(x *session, steps []*plan.Step, a *alterer, shapes []wire.Ask) (wire.Kind, any) {
	step := plan.ID("")
	if len(steps) > 0 {
		step = steps[a.n(len(steps))].ID
	}
	e := wire.Event{Run: x.run, Play: x.start.Play, Host: x.start.Host, Seq: uint64(a.n(8)), Step: step, Text: "text", State: wire.Failed, Next: step,
		Kind: []wire.EventKind{wire.Started, wire.Item, wire.Retry, wire.Done, wire.Progress, wire.Notified, wire.AtGate, wire.Ended, wire.Warning, wire.Output, wire.Broken}[a.n(11)],
		Outcome: &wire.Outcome{Status: wire.Changed, Result: json.RawMessage(`{"stdout":"x","_ansible_x":[1]}`), Meta: "end_play", FailAll: true,
			Effects: []wire.Effect{{Layer: "facts", Host: "db1", Vars: dict(s.t, `{"hark_agent":"web1","ansible_connection":"local"}`)}}, Notify: []string{"h"}}}
	switch a.n(5) {
	case 0:
		e = a.event(e)
		e.Seq = []uint64{0, 1 << 40, 1 << 63}[a.n(3)] // the numbers that are the agent's turn it needs itself, see altered
		return wire.KindBatch, wire.Batch{Run: x.run, Host: x.start.Host, Events: []wire.Event{e}}
	case 1:
		return wire.KindExecDone, wire.ExecDone{ID: strconv.Itoa(a.n(9)), Result: json.RawMessage(`{"failed":true}`)}
	case 2:
		return wire.KindRenew, wire.Renew{Session: wire.Session{Turn: uint64(a.n(3))}, Host: x.start.Host, Advanced: uint64(a.n(5)), At: step}
	}
	ask := shapes[a.n(len(shapes))]
	kinds := append([]wire.AskKind{wire.AskOwn, wire.AskBlob, wire.AskPlan, wire.AskUpload, wire.AskUpload}, kindsOfSessions...)
	ask.Run, ask.Play, ask.Host, ask.Kind, ask.Step = x.run, x.start.Play, x.start.Host, kinds[a.n(len(kinds))], step
	ask.Upload = &wire.Upload{Dest: s.dir + "/private/id_rsa", Data: []byte("forged"), Last: true}
	return wire.KindAsk, wire.Question{Ask: ask, Session: wire.Session{Turn: uint64(a.n(3))}}
}

// pester sends altered messages of a run until told to stop.
func (s *site) pester(ctx context.Context, x *session, a *alterer, shapes []wire.Ask) (sent int) {
	id, steps := s.evil.identity.ID(), x.steps()
	for ctx.Err() == nil {
		k, body := s.invented(x, steps, a, shapes)
		if a.n(4) > 0 && k != wire.KindBatch {
			body = a.alter(body)
		}
		subject, p := wire.Results(x.run, id, k), wire.Packing{Sign: s.evil.identity, Key: &x.key, Seal: wire.SealHost}
		if k == wire.KindAsk || k == wire.KindRenew {
			subject, p.Sign = wire.Questions(id, x.run, k), nil
		}
		if a.n(20) == 0 {
			k = wire.KindRenew // the envelope is of another kind
		}
		frame, err := s.evil.codec.Pack(wire.Header{Kind: k, Run: x.run}, body, p)
		if err != nil {
			continue
		}
		if a.n(10) == 0 {
			frame[a.n(len(frame))] ^= byte(1 + a.n(255))
		}
		if s.evil.bus.Publish(subject, frame) != nil {
			return sent
		}
		if a.n(10) == 0 {
			_ = s.evil.bus.Publish(subject, frame)
		}
		if a.n(50) == 0 { // presence, as a message of the agent's own
			s.presence(a.alter(s.evil.hello(x.run)))
		}
		sent++
		time.Sleep(200 * time.Microsecond) // one agent's words, and not all that two cores can do
	}
	return sent
}

func (s *site) presence(hello any) {
	for _, k := range []wire.Kind{wire.KindHello, wire.KindBeat} {
		if frame, err := s.evil.codec.Pack(wire.Header{Kind: k}, hello, wire.Packing{Sign: s.evil.identity}); err == nil {
			_ = s.evil.bus.Publish(wire.Presence(s.evil.identity.ID(), k), frame)
		}
	}
}

// watched is playIn that tells the most memory that the controller had, in MB.
func (s *site) watched(dir string) (outcome, int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := s.owner.command(ctx, "play", "-i", "inventory", "site.yml")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended, most := make(chan error, 1), 0
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
				s.t.Fatalf("hark play: %v, %v\n%s%s", err, ctx.Err(), &out, &errs)
			}
			return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), errs: errs.String()}, most
		case <-time.After(50 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
				if kb, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
					most = max(most, kb>>10)
				}
			}
		}
	}
}

// Whatever an agent with good keys makes of its messages, and whenever it sends them: no file of the controller is
// read or written but the play's, no program starts, other hosts fare as ever, the exit code is true, and the
// controller needs no more memory than it has. The seed is HARK_SEED or by chance; HARK_ALTER is for how long it goes
// on.
func TestEveryMessageAltered(t *testing.T) {
	seed, span := uint64(time.Now().UnixNano()), 20*time.Second
	if text := os.Getenv("HARK_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if text := os.Getenv("HARK_ALTER"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("HARK_SEED=%d", seed)
	s := newSite(t)
	secret, witness := s.secret("id_rsa"), s.witness()
	s.guard(s.dir + "/private")
	s.guard(filepath.Join(s.owner.home, "operator.nk"))
	p := project{"inventory": "db1\nweb2\n" + taken + "\n", "db1.txt": "db1\n", "site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - command: echo a
    register: a
    notify: h
  - command: echo {{ a.stdout }}
    delegate_to: localhost
  - include_tasks: sub.yml
  - fetch: {src: /etc/hostname, dest: fetched/}
  - copy: {content: "{{ a.stdout }}", dest: "{{ playbook_dir }}/made-{{ inventory_hostname }}"}
  - command: echo {{ item }}
    loop: [1, 2]
  - debug: msg=end
  handlers:
  - name: h
    command: echo h
- hosts: all
  gather_facts: false
  tasks:
  - command: echo {{ hostvars['db1'].a.stdout }}
`, "sub.yml": "- command: echo sub\n- debug: msg=sub\n"}
	clean := s.lay(p)
	control, _ := s.watched(clean)
	if control.code != 0 {
		t.Fatal(control)
	}
	var deep any = 1
	for range 300 {
		deep = []any{deep}
	}
	a := &alterer{rand: rand.New(rand.NewPCG(seed, 0))}
	for _, v := range []any{
		nil, true, false, 0, -1, 1 << 62, 1e300, "", "db1", "localhost", taken, "99.9", "1", "end_play", "facts", secret, "../../../private/id_rsa",
		"{{ lookup('pipe', 'touch " + witness + "') }}", "touch " + witness, "a\nb", "\x1b]0;x\a", "\x00", strings.Repeat("A", 1<<18), deep, []any{}, map[string]any{},
		[]any{"db1"}, map[string]any{"argv": []any{"touch", witness}}, map[string]any{"__ansible_unsafe": "x"}, json.Number("1e9999"),
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		a.values = append(a.values, raw)
	}
	shapes := s.shapes(secret, witness)
	sent, rounds, peak := 0, 0, 0
	began := time.Now()
	// On a slow machine some plays end before the agent has said more than it must.
	for ; time.Since(began) < span || sent < 100 && time.Since(began) < 10*span; rounds++ {
		one, most := s.altered(p, a, shapes, control, clean)
		sent, peak = sent+one, max(peak, most)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d plays, %d messages beside the altered ones, at most %d MB", rounds, sent, peak)
	if peak > mostMemory {
		t.Errorf("the controller had %d MB", peak)
	}
	if sent < 100 {
		t.Errorf("only %d messages were sent", sent)
	}
}

// altered is one play with an agent that alters what it says, and says more.
func (s *site) altered(p project, a *alterer, shapes []wire.Ask, control outcome, clean string) (sent, most int) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var pestering sync.WaitGroup
	var mu sync.Mutex
	h := s.evil
	// What it said of itself in the play before may have been a name that is not in the inventory: then no play would
	// come to it any more.
	h.say(wire.KindHello, h.hello())
	h.mu.Lock()
	h.onPlan = func(x *session) {
		pestering.Go(func() {
			n := s.pester(ctx, x, a, shapes)
			mu.Lock()
			sent += n
			mu.Unlock()
		})
	}
	h.onEvent = func(_ *session, e wire.Event) []wire.Event {
		// What the agent itself says comes last: one that says nothing any more is as one whose task goes on.
		var out []wire.Event
		for range a.n(3) {
			out = append(out, a.event(e))
		}
		out = append(out, e)
		return out
	}
	h.onAsk = func(_ *session, ask *wire.Ask) {
		raw, err := json.Marshal(a.alter(*ask))
		var other wire.Ask
		if a.n(3) == 0 && err == nil && json.Unmarshal(raw, &other) == nil {
			*ask = other
		}
	}
	h.onResult = func(_ *session, d *wire.ExecDone) {
		if raw, err := json.Marshal(a.alter(d.Result)); a.n(2) == 0 && err == nil {
			d.Result = raw
		}
	}
	h.mu.Unlock()
	dir := s.lay(p)
	attacked, most := s.watched(dir)
	stop()
	pestering.Wait()
	h.reset()
	for _, host := range honest {
		if was, is := control.of(host), attacked.of(host); was != is {
			s.t.Errorf("%s fared otherwise:\n%s\nwithout the attack:\n%s", host, is, was)
		}
	}
	s.kept(attacked)
	fared := attacked.recap(taken)
	want := 0
	switch {
	case fared["unreachable"] > 0:
		want = 4
	case fared["failed"] > 0:
		want = 2
	}
	if attacked.code != want {
		s.t.Errorf("exit code %d and not %d", attacked.code, want)
	}
	was, is := s.left(clean), s.left(dir)
	for path, text := range is {
		if own := strings.Contains(path, taken); !own && was[path] != text {
			s.t.Errorf("%s is %q and not %q", path, text, was[path])
		}
	}
	if s.t.Failed() {
		s.t.Logf("with the attack: %s", attacked)
	}
	h.mu.Lock()
	h.heard, h.holds = nil, nil
	h.mu.Unlock()
	return sent, most
}
