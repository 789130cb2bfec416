//go:build hostile

package hostile

import (
	"encoding/json"
	"strings"
	"testing"

	"hark/agent/wire"
)

// An agent that says it is called otherwise, or that is called more than one line can hold, stays who it is: it takes
// no other host's plays and spoils no command.
func TestNoNameMakesAnAgentAnotherHost(t *testing.T) {
	s := newSite(t)
	if r := s.play(project{"site.yml": "- hosts: web2\n  gather_facts: false\n  tasks:\n  - ping:\n"}); r.code != 0 {
		t.Fatal(r)
	}
	id := s.evil.identity
	for _, name := range []string{"zz " + id.Key + "\ndb1", "zz\n", "a b", "db1", "web2", "\x1b[2J", strings.Repeat("x", 60<<10)} {
		s.evil.say(wire.KindHello, wire.Hello{ID: id.ID(), Name: name, XKey: id.XKey})
		for _, command := range [][]string{{"agents", "list"}, {"jobs", "list"}, {"run", "-i", "hark:", "web2,db1", "-m", "ping"}} {
			if r := s.owner.hark(command...); r.code != 0 || strings.Contains(r.out+r.errs, "zz") {
				t.Errorf("called %.40q, %v: %s", name, command, r)
			}
		}
	}
	s.evil.onPlan = func(x *session) {
		if x.start.Host != taken {
			t.Errorf("it was handed the plan of %s", x.start.Host)
		}
	}
	if r := s.play(project{"site.yml": "- hosts: db1\n  gather_facts: false\n  tasks:\n  - ping:\n"}); r.code != 0 {
		t.Errorf("db1: %s", r)
	}
}

// What an agent says of its version, its platform and its jobs makes no lines of its own, and no command hang or break.
func TestListsHoldOneLineForEach(t *testing.T) {
	s := newSite(t)
	id := s.evil.identity
	forged := "\nforged  present  0 s ago"
	s.evil.say(wire.KindHello, wire.Hello{ID: id.ID(), Name: taken, Version: "1" + forged, OS: forged, XKey: id.XKey})
	if r := s.owner.hark("agents", "list"); r.code != 0 || strings.Contains(r.out, "\nforged") {
		t.Error(r)
	}
	s.evil.say(wire.KindHello, wire.Hello{ID: id.ID(), Name: taken, Version: "1", XKey: id.XKey})
	for _, reply := range []wire.JobsReply{
		{},
		{Jobs: []wire.Job{{ID: "j1.1", State: "running", Task: "task" + forged, Module: "ping"}}},
		{Jobs: []wire.Job{{ID: "j1.1" + forged, State: "running", Module: "ping"}}},
		{Jobs: []wire.Job{{ID: "j1.1", State: "finished", Over: true}, {ID: "j1.1", State: "finished", Over: true}}},
		{Err: "no" + forged},
	} {
		s.evil.onResult = func(_ *session, d *wire.ExecDone) { d.Result, _ = json.Marshal(reply) }
		for _, command := range [][]string{{"list"}, {"show", "j1.1"}, {"tail", "j1.1"}, {"cancel", "j1.1"}} {
			r := s.owner.hark(append([]string{"jobs"}, command...)...)
			if strings.Contains(r.out, "\nforged") || strings.Contains(r.errs, "goroutine") || strings.Contains(r.errs, "panic") {
				t.Errorf("%+v: jobs %v: %s", reply, command, r)
			}
		}
	}
}
