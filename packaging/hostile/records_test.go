//go:build hostile

package hostile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
)

// recorded plays what leaves a record with several results, one of them hidden, and gives the run's id.
func (s *site) recorded() string {
	s.t.Helper()
	r := s.play(project{
		"inventory": "web2\n",
		"site.yml": "- hosts: web2\n  gather_facts: false\n  tasks:\n  - name: first\n    debug: msg=one\n  - name: hidden\n    shell: echo " + canary +
			"\n    no_log: true\n  - name: second\n    shell: sleep 1.2; echo two\n  - name: third\n    shell: echo three\n",
	})
	if r.code != 0 {
		s.t.Fatal(r)
	}
	return s.lastRun(s.owner)
}

// runID is the first column of the list of runs.
var runID = regexp.MustCompile(`(?m)^([a-z0-9]{8,}) `)

// lastRun is the run that is listed first.
func (s *site) lastRun(o *operator) string {
	s.t.Helper()
	r := o.must("runs", "list")
	m := runID.FindStringSubmatch(r.out)
	if m == nil {
		s.t.Fatalf("no run is listed: %s", r)
	}
	return m[1]
}

// reader is somebody whom the owner lets read.
func (s *site) reader(name string) *operator {
	s.t.Helper()
	o := s.newOperator(name)
	s.admit(o)
	list := o.must("runs", "readers", "list").out
	key := regexp.MustCompile(`X[A-Z2-7]{55}`).FindString(list)
	s.owner.must("runs", "readers", "add", name, key)
	return o
}

// kept are the messages of the ledger, as the broker has them.
func (t *tap) kept() []*natsgo.Msg {
	t.s.t.Helper()
	var last = map[string]*natsgo.Msg{}
	var order []string
	for _, m := range t.recorded(wire.Prefix + ".h.") {
		if last[m.Subject] == nil {
			order = append(order, m.Subject)
		}
		last[m.Subject] = m
	}
	var out []*natsgo.Msg
	for _, subject := range order {
		out = append(out, last[subject])
	}
	return out
}

// show has the broker show these messages, and nothing else, as its ledger.
func (t *tap) show(messages []*natsgo.Msg) {
	t.s.t.Helper()
	authority, err := broker.OpenAuthority(t.s.data)
	if err != nil {
		t.s.t.Fatal(err)
	}
	api, err := authority.StreamAPI() // whoever has the broker's directory has that too
	if err != nil {
		t.s.t.Fatal(err)
	}
	js, err := jetstream.NewWithAPIPrefix(t.conn, api)
	if err != nil {
		t.s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	stream, err := js.Stream(ctx, "HARK_RUNS")
	if err != nil {
		t.s.t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	if err = js.DeleteStream(ctx, cfg.Name); err == nil {
		err = again(ctx, js, cfg)
	}
	for _, m := range messages {
		if err == nil {
			_, err = js.Publish(ctx, m.Subject, m.Data)
		}
	}
	if err != nil {
		t.s.t.Fatal(err)
	}
}

// The broker keeps the records of runs. It reads none, and whatever it alters, swaps, leaves out or takes from
// another run, the audit names; nobody takes it for what was recorded.
func TestBrokerCannotForgeRecords(t *testing.T) {
	s := newBroker(t)
	s.startAgent("web2")
	tap := s.tap()
	bela := s.reader("bela")
	other := s.recorded()
	run := s.recorded()
	tap.flush()
	good := tap.kept()
	for _, m := range good {
		for _, word := range []string{canary, "web2", "first", "site.yml"} {
			if bytes.Contains(m.Data, []byte(word)) {
				t.Errorf("the broker reads %q in %s", word, m.Subject)
			}
		}
	}
	find := func(run, part string) int {
		for i, m := range good {
			if strings.HasSuffix(m.Subject, "."+run+"."+part) {
				return i
			}
		}
		t.Fatalf("there is no part %s of run %s", part, run)
		return 0
	}
	clean := bela.must("runs", "show", run)
	without := func(i int) []*natsgo.Msg { return append(append([]*natsgo.Msg{}, good[:i]...), good[i+1:]...) }
	with := func(i int, data []byte) []*natsgo.Msg {
		out := append([]*natsgo.Msg{}, good...)
		out[i] = &natsgo.Msg{Subject: good[i].Subject, Data: data}
		return out
	}
	flipped := func(i, at int) []byte {
		data := bytes.Clone(good[i].Data)
		data[len(data)-1-at] ^= 1
		return data
	}
	for _, c := range []struct {
		name  string
		shows []*natsgo.Msg
		want  string
	}{
		{"nothing", good, ""},
		{"a part altered", with(find(run, "1"), flipped(find(run, "1"), 0)), "part 1 was altered"},
		{"a part left out", without(find(run, "1")), "part 1 is missing"},
		{"the beginning left out", without(find(run, "begin")), "its beginning is missing"},
		{"the end left out", without(find(run, "end")), "the broker does not have its end"},
		{"two parts swapped", func() []*natsgo.Msg {
			out := with(find(run, "1"), good[find(run, "2")].Data)
			out[find(run, "2")] = &natsgo.Msg{Subject: good[find(run, "2")].Subject, Data: good[find(run, "1")].Data}
			return out
		}(), "in another's place"},
		{"a part of another run", with(find(run, "1"), good[find(other, "1")].Data), "is of run " + other},
		{"the end of another run", with(find(run, "end"), good[find(other, "end")].Data), "is of run " + other},
		{"what is none", with(find(run, "end"), []byte("hk1\n")), "its end was altered"},
	} {
		tap.show(c.shows)
		r := s.owner.hark("runs", "audit")
		if c.want == "" {
			if r.code != 0 || strings.Contains(r.out, "WRONG") {
				t.Errorf("%s: %s", c.name, r)
			}
			continue
		}
		if r.code != 1 || !strings.Contains(r.out, c.want) {
			t.Errorf("%s: %s\nwant %q", c.name, r, c.want)
		}
		for _, line := range strings.Split(r.out, "\n") {
			if strings.HasPrefix(line, other+" ") && strings.Contains(line, "WRONG") {
				t.Errorf("%s: the other run: %s", c.name, line)
			}
		}
		if r := bela.hark("runs", "show", run); r.code == 0 && r.out == clean.out && r.errs == clean.errs {
			t.Errorf("%s: a reader takes it for the record: %s", c.name, r)
		}
	}
	tap.show(good)
	if r := bela.hark("runs", "show", run); r.out != clean.out {
		t.Errorf("%s\nwant %s", r, clean)
	}
}

// An operator who is no reader sees that there is something, and nothing of it; one who writes under another's id, or
// claims a name, is not believed.
func TestOperatorsWriteForThemselvesAlone(t *testing.T) {
	s := newBroker(t)
	s.startAgent("web2")
	run := s.recorded()
	eve := s.newOperator("eve")
	s.admit(eve)
	if r := eve.must("runs", "list"); strings.Contains(r.out, run) || !strings.Contains(r.errs, "sealed for others") {
		t.Error(r)
	}
	if r := eve.hark("runs", "show", run); r.code == 0 {
		t.Error(r)
	}
	// With a program of her own.
	authority, err := broker.OpenAuthority(s.data)
	if err != nil {
		t.Fatal(err)
	}
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	token, err := authority.ControllerUntil(id.Key, time.Time{}, false)
	if err != nil {
		t.Fatal(err)
	}
	bus, err := nats.Dial(context.Background(), nats.Config{URL: s.url, ID: id.ID(), Identity: id, JWT: token, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	text, err := os.ReadFile(filepath.Join(s.owner.home, "operator.nk"))
	if err != nil {
		t.Fatal(err)
	}
	owner, err := wire.ParseIdentity(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{
		wire.Record(owner.ID(), run, "1"), wire.Record(owner.ID(), "zzzz", "begin"), wire.RecordKeys(owner.ID(), "2026-W01"), wire.RunStopSubject(owner.ID(), run),
		"$JS.API.STREAM.DELETE.HARK_RUNS", "$JS.API.STREAM.PURGE.HARK_RUNS", "$JS.API.STREAM.UPDATE.HARK_RUNS", "$JS.API.STREAM.MSG.DELETE.HARK_RUNS",
	} {
		if err := bus.Publish(subject, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := bus.Flush(context.Background()); !errors.Is(err, wire.ErrDenied) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if r := s.owner.must("runs", "audit"); strings.Contains(r.out, "WRONG") || !strings.Contains(r.out, run) {
		t.Error(r)
	}
}

// Who may only look sees runs that he is a reader of, and the roster. Nothing that he does reaches an agent, whoever
// obeys him.
func TestReadersCommandNobody(t *testing.T) {
	s := newBroker(t)
	s.startAgent("web2")
	looker := s.newOperator("looker")
	s.admit(looker, "--read-only")
	key := regexp.MustCompile(`X[A-Z2-7]{55}`).FindString(looker.must("runs", "readers", "list").out)
	s.owner.must("runs", "readers", "add", "looker", key)
	// Even one whom agents obey by mistake.
	public := strings.TrimSpace(looker.must("key", "show", "--public").out)
	s.owner.must("key", "trust", public)
	run := s.recorded()
	if r := looker.must("runs", "show", run); !strings.Contains(r.out, "TASK [third]") {
		t.Error(r)
	}
	if r := looker.must("agents", "list"); !strings.Contains(r.out, "web2") {
		t.Error(r)
	}
	witness := s.witness()
	dir := s.lay(project{"inventory": "web2\n", "site.yml": "- hosts: web2\n  gather_facts: false\n  tasks:\n  - shell: touch " + witness + "\n"})
	if r := looker.in(dir, "play", "-i", "inventory", "site.yml"); r.code == 0 {
		t.Error(r)
	}
	for _, command := range [][]string{
		{"agents", "revoke", "web2"}, {"agents", "remove", "web2"}, {"agents", "token", "--approve"}, {"key", "trust", public}, {"runs", "stop", run}, {"runs", "collect", run},
	} {
		if r := looker.hark(command...); r.code == 0 {
			t.Errorf("%v: %s", command, r)
		}
	}
	if r := s.owner.must("agents", "list", "--present"); !strings.Contains(r.out, "web2") {
		t.Error(r)
	}
}

// again makes a stream that was deleted. The server takes the old one's files away beside, and may find them in its
// way: then its code is 10049.
func again(ctx context.Context, js jetstream.JetStream, cfg jetstream.StreamConfig) error {
	const storeFailed jetstream.ErrorCode = 10049
	for {
		_, err := js.CreateStream(ctx, cfg)
		var refused *jetstream.APIError
		if !errors.As(err, &refused) || refused.ErrorCode != storeFailed {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}
