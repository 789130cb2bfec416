package dutystate

import (
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/fleet/sealkeys"
	"hark/controller/internal/fleet/streams"
)

// A keeper whose words somebody has overwritten at the broker learns which, goes on with the others, and takes a duty of
// which nothing is known any more for paused. Its keys are there again, and what was sealed with them can be read.
func TestWordsThatWereOverwrittenAreSaidAgain(t *testing.T) {
	conn := newConn(t)
	if err := Ensure(t.Context(), streams.Manager{Conn: conn}); err != nil {
		t.Fatal(err)
	}
	keeper, reader := newIdentity(t), newIdentity(t)
	s := open(t, conn, keeper, []string{reader.XKey}, nil)
	put(t, s, "base", "a1", Kept)
	put(t, s, "base", "a2", Kept)
	put(t, s, "ntp", "a1", Kept)
	for _, name := range []string{"base", "ntp"} {
		if err := s.PutDefinition(t.Context(), Definition{V: Version, Name: name, Mode: duty.Check}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutReport(t.Context(), Report{V: Version, Project: "site"}); err != nil {
		t.Fatal(err)
	}
	if places, err := s.Overwritten(t.Context()); err != nil || len(places) > 0 {
		t.Fatalf("%v, %v", places, err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(subject string) {
		t.Helper()
		if _, err := js.Publish(t.Context(), subject, []byte(`{"stream":"HARK_AGENTS","seq":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	state, word, report := Place{"base", "a1"}, Place{"base", wire.DutyToken}, Place{wire.KeeperToken, wire.DutyToken}
	for _, p := range []Place{state, word, report} {
		answer(wire.DutyStateSubject(keeper.ID(), p.Duty, p.Agent))
	}
	answer(wire.DutyKeysSubject(keeper.ID(), sealkeys.Week(time.Now())))

	again := open(t, conn, keeper, []string{reader.XKey}, nil)
	own, err := again.Own(t.Context())
	if err != nil || len(own.States) != 2 || len(own.Definitions) != 2 || own.Report != nil {
		t.Fatalf("%+v, %v", own, err)
	}
	for _, d := range own.Definitions {
		if (d.Paused != nil) != (d.Name == "base") {
			t.Errorf("%s is paused: %+v", d.Name, d.Paused)
		}
	}
	places, err := s.Overwritten(t.Context())
	if err != nil || len(places) != 3 || !slices.Contains(places, state) || !slices.Contains(places, word) || !slices.Contains(places, report) {
		t.Errorf("%v, %v", places, err)
	}
	if places, err := s.Overwritten(t.Context()); err != nil || len(places) > 0 {
		t.Errorf("told again: %v, %v", places, err)
	}
	put(t, again, "base", "a1", Drifted) // which puts the keys there again
	all, _, err := open(t, conn, reader, nil, []string{keeper.Key}).Read(t.Context())
	if err != nil || len(all) != 1 || len(all[0].States) != 3 {
		t.Errorf("the reader has %+v, %v", all, err)
	}
}
