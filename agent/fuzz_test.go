package agent

import (
	"context"
	"testing"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/modules"
)

// FuzzMessages gives an agent whatever bytes there are, on every subject: it refuses and counts them, answers nobody,
// and goes on.
func FuzzMessages(f *testing.F) {
	operator, err := wire.NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	self, err := wire.NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	var c wire.Codec
	kinds := []wire.Kind{
		wire.KindPlan, wire.KindExec, wire.KindPing, wire.KindCancel, wire.KindEnd, wire.KindTrust,
		wire.KindHold, wire.KindClock,
	}
	bodies := []any{
		wire.Opening{Start: wire.Start{Run: "r", Host: "web1"}},
		wire.Order{Exec: wire.Exec{Run: "r", Host: "web1", Step: "1"}},
		wire.Advance{Run: "r"}, map[string]any{"start": map[string]any{"run": "r"}, "operator": operator.Key, "offset": -1},
	}
	for i, k := range kinds {
		for _, body := range bodies {
			for _, signer := range []*wire.Identity{operator, self} {
				frame, err := c.Pack(wire.Header{Kind: k, Run: "r", Targets: []string{self.ID()}}, body,
					wire.Packing{Sign: signer, To: self.XKey, Box: operator})
				if err != nil {
					f.Fatal(err)
				}
				f.Add(byte(i), frame)
				f.Add(byte(i), frame[:len(frame)/2])
			}
		}
	}
	f.Add(byte(0), []byte("hk1\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add(byte(1), []byte("hk1\n\x02{}\x00"))
	var bus mem.Bus
	ready := make(chan struct{})
	a := New(Config{
		Transport: bus.Connect(self.ID()), Identity: self, Name: "web1", Modules: modules.NewRegistry(),
		Logger:    zerolog.Nop(),
		Trusted:   func(string) bool { return false }, // so that nothing of it may be obeyed, well signed or not
		Heartbeat: -1, Grace: -1, Ready: func() { close(ready) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-ready
	f.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		k := kinds[int(kind)%len(kinds)]
		before := total(a)
		a.inbox.receive(wire.Msg{
			Subject: wire.HostSubject(self.ID(), k), Data: data, Reply: wire.HostSubject(self.ID(), wire.KindCancel),
			Respond: func([]byte) error { t.Error("it answers on a subject of tasks"); return nil },
		}, k, false, func(*letter) { t.Error("it obeys") })
		if total(a) != before+1 {
			t.Errorf("refused %v", a.Refused())
		}
	})
}

func total(a *Agent) (n uint64) {
	for _, x := range a.Refused() {
		n += x
	}
	return n
}
