//go:build hostile

package hostile

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
	"hark/controller/broker"
)

// Who has access to the broker can have NATS answer to the subjects on which agents say that they are there. That
// overwrites what an agent said last, and no more: the roster asks the agent then, plays reach it and lists show it as
// present, however often the attacker does it. The rest of the roster stays what it is.
func TestAnswersOfTheBrokerHideNoAgent(t *testing.T) {
	s := newBroker(t)
	for _, name := range []string{"db1", "web2"} {
		s.startAgent(name)
	}
	authority, err := broker.OpenAuthority(s.data)
	if err != nil {
		t.Fatal(err)
	}
	victim := s.idOf("db1")
	attacker, own := s.guest(authority.Agent)
	looker, _ := s.guest(func(key string) (string, error) { return authority.Reader(key, time.Time{}) })
	// What agents may ask has an answer in JSON, and one that is nothing but the status that ends a batch. Who reads the
	// roster can have whole messages sent, the agent's own former words among them.
	const get = "$JS.API.DIRECT.GET.HARK_AGENTS"
	lastOf := func(name string) string {
		return `{"last_by_subj":"` + wire.Presence(s.idOf(name), wire.KindHello) + `"}`
	}
	asks := []struct {
		from          *nats.Conn
		subject, body string
	}{
		{attacker, wire.Presence(own, wire.KindBeat), ""},
		{attacker, wire.ReadPiece(wire.FilePiece(own, "x", "1")), ""},
		{looker, "$JS.API.STREAM.INFO.HARK_AGENTS", ""},
		{looker, get, lastOf("web2")},
		{looker, get, `{"seq":1,"next_by_subj":"hark.e.>","batch":2}`},
		{looker, get, lastOf("db1")},
		{looker, get, `{"last_by_subj":"nothing"}`},
	}
	forge := func(which int, kinds ...wire.Kind) {
		ask := asks[which]
		for _, k := range kinds {
			if err := ask.from.PublishRequest(ask.subject, wire.Presence(victim, k), []byte(ask.body)); err != nil {
				t.Error(err)
			}
		}
		if err := ask.from.Flush(); err != nil {
			t.Error(err)
		}
	}
	there := func(what string) {
		t.Helper()
		list := s.owner.must("agents", "list", "--present")
		played := s.owner.hark("run", "-i", "hark:", "all", "-m", "ping")
		both := strings.Contains(list.out, "db1") && strings.Contains(list.out, "web2")
		if !both || played.code != 0 || strings.Count(played.out, "pong") != 2 {
			t.Errorf("after %s: %s%s", what, list, played)
		}
	}
	kinds := []wire.Kind{wire.KindBye, wire.KindHello, wire.KindBeat}
	for i, a := range asks {
		forge(i, kinds...)
		there(a.subject + " " + a.body)
	}
	// An operator's look has the agent say hello again, so that those who may ask nobody see it too.
	s.await("db1 in the roster", func() bool {
		s.owner.must("agents", "list")
		return s.heard(looker, victim)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var attacks sync.WaitGroup
	attacks.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			forge(i%len(asks), kinds...)
		}
	})
	for range 5 {
		there("everything, all the time")
	}
	cancel()
	attacks.Wait()
	// Who is removed is gone all the same, and who ends is not there.
	s.owner.must("agents", "remove", "web2")
	if r := s.owner.must("agents", "list"); strings.Contains(r.out, "web2") || !strings.Contains(r.out, "db1") {
		t.Error(r)
	}
}

// idOf is the id of an agent.
func (s *site) idOf(name string) string {
	s.t.Helper()
	for line := range strings.Lines(s.owner.must("agents", "show", name, "--json").out) {
		if _, rest, ok := strings.Cut(line, `"id": "`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			return id
		}
	}
	s.t.Fatalf("%s has no id", name)
	return ""
}

// heard reports whether the last hello of an agent is its own, in the stream that the broker keeps.
func (s *site) heard(c *nats.Conn, id string) bool {
	s.t.Helper()
	last := `{"last_by_subj":"` + wire.Presence(id, wire.KindHello) + `"}`
	m, err := c.Request("$JS.API.DIRECT.GET.HARK_AGENTS", []byte(last), 10*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	f, err := wire.Parse(m.Data)
	return err == nil && wire.IDOf(f.Header.Issuer) == id && len(m.Header["Nats-Sequence"]) == 1
}
