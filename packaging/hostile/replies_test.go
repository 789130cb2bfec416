//go:build hostile

package hostile

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
	"hark/controller/broker"
)

// guest connects to the broker with a role's credentials and a program of its own.
func (s *site) guest(access func(key string) (string, error)) (*nats.Conn, string) {
	s.t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := access(id.Key)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := nats.Connect(s.url, nats.UserJWT(func() (string, error) { return token, nil }, id.Sign),
		nats.CustomInboxPrefix(wire.Inbox(id.ID())), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c, id.ID()
}

// held is how many messages each stream of the broker has, -1 for one that is not there.
func (s *site) held(c *nats.Conn, streams []string) map[string]int {
	s.t.Helper()
	all := map[string]int{}
	for _, name := range streams {
		m, err := c.Request("$JS.API.STREAM.INFO."+name, nil, 10*time.Second)
		if err != nil {
			s.t.Fatal(err)
		}
		var info struct {
			State *struct{ Messages int }
		}
		if err := json.Unmarshal(m.Data, &info); err != nil {
			s.t.Fatal(err)
		}
		all[name] = -1
		if info.State != nil {
			all[name] = info.State.Messages
		}
	}
	return all
}

// The broker answers to whatever reply subject a request names. Nobody turns that into a request of the broker's own
// that takes a stream away, or what is in it: no agent, nobody who may look, no operator.
func TestRepliesOfTheBrokerDestroyNothing(t *testing.T) {
	s := newBroker(t)
	s.startAgent("db1")
	authority, err := broker.OpenAuthority(s.data)
	if err != nil {
		t.Fatal(err)
	}
	needs, err := authority.Needs()
	if err != nil {
		t.Fatal(err)
	}
	until := func(f func(string, time.Time) (string, error)) func(string) (string, error) {
		return func(key string) (string, error) { return f(key, time.Time{}) }
	}
	observer, _ := s.guest(until(authority.Reader))
	for name, access := range map[string]func(string) (string, error){
		"agent": authority.Agent, "reader": until(authority.Reader), "joiner": until(authority.Joiner), "listener": until(authority.Listener),
		"operator": func(key string) (string, error) { return authority.ControllerUntil(key, time.Time{}, false) }, "owner": authority.Controller,
	} {
		c, id := s.guest(access)
		for _, stream := range needs.Streams {
			asks := slices.Concat([]string{wire.JoinSubject, wire.Credentials(id), wire.Registrar("list"), wire.Presence(id, wire.KindBeat),
				wire.Record(id, "run", "1"), wire.FilePiece(id, "x", "1"), wire.Facts(id, "x"), wire.DutyStateSubject(id, "x", "y")},
				prefixed("$JS.API.DIRECT.GET.", needs.Streams), prefixed("$JS.API.STREAM.INFO.", needs.Streams))
			for _, other := range needs.Streams {
				asks = append(asks, "$JS.API.DIRECT.GET."+other+".nothing.there")
			}
			was := s.held(observer, needs.Streams)
			for _, does := range []string{"PURGE", "MSG.DELETE", "DELETE"} {
				for _, ask := range asks {
					for _, body := range []string{"", `{"seq":1}`, `{"last_by_subj":"x"}`} {
						if err := c.PublishRequest(ask, "$JS.API.STREAM."+does+"."+stream, []byte(body)); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			// Once its own question is answered, those before it are.
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			for name, n := range s.held(observer, needs.Streams) {
				if n < was[name] {
					was[name] = n
					t.Errorf("%s: %d messages are left", name, n)
				}
			}
		}
		if r := s.owner.must("agents", "list"); t.Failed() || r.code != 0 {
			t.Fatalf("%s did that: %s", name, r)
		}
	}
	if r := s.owner.must("agents", "list", "--present"); r.code != 0 {
		t.Error(r)
	}
	// The registrar can still take an agent off the roster.
	s.owner.must("agents", "remove", "db1")
	if n := s.held(observer, needs.Streams)["HARK_AGENTS"]; n < 0 {
		t.Error(fmt.Sprint("the roster is gone: ", n))
	}
}

func prefixed(prefix string, names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, prefix+name)
	}
	return all
}
