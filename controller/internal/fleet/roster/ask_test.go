package roster

import (
	"context"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
)

// The roster asks the agents whose words somebody has overwritten, and nobody else. It believes the answer of the agent
// alone, and an answer of the broker's removes nobody.
func TestOverwrittenAgentsAreAsked(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	sound, hit, dumb, left, gone := newAgent(t), newAgent(t), newAgent(t), newAgent(t), newAgent(t)
	by := map[string]*wire.Identity{}
	for name, a := range map[string]*wire.Identity{"sound": sound, "hit": hit, "dumb": dumb, "left": left, "gone": gone} {
		f.say(a, a, wire.KindHello, wire.Hello{Name: name})
		by[a.ID()] = a
	}
	put := func(a *wire.Identity, k wire.Kind, header nats.Header, data string) {
		t.Helper()
		m := &nats.Msg{Subject: wire.Presence(a.ID(), k), Header: header, Data: []byte(data)}
		if _, err := f.js.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	answer := nats.Header{"Status": {"404"}}
	put(sound, wire.KindBye, nil, "") // no removal
	put(hit, wire.KindHello, nil, `{"stream":"HARK_AGENTS"}`)
	put(dumb, wire.KindHello, answer, "")
	f.say(left, left, wire.KindBye, wire.Hello{})
	put(gone, wire.KindHello, answer, "")
	put(gone, wire.KindBye, nil, removed)
	r := f.roster(t.TempDir())
	var mu sync.Mutex
	asked := map[string]bool{}
	r.Ask = func(_ context.Context, id string) (Agent, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[id] = true
		switch id {
		case dumb.ID(): // somebody else answers
			return Agent{Key: hit.Key, Hello: wire.Hello{Name: "dumb"}}, nil
		case gone.ID():
			return Agent{}, wire.ErrNoResponder
		}
		return Agent{Key: by[id].Key, Hello: wire.Hello{Name: "hit", XKey: "x"}}, nil
	}
	all, err := r.All(t.Context())
	if err != nil || len(all) != 3 || all[0].Name != "hit" || !all[0].Present || all[0].ID != hit.ID() ||
		all[1].Name != "left" || all[1].Present || all[2].Name != "sound" || !all[2].Present {
		t.Errorf("%+v, %v", all, err)
	}
	if len(asked) != 3 || !asked[hit.ID()] || !asked[dumb.ID()] {
		t.Errorf("%v were asked", asked)
	}
	if a, err := r.Find(t.Context(), "hit"); err != nil || a.Key != hit.Key {
		t.Errorf("%+v, %v", a, err)
	}
}
