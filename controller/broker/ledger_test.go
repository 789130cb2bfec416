package broker

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/ledger"
)

// reader gives tokens of those who only look.
func reader(a *Authority) func(string) (string, error) {
	return func(key string) (string, error) { return a.Reader(key, time.Time{}) }
}

// may reports whether the broker permits something.
func may(t *testing.T, c client, what string, do func() error) bool {
	t.Helper()
	if err := do(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	err := c.Flush(t.Context())
	if err != nil && !errors.Is(err, wire.ErrDenied) {
		t.Fatalf("%s: %v", what, err)
	}
	return err == nil
}

// TestWhoMayWriteAndReadTheLedger: an operator writes under his own id, and nobody else writes or takes away anything.
func TestWhoMayWriteAndReadTheLedger(t *testing.T) {
	a, url := guarded(t)
	owner, other := connect(t, url, a.Controller), connect(t, url, a.Controller)
	looker, agent, joiner := connect(t, url, reader(a)), connect(t, url, a.Agent), connect(t, url, func(key string) (string, error) {
		return a.Joiner(key, time.Now().Add(time.Hour))
	})
	part := wire.Record(owner.id.ID(), "r1", wire.RecordBegin)
	if _, err := owner.Conn().RequestWithContext(t.Context(), part, []byte("mine")); err != nil {
		t.Fatalf("an operator may not write: %v", err)
	}
	keys := wire.RecordKeys(owner.id.ID(), "2026-W01")
	for who, c := range map[string]client{"another operator": other, "a reader": looker, "an agent": agent, "who joins": joiner} {
		for _, subject := range []string{part, keys, wire.Record(owner.id.ID(), "r2", "1")} {
			if may(t, c, who, func() error { return c.Publish(subject, []byte("forged")) }) {
				t.Errorf("%s may write to %s", who, subject)
			}
		}
		for _, what := range []string{"STREAM.PURGE", "STREAM.DELETE", "STREAM.UPDATE", "STREAM.MSG.DELETE", "STREAM.CREATE", "STREAM.RESTORE", "STREAM.SNAPSHOT",
			"CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE"} {
			for _, name := range streamNames() {
				if may(t, c, what, func() error { return c.Publish("$JS.API."+what+"."+name, []byte("{}")) }) {
					t.Errorf("%s may %s %s", who, what, name)
				}
			}
		}
	}
	for who, c := range map[string]client{"himself": owner, "another operator": other, "a reader": looker} {
		m, ok, err := streams.Last(t.Context(), c.Conn(), ledger.StreamName, part)
		if err != nil || !ok || string(m.Data) != "mine" {
			t.Errorf("%s reads %q, %v, %v", who, m.Data, ok, err)
		}
		if !may(t, c, who, func() error { _, err := c.Subscribe(wire.Record("*", "r1", "*"), func(wire.Msg) {}); return err }) {
			t.Errorf("%s may not follow a run", who)
		}
	}
	for who, c := range map[string]client{"an agent": agent, "who joins": joiner} {
		if may(t, c, who, func() error { return c.Publish("$JS.API.DIRECT.GET."+ledger.StreamName, []byte("{}")) }) {
			t.Errorf("%s may read", who)
		}
		if may(t, c, who, func() error { _, err := c.Subscribe(wire.Record("*", "*", "*"), func(wire.Msg) {}); return err }) {
			t.Errorf("%s may follow runs", who)
		}
	}
}

// TestReadersCommandNobody: whatever a reader sends reaches no agent, no controller and no registrar.
func TestReadersCommandNobody(t *testing.T) {
	a, url := guarded(t)
	looker, agent, operator := connect(t, url, reader(a)), connect(t, url, a.Agent), connect(t, url, a.Controller)
	for _, subject := range []string{
		wire.HostSubject(agent.id.ID(), wire.KindPlan), wire.HostSubject(agent.id.ID(), wire.KindExec), wire.HostSubject(agent.id.ID(), wire.KindPing), wire.RunSubject("r1", wire.KindCancel),
		wire.ToAll(wire.KindFleetSize), wire.Registrar("list"), wire.Registrar("approve"), wire.Results("r1", agent.id.ID(), wire.KindBatch), wire.JoinSubject,
		wire.Questions(agent.id.ID(), "r1", wire.KindAsk), wire.Presence(agent.id.ID(), wire.KindHello), wire.Credentials(agent.id.ID()), wire.DisconnectSubject,
		wire.RunStopSubject(operator.id.ID(), "r1"), wire.RunStopSubject(looker.id.ID(), "r1"), wire.Record(looker.id.ID(), "r1", wire.RecordBegin),
		wire.Inbox(operator.id.ID()) + ".x",
	} {
		if may(t, looker, subject, func() error { return looker.Publish(subject, []byte("x")) }) {
			t.Errorf("a reader may publish on %s", subject)
		}
	}
	for _, subject := range []string{wire.ResultsOfRun("*"), wire.QuestionsOfRun("*"), wire.HostSubject("*", "*"), wire.Registrar(">"), wire.RunStopSubject("*", "*"), ">"} {
		if may(t, looker, subject, func() error { _, err := looker.Subscribe(subject, func(wire.Msg) {}); return err }) {
			t.Errorf("a reader may listen on %s", subject)
		}
	}
	if _, err := roster.New(looker.Conn(), nil).All(t.Context()); err != nil {
		t.Errorf("a reader cannot read the roster: %v", err)
	}
}

// TestOperatorsStopTheirOwnRunsOnly as far as the broker goes.
func TestOperatorsStopTheirOwnRunsOnly(t *testing.T) {
	a, url := guarded(t)
	owner, other := connect(t, url, a.Controller), connect(t, url, a.Controller)
	mine := wire.RunStopSubject(owner.id.ID(), "r1")
	listen := func(c client) func() error {
		return func() error { _, err := c.Subscribe(mine, func(wire.Msg) {}); return err }
	}
	send := func(c client) func() error { return func() error { return c.Publish(mine, []byte("x")) } }
	if !may(t, owner, "listen", listen(owner)) || !may(t, owner, "send", send(owner)) {
		t.Error("an operator may not stop his own run")
	}
	if may(t, other, "listen", listen(other)) || may(t, other, "send", send(other)) {
		t.Error("an operator may stop another's run")
	}
}

// TestLedgerIsWrittenOnceAndKept: even the registrar cannot take single messages out, and a part that is there is not
// written again by mistake.
func TestLedgerIsWrittenOnceAndKept(t *testing.T) {
	a, url := guarded(t)
	owner, registrar := connect(t, url, a.Controller), connect(t, url, a.Registrar)
	js, err := jetstream.New(owner.Conn())
	if err != nil {
		t.Fatal(err)
	}
	subject := wire.Record(owner.id.ID(), "r1", "1")
	once := jetstream.WithExpectLastSequencePerSubject(0)
	ack, err := js.Publish(t.Context(), subject, []byte("first"), once, jetstream.WithMsgTTL(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), subject, []byte("second"), once); err == nil {
		t.Error("it was written twice")
	}
	if js, err = manager(t, a, registrar).JetStream(); err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), ledger.StreamName)
	if err != nil {
		t.Fatal(err)
	}
	if stream.DeleteMsg(t.Context(), ack.Sequence) == nil || stream.Purge(t.Context()) == nil {
		t.Error("a message was taken out")
	}
	if m, ok, err := streams.Last(t.Context(), owner.Conn(), ledger.StreamName, subject); err != nil || !ok || string(m.Data) != "first" {
		t.Errorf("%q, %v, %v", m.Data, ok, err)
	}
}
