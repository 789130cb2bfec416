//go:build hostile

package hostile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
)

// An operator who was only admitted to the broker sees who is there. He lets nobody in or out, takes nobody off the
// roster, and no agent obeys him.
func TestAdmissionIsNoPower(t *testing.T) {
	s := newBroker(t)
	s.startAgent("db1")
	s.startAgent("web2")
	bert := s.newOperator("bert")
	s.admit(bert)
	if r := bert.must("agents", "list"); !strings.Contains(r.out, "db1") {
		t.Error(r)
	}
	for _, command := range [][]string{
		{"agents", "revoke", "db1"}, {"agents", "remove", "db1"}, {"agents", "approve", "db1"}, {"agents", "token", "--approve"}, {"agents", "token"},
	} {
		if r := bert.hark(command...); r.code == 0 || !strings.Contains(r.errs, "may not let agents in or out") {
			t.Errorf("%v: %s", command, r)
		}
	}
	// With his own program he can do no more.
	authority, err := broker.OpenAuthority(s.data)
	if err != nil {
		t.Fatal(err)
	}
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	access, err := authority.ControllerUntil(id.Key, time.Time{}, false)
	if err != nil {
		t.Fatal(err)
	}
	bus, err := nats.Dial(context.Background(), nats.Config{URL: s.url, ID: id.ID(), Identity: id, JWT: access, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	for _, subject := range []string{"$JS.API.STREAM.PURGE.HARK_AGENTS", "$JS.API.STREAM.DELETE.HARK_AGENTS", wire.Presence(id.ID(), wire.KindHello), wire.JoinSubject} {
		if err := bus.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		if err := bus.Flush(context.Background()); !errors.Is(err, wire.ErrDenied) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	witness := s.witness()
	r := bert.in(s.lay(project{"inventory": "db1\n", "site.yml": "- hosts: db1\n  gather_facts: false\n  tasks:\n  - shell: touch " + witness + "\n"}), "play", "-i", "inventory", "site.yml")
	if r.code != 4 {
		t.Error(r)
	}
	if r := s.owner.must("agents", "list", "--present"); !strings.Contains(r.out, "db1") || !strings.Contains(r.out, "web2") {
		t.Error(r)
	}
	// The owner can: an agent that he removes is gone from the roster too.
	s.owner.must("agents", "remove", "db1")
	if r := s.owner.must("agents", "list"); strings.Contains(r.out, "db1") {
		t.Error(r)
	}
}
