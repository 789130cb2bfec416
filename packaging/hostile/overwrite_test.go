//go:build hostile

package hostile

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
	"hark/controller/broker"
)

// kept is what a stream takes, and which subjects have a message.
type kept struct {
	takes, has []string
}

// keptStreams reads what the broker keeps.
func keptStreams(c *nats.Conn, names []string) (map[string]kept, error) {
	all := map[string]kept{}
	for _, name := range names {
		m, err := c.Request("$JS.API.STREAM.INFO."+name, []byte(`{"subjects_filter":">"}`), 10*time.Second)
		if err != nil {
			return nil, err
		}
		var info struct {
			Config struct{ Subjects []string }
			State  struct{ Subjects map[string]int }
		}
		if err := json.Unmarshal(m.Data, &info); err != nil {
			return nil, err
		}
		all[name] = kept{info.Config.Subjects, slices.Sorted(maps.Keys(info.State.Subjects))}
	}
	return all, nil
}

// Whoever has access to the broker can have it answer to any subject, and so overwrite what any stream keeps last of it.
// Nothing is decided by that, for as long as it goes on: plays reach their hosts, one of two keepers is at work and the
// other waits, duties are not forgotten, runs are put on record, and what is gone of a record shows. Each kind of subject
// of each stream of the broker has a row here.
func TestAnswersOfTheBrokerDecideNothing(t *testing.T) {
	s := newBroker(t)
	for _, name := range honest {
		s.startAgent(name)
	}
	authority, err := broker.OpenAuthority(s.data)
	if err != nil {
		t.Fatal(err)
	}
	needs, err := authority.Needs()
	if err != nil {
		t.Fatal(err)
	}
	attacker, own := s.guest(authority.Agent)
	looker, _ := s.guest(func(key string) (string, error) { return authority.Reader(key, time.Time{}) })
	project := s.lay(project{
		"inventory": "web2\ndb1\n", "big": strings.Repeat("0123456789abcdef", 1<<17),
		"duties.yml": "- {name: base, play: site.yml, hosts: all, every: 24h, mode: check}\n",
		"site.yml":   "- hosts: all\n  gather_facts: false\n  tasks:\n  - ping:\n",
		"copies.yml": "- hosts: all\n  tasks:\n  - copy: {src: big, dest: \"" + s.dir + "/copy-{{ inventory_hostname }}\"}\n",
	})
	keeper := func(name string) func() string {
		cmd := s.owner.command(context.Background(), "keeper", "run", "--project", project, "-i", filepath.Join(project, "inventory"), "--level", "2.14")
		cmd.Dir = project
		s.start(name, cmd)
		return func() string { return s.read(filepath.Join(s.dir, name+".log")) }
	}
	first := keeper("keeper-1")
	s.await("a keeper", func() bool { return strings.Contains(first(), "keeper at work") })
	second := keeper("keeper-2")
	s.await("a second keeper", func() bool { return strings.Contains(second(), "another keeper with this key is at work") })
	s.owner.must("duties", "run", "base")
	s.owner.must("duties", "pause", "base")
	play := func(file string) outcome {
		t.Helper()
		r := s.owner.in(project, "play", "-i", "inventory", "--level", "2.14", file)
		if r.code != 0 {
			t.Errorf("%s: %s", file, r)
		}
		return r
	}
	play("copies.yml")
	before := s.lastRun(s.owner)
	s.await("the duty's states", func() bool {
		return strings.Contains(s.owner.must("duties", "show", "base").out, "web2")
	})

	stop := s.overwrite(attacker, own, looker, needs.Streams)
	play("copies.yml")
	play("site.yml")
	for range 3 {
		if r := s.owner.must("agents", "list", "--present"); !strings.Contains(r.out, "db1") || !strings.Contains(r.out, "web2") {
			t.Error(r)
		}
	}
	for _, name := range honest {
		if s.read(filepath.Join(s.dir, "copy-"+name)) != s.read(filepath.Join(project, "big")) {
			t.Errorf("%s has another file", name)
		}
	}
	time.Sleep(40 * time.Second) // longer than a lock lasts
	stop()
	if text := first(); strings.Contains(text, "another keeper") || strings.Count(text, "keeper at work") != 1 {
		t.Errorf("the keeper lost its lock:\n%s", text)
	}
	if text := second(); strings.Contains(text, "keeper at work") {
		t.Errorf("two keepers are at work:\n%s", text)
	}
	play("site.yml")
	after := s.lastRun(s.owner)
	list := func(want string, args ...string) {
		t.Helper()
		var r outcome
		for until := time.Now().Add(90 * time.Second); time.Now().Before(until); time.Sleep(time.Second) {
			if r = s.owner.hark(args...); strings.Contains(r.out, want) {
				return
			}
		}
		t.Errorf("hark %v does not say %q: %s", args, want, r)
	}
	states := func() {
		t.Helper()
		list("web2", "duties", "show", "base")
		list(`"paused"`, "duties", "list", "--json")
	}
	working := func() {
		t.Helper()
		list(", since ", "keeper", "status") // once its holder has put the lock there again
	}
	recorded := func() {
		t.Helper()
		if r := s.owner.hark("runs", "audit", after); r.code != 0 {
			t.Errorf("a run after it: %s", r)
		}
		if r := s.owner.hark("runs", "audit", before); r.code != 1 {
			t.Errorf("what was overwritten does not show: %s", r)
		}
	}
	rows := map[string]func(){
		wire.PresenceOfAll(wire.KindHello): func() { list("db1", "agents", "list", "--present") },
		wire.PresenceOfAll(wire.KindBeat):  func() {}, wire.PresenceOfAll(wire.KindBye): func() {},
		wire.Record("*", "*", "*"):           recorded,
		wire.DutyStateSubject("*", "*", "*"): states,
		"$KV.HARK_KEEPERS.>":                 working,
		wire.Facts("*", "*"):                 func() { play("copies.yml") },
		wire.FactsKeys("*", "*"):             func() {},
		wire.FilePiece("*", "*", "*"):        func() {}, // above, while it went on
	}
	all, err := keptStreams(looker, needs.Streams)
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range all {
		for _, pattern := range k.takes {
			row := rows[pattern]
			if row == nil {
				t.Errorf("nobody has tried what overwriting %s in %s does", pattern, name)
				continue
			}
			row()
		}
	}
	if r := s.owner.hark("keeper", "status"); t.Failed() {
		log, _ := os.ReadFile(filepath.Join(s.dir, "broker.log"))
		t.Logf("%s\n%s\n%s", r, first(), log)
	}
}

// overwrite has the broker answer to every subject that its streams have something of, all the time until stop is
// called: as an agent can, and as somebody can who may look.
func (s *site) overwrite(attacker *nats.Conn, own string, looker *nats.Conn, names []string) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	ask := func(c *nats.Conn, subject, reply, body string) {
		if err := c.PublishRequest(subject, reply, []byte(body)); err != nil {
			s.t.Error(err)
		}
	}
	work.Go(func() {
		for ctx.Err() == nil {
			all, err := keptStreams(looker, names)
			if err != nil {
				s.t.Error(err)
			}
			for name, k := range all {
				for _, subject := range k.has {
					ask(attacker, wire.Presence(own, wire.KindBeat), subject, "")
					ask(attacker, wire.ReadPiece(wire.FilePiece(own, "x", "1")), subject, "")
					ask(looker, "$JS.API.DIRECT.GET."+name, subject, `{"last_by_subj":"`+subject+`"}`)
					ask(looker, "$JS.API.DIRECT.GET."+name, subject, `{"seq":1,"next_by_subj":">","batch":1}`)
					ask(looker, "$JS.API.STREAM.INFO."+name, subject, "")
				}
			}
			_ = attacker.Flush()
			_ = looker.Flush()
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}
