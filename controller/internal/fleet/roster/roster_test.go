package roster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
	"hark/agent/wire/natstest"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/fleet/trust"
)

// fleet is a broker to which a test publishes what agents would.
type fleet struct {
	t    *testing.T
	conn *nats.Conn
	js   nats.JetStreamContext
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	return newFleetIn(t, t.TempDir())
}

// newFleetIn is newFleet with a broker over a directory.
func newFleetIn(t *testing.T, dir string) *fleet {
	t.Helper()
	s := natstest.Start(t, natstest.JetStream(dir))
	conn := natstest.Connect(t, s.ClientURL())
	js, err := conn.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	return &fleet{t, conn, js}
}

func (f *fleet) ensure() {
	f.t.Helper()
	if err := Ensure(f.t.Context(), streams.Manager{Conn: f.conn}); err != nil {
		f.t.Fatal(err)
	}
}

func newAgent(t *testing.T) *wire.Identity {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// say publishes a message of presence on the subject of an agent and waits until the stream has it.
func (f *fleet) say(id, signer *wire.Identity, k wire.Kind, body any) {
	f.t.Helper()
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: k}, body, wire.Packing{Sign: signer})
	if err == nil {
		_, err = f.js.Publish(wire.Presence(id.ID(), k), frame)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) roster(dir string) *Roster {
	f.t.Helper()
	known, err := trust.OpenKnown(dir, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return New(f.conn, known)
}

// TestRosterKnowsTheLastHeartbeat: what it says holds until the agent says hello again, as another process may, and
// says nothing of who forges it.
func TestRosterKnowsTheLastHeartbeat(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	r := f.roster(t.TempDir())
	web, other := newAgent(t), newAgent(t)
	beat := wire.Beat{RefusedLastHour: map[wire.Reason]uint64{wire.Untrusted: 2}, JobCount: 1,
		Jobs: []wire.BeatJob{{ID: "j1.2", Run: "k3f9", State: "running"}}}
	told := func(want int) {
		t.Helper()
		all, err := r.All(t.Context())
		if err != nil || len(all) != 1 || !all[0].Present {
			t.Fatalf("%+v, %v", all, err)
		}
		if a := all[0]; a.JobCount != want || len(a.Jobs) != want || len(a.RefusedLastHour) != want {
			t.Errorf("it is told %+v, want %d job", a.Beat, want)
		}
	}
	f.say(web, web, wire.KindHello, wire.Hello{Name: "web1"})
	told(0)
	f.say(web, web, wire.KindBeat, beat)
	told(1)
	f.say(web, web, wire.KindHello, wire.Hello{Name: "web1"})
	told(0)
	f.say(web, web, wire.KindBeat, map[string]any{"jobs": make([]wire.BeatJob, wire.MaxBeatJobs+1)})
	told(0)
	f.say(web, other, wire.KindBeat, beat)
	told(0)
}

func TestRosterKnowsWhoIsThere(t *testing.T) {
	f := newFleet(t)
	r := f.roster(t.TempDir())
	if all, err := r.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("without a stream: %v, %v", all, err)
	}
	f.ensure()
	f.ensure() // the second time it is there
	if all, err := r.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("with an empty stream: %v, %v", all, err)
	}
	here, gone := newAgent(t), newAgent(t)
	f.say(here, here, wire.KindHello, wire.Hello{Name: "web1", Version: "1.0"})
	f.say(here, here, wire.KindHello, wire.Hello{Name: "web1", Version: "1.1"})
	f.say(here, here, wire.KindBeat, wire.Hello{})
	f.say(gone, gone, wire.KindHello, wire.Hello{Name: "db1"})
	f.say(gone, gone, wire.KindBye, wire.Hello{})
	all, err := r.All(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	db, web := all[0], all[1]
	if db.Name != "db1" || db.Present || web.Name != "web1" || !web.Present || web.Version != "1.1" ||
		web.ID != here.ID() || web.Key != here.Key {
		t.Errorf("db1 %+v\nweb1 %+v", db, web)
	}
	r.now = func() time.Time { return time.Now().Add(Absent + time.Second) }
	if all, err = r.All(t.Context()); err != nil || all[1].Present {
		t.Errorf("a silent agent counts as present: %v", err)
	}
	f.say(gone, gone, wire.KindHello, wire.Hello{Name: "db1"})
	r.now = time.Now
	if all, err = r.All(t.Context()); err != nil || !all[0].Present {
		t.Errorf("an agent that came back counts as absent: %v", err)
	}
}

func TestNobodySpeaksForAnotherAgent(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	honest, liar := newAgent(t), newAgent(t)
	f.say(honest, honest, wire.KindHello, wire.Hello{Name: "web1", XKey: honest.XKey})
	f.say(honest, liar, wire.KindHello, wire.Hello{Name: "web1", XKey: liar.XKey})
	if _, err := f.roster(t.TempDir()).Find(t.Context(), "web1"); err == nil {
		t.Error("a hello that another agent signed was taken")
	}
	if _, err := f.js.Publish(wire.Presence(liar.ID(), wire.KindHello), []byte("garbage")); err != nil {
		t.Fatal(err)
	}
	if all, err := f.roster(t.TempDir()).All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// An agent that says of itself what cannot be is not there, and spoils nothing for the others.
func TestHelloThatIsMoreThanOneLineIsNone(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	honest, liar := newAgent(t), newAgent(t)
	f.say(honest, honest, wire.KindHello, wire.Hello{Name: "db1"})
	dir := t.TempDir()
	for _, h := range []wire.Hello{{Name: "zz " + liar.Key + "\ndb1"}, {Name: "a b"},
		{Name: "web1", Version: "1\nweb2  present"}, {Name: "web1", OS: "\x1b[2J"}} {
		f.say(liar, liar, wire.KindHello, h)
		all, err := f.roster(dir).All(t.Context())
		if err != nil || len(all) != 1 || all[0].Name != "db1" {
			t.Errorf("%+v: %+v, %v", h, all, err)
		}
		if a, err := f.roster(dir).Find(t.Context(), "db1"); err != nil || a.Key != honest.Key {
			t.Errorf("%+v: db1 is %+v, %v", h, a, err)
		}
	}
}

func TestNameBelongsToTheKeyOnRecord(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	dir := t.TempDir()
	first, second := newAgent(t), newAgent(t)
	f.say(first, first, wire.KindHello, wire.Hello{Name: "web1"})
	if a, err := f.roster(dir).Find(t.Context(), "web1"); err != nil || a.Key != first.Key {
		t.Fatalf("%+v, %v", a, err)
	}
	// Another agent takes the name: the one on record keeps it as long as the broker knows it.
	f.say(second, second, wire.KindHello, wire.Hello{Name: "web1"})
	if a, err := f.roster(dir).Find(t.Context(), "web1"); err != nil || a.Key != first.Key {
		t.Errorf("%+v, %v", a, err)
	}
	f.say(first, first, wire.KindHello, wire.Hello{Name: "renamed"})
	var changed *trust.ChangedKeyError
	if _, err := f.roster(dir).Find(t.Context(), "web1"); !errors.As(err, &changed) {
		t.Errorf("another key: %v", err)
	}
}

func TestAgentsThatComeLaterAreFound(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	r := f.roster(t.TempDir())
	clock := time.Now()
	r.now = func() time.Time { return clock }
	var unknown *UnknownError
	if _, err := r.Find(t.Context(), "web1"); !errors.As(err, &unknown) {
		t.Fatalf("err = %v", err)
	}
	a := newAgent(t)
	f.say(a, a, wire.KindHello, wire.Hello{Name: "web1"})
	if _, err := r.Find(t.Context(), "web1"); !errors.As(err, &unknown) {
		t.Errorf("the broker is asked for every name that is not there: %v", err)
	}
	clock = clock.Add(2 * time.Second)
	if _, err := r.Find(t.Context(), "web1"); err != nil {
		t.Errorf("err = %v", err)
	}
}

func TestRosterOfABrokerThatIsAwayIsAnError(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	f.conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := f.roster(t.TempDir()).All(ctx); err == nil {
		t.Error("no error")
	}
}

// What an agent has said is verified once: a later roster of the same operator goes by that, and nobody else's
// subject becomes its by it.
func TestHellosAreVerifiedOnce(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	operator, own, other := newAgent(t), newAgent(t), newAgent(t)
	f.say(own, own, wire.KindHello, wire.Hello{Name: "web1"})
	first := f.roster(t.TempDir())
	if _, err := first.Find(t.Context(), "web1"); err != nil {
		t.Fatal(err)
	}
	kept, err := first.Verified.Kept(operator)
	if err != nil || kept == nil {
		t.Fatalf("%d bytes are kept, %v", len(kept), err)
	}
	last, err := f.js.GetLastMsg(StreamName, wire.Presence(own.ID(), wire.KindHello))
	if err == nil {
		_, err = f.js.Publish(wire.Presence(other.ID(), wire.KindHello), last.Data)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := f.roster(t.TempDir())
	if err := again.Verified.Keep(operator, kept); err != nil {
		t.Fatal(err)
	}
	if all, err := again.All(t.Context()); err != nil || len(all) != 1 || all[0].ID != own.ID() {
		t.Errorf("the roster has %d agents, %v", len(all), err)
	}
	if news, _ := again.Verified.Kept(operator); news != nil {
		t.Error("the same hello was verified again")
	}
}

// A run takes of heartbeats that they came; who lists agents gets what they say, if they have signed it.
func TestOnlyListsReadHeartbeats(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	own, forger := newAgent(t), newAgent(t)
	f.say(own, own, wire.KindHello, wire.Hello{Name: "web1"})
	f.say(own, own, wire.KindBeat, wire.Beat{JobCount: 3})
	r := f.roster(t.TempDir())
	if a, err := r.Find(t.Context(), "web1"); err != nil || a.JobCount != 0 || !a.Seen.After(a.Since) {
		t.Errorf("%+v, %v", a, err)
	}
	if all, err := r.All(t.Context()); err != nil || len(all) != 1 || all[0].JobCount != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	f.say(own, forger, wire.KindBeat, wire.Beat{JobCount: 9})
	if all, err := r.All(t.Context()); err != nil || len(all) != 1 || all[0].JobCount != 0 {
		t.Errorf("what another has signed counts: %+v, %v", all, err)
	}
}
