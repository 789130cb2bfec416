package agent

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"hark/agent/internal/call"
	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/modules"
	"hark/modules/all"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// benched is a host with hark's own modules and a disk, and a controller that takes what it tells and does nothing
// else.
type benched struct {
	b        *testing.B
	agent    *wire.Identity
	operator *wire.Identity
	bus      wire.Transport
	codec    wire.Codec
	key, run wire.Key
	turn     uint64
	ended    chan struct{}

	timed     atomic.Bool  // the modules are: that takes time too
	inModules atomic.Int64 // their own processor time, in nanoseconds

	mu    sync.Mutex
	seq   uint64              // of the last event; guarded by mu
	count map[wire.Status]int // of steps by how they came out; guarded by mu
}

func newBenched(b *testing.B) *benched {
	h := &benched{b: b, key: wire.NewKey(), run: wire.NewKey(), ended: make(chan struct{}, 1), count: map[wire.Status]int{}}
	var err error
	if h.agent, err = wire.NewIdentity(); err != nil {
		b.Fatal(err)
	}
	if h.operator, err = wire.NewIdentity(); err != nil {
		b.Fatal(err)
	}
	state, err := OpenState(filepath.Join(b.TempDir(), "state"))
	if err != nil {
		b.Fatal(err)
	}
	var bus mem.Bus
	h.bus = bus.Connect(h.operator.ID())
	client := bus.Connect(h.agent.ID())
	ready := make(chan struct{})
	a := New(Config{
		Transport: client, Identity: h.agent, Name: "h1", Modules: modules.NewRegistry(all.Modules()...), State: state, Logger: zerolog.Nop(),
		Trusted: func(k string) bool { return k == h.operator.Key }, Heartbeat: -1, Grace: -1, Ready: func() { close(ready) },
		Host: Host{Call: h.call},
	})
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(func() {
		cancel()
		running.Wait()
		_ = client.Close()
		_ = h.bus.Close()
		_ = state.Close()
	})
	<-ready
	for _, subject := range []string{wire.QuestionsOfRun("r"), wire.ResultsOfRun("r")} {
		if _, err := h.bus.Subscribe(subject, h.take); err != nil {
			b.Fatal(err)
		}
	}
	return h
}

// call runs a module here, and counts the processor time of that if it is timed.
func (h *benched) call(ctx context.Context, inv call.Invocation) modules.Result {
	if !h.timed.Load() {
		return inv.InProcess(ctx)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := ownTime(h.b)
	r := inv.InProcess(ctx)
	h.inModules.Add(int64(ownTime(h.b) - before))
	return r
}

// ownTime is the processor time of the thread so far.
func ownTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Error(err)
	}
	return time.Duration(t.Nano())
}

// told is a batch as far as somebody reads it who only wants to know that all is well.
type told struct {
	Events []struct {
		Seq     uint64         `json:"seq"`
		Kind    wire.EventKind `json:"kind"`
		Outcome *struct {
			Status wire.Status `json:"status"`
		} `json:"outcome"`
	} `json:"events"`
}

func (h *benched) take(m wire.Msg) {
	f, err := wire.Parse(m.Data)
	var t told
	if err == nil {
		err = f.Body(&h.codec, wire.SealHost, wire.Keys{Host: &h.key}, &t)
	}
	if err != nil {
		h.b.Error(err)
		return
	}
	h.mu.Lock()
	ends := false
	for _, e := range t.Events {
		if e.Seq != h.seq+1 { // it was there before, or comes again
			continue
		}
		h.seq = e.Seq
		if e.Kind == wire.Done && e.Outcome != nil {
			h.count[e.Outcome.Status]++
		}
		ends = ends || e.Kind == wire.Ended
	}
	ack := wire.Acked{Run: "r", Host: "h1", Seq: h.seq}
	h.mu.Unlock()
	frame, err := h.codec.Pack(wire.Header{Kind: wire.KindAnswer, Run: "r", To: f.Header.Nonce}, ack, wire.Packing{Key: &h.key, Seal: wire.SealHost})
	if err == nil {
		err = m.Respond(frame)
	}
	if err != nil {
		h.b.Error(err)
	}
	if ends {
		h.ended <- struct{}{}
	}
}

// play has the host play a plan to its end.
func (h *benched) play(start wire.Start) {
	h.turn++
	h.mu.Lock()
	in := wire.Opening{Start: start, HostKey: h.key, RunKey: h.run, Acked: h.seq, Turn: h.turn, Unsigned: true, Sealed: true}
	h.mu.Unlock()
	frame, err := h.codec.Pack(wire.Header{Kind: wire.KindPlan, Run: "r", Targets: []string{h.agent.ID()}}, in,
		wire.Packing{Sign: h.operator, To: h.agent.XKey, Box: h.operator})
	if err == nil {
		_, err = h.bus.Request(h.b.Context(), wire.HostSubject(h.agent.ID(), wire.KindPlan), frame)
	}
	if err != nil {
		h.b.Fatal(err)
	}
	<-h.ended
}

func argsOf(pairs ...string) plan.Dict {
	d := value.NewDict()
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], value.SourceText(pairs[i+1]))
	}
	return plan.Dict{Dict: d}
}

// spent is the processor time of this process so far, without that of its children. It says more than the time by the
// clock where others work beside.
func spent(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTask is what a task costs on its host: evaluation, the module, the log of the session, and telling of it.
// With it is what it costs the other side of the test to read that. module-µs is what of it the module itself takes.
func BenchmarkTask(b *testing.B) {
	const steps = 500
	dir := b.TempDir()
	dest, rendered := filepath.Join(dir, "rendered"), "number 1 on web\n"
	template := []byte("number {{ number }} on {{ role }}\n")
	if err := os.WriteFile(dest, []byte(rendered), 0o644); err != nil {
		b.Fatal(err)
	}
	sum, old := sha256.Sum256(template), sha1.Sum(template)
	src := plan.File{Path: "/site/templates/t.j2", Digest: hex.EncodeToString(sum[:]), Sha1: hex.EncodeToString(old[:]), Size: int64(len(template)), Mode: 0o644, Inline: template}
	src.TemplateVars.Dict = value.NewDict()
	src.TemplateVars.Set("ansible_managed", value.SourceText("managed"))
	one := []plan.Expr{plan.Lit(value.SourceText("number == 1"))}
	for _, bb := range []struct {
		name string
		step plan.Step
		want wire.Status
	}{
		{"skipped", plan.Step{Action: "ansible.builtin.command", Args: argsOf("cmd", "/bin/true"), When: []plan.Expr{plan.Lit(value.SourceText("number == 2"))}}, wire.Skipped},
		{"debug", plan.Step{Action: "ansible.builtin.debug", Args: argsOf("msg", "{{ number }}"), When: one}, wire.OK},
		{"set_fact", plan.Step{Action: "ansible.builtin.set_fact", Args: argsOf("doubled", "{{ number * 2 }}")}, wire.OK},
		{"stat", plan.Step{Action: "ansible.builtin.stat", Args: argsOf("path", dest, "get_mime", "no"), Register: "found"}, wire.OK},
		{"file", plan.Step{Action: "ansible.builtin.file", Args: argsOf("path", dest, "mode", "0644")}, wire.OK},
		{"template", plan.Step{Action: "ansible.builtin.template", Args: argsOf("src", "t.j2", "dest", dest), Files: map[string]plan.File{"t.j2": src}}, wire.OK},
		{"assert", plan.Step{Action: "ansible.builtin.assert", Args: plan.Dict{Dict: value.DictOf("that", []any{"number == 1"}, "quiet", true)}}, wire.OK},
		{"command", plan.Step{Action: "ansible.builtin.command", Args: argsOf("cmd", "/bin/true"), Register: "out"}, wire.Changed},
	} {
		b.Run(bb.name, func(b *testing.B) {
			h := newBenched(b)
			p := &plan.Plan{Version: plan.Version, Play: plan.Play{ID: "0.0", InjectFacts: true, Brief: true}}
			block := plan.Block{ID: "1"}
			for i := range steps {
				s := bb.step
				s.ID, s.Kind, s.Name, s.Written, s.Evaluator = plan.ID(fmt.Sprintf("1.%d", i)), plan.Task, fmt.Sprintf("step %d", i), s.Action, plan.Agent
				block.Body = append(block.Body, plan.Node{Step: &s})
			}
			p.Blocks = []plan.Block{block}
			digest, body, err := p.Digest()
			if err != nil {
				b.Fatal(err)
			}
			vars := value.NewDict()
			vars.Set("number", value.Int(1))
			vars.Set("role", value.SourceText("web"))
			for i := range 30 {
				vars.Set(fmt.Sprintf("site_%d", i), value.SourceText("as everywhere"))
			}
			start := wire.Start{Run: "r", Host: "h1", Play: "0.0", Digest: digest, Plan: body, Lease: time.Minute, Window: 256 << 10,
				Vars: wire.HostVars{Inventory: plan.Dict{Dict: vars}}}
			h.play(start) // reads the plan and compiles the templates
			b.ReportAllocs()
			before := spent(b)
			for b.Loop() {
				h.play(start)
			}
			b.StopTimer()
			b.ReportMetric(float64((spent(b)-before).Nanoseconds())/1e3/float64(b.N*steps), "cpu-µs/task")
			h.timed.Store(true)
			h.play(start)
			b.ReportMetric(float64(h.inModules.Load())/1e3/steps, "module-µs/task")
			h.mu.Lock()
			defer h.mu.Unlock()
			if want := (b.N + 2) * steps; h.count[bb.want] != want {
				b.Errorf("%d steps of %d are %s: %v", h.count[bb.want], want, bb.want, h.count)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/float64(b.N*steps), "µs/task")
		})
	}
}
