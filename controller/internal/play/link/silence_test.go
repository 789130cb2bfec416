package link

import (
	"testing"
	"time"

	"hark/agent/wire"
)

// quietHub is a Hub whose hosts, each with an agent of its own, were let go now and have said nothing since.
func quietHub(now time.Time, hosts ...string) (*Hub, map[string]*peer) {
	h, peers := New(Config{Run: "r"}), map[string]*peer{}
	for _, name := range hosts {
		p := &peer{id: name, hosts: map[string]bool{}, heard: now}
		h.members.peers[name], peers[name] = p, p
		h.members.turnTo(name, p).opening = false
	}
	return h, peers
}

// Where many agents are silent a few are asked at a time, those first that have been silent for longest, and none
// twice before it has answered.
func TestSilentAgentsAreAskedByTurns(t *testing.T) {
	now, all := time.Now(), map[*peer]expectation{}
	for i := range 3 * askedAtOnce {
		all[&peer{heard: now.Add(-time.Minute - time.Duration(i)*time.Second)}] = word
	}
	spoke := &peer{heard: now.Add(-time.Second)}
	all[spoke] = word
	seen := map[*peer]bool{}
	for round := range 3 {
		asked := silent(all, 4*time.Second, false, now)
		if len(asked) != askedAtOnce {
			t.Fatalf("round %d: %d are asked", round, len(asked))
		}
		for i, p := range asked {
			if seen[p] || i > 0 && p.heard.Before(asked[i-1].heard) {
				t.Fatalf("round %d: an agent is asked twice, or before one that was silent for longer", round)
			}
			seen[p] = true
		}
	}
	if more := silent(all, 4*time.Second, false, now); len(more) > 0 || seen[spoke] {
		t.Errorf("%d more are asked; the one that has just spoken: %v", len(more), seen[spoke])
	}
}

// A host that waits for others is left alone for longer than until its lease is renewed; once it is let go it has the
// usual time.
func TestHostsThatWaitAreAskedSeldom(t *testing.T) {
	const silence = 4 * time.Second
	now := time.Now()
	h, peers := quietHub(now, "waits", "works")
	h.members.note(h.members.hosts["waits"], wire.Event{Seq: 1, Kind: wire.Done, Step: "1.0", Next: "1.1"}, 1)
	h.members.note(h.members.hosts["works"], wire.Event{Seq: 1, Kind: wire.Started, Step: "1.1"}, 1)
	look := func(after time.Duration) (names []string) {
		for _, p := range silent(allAwaited(h.members), silence, false, now.Add(after)) {
			names = append(names, p.id)
			p.ping.asking = false
		}
		return names
	}
	if got := look(5 * time.Second); len(got) != 1 || got[0] != "works" {
		t.Errorf("after 5 s are asked %v", got)
	}
	if got := look(45 * time.Second); len(got) != 2 {
		t.Errorf("after 45 s are asked %v", got)
	}
	a := wire.Advance{Step: "1.1", Only: []string{"works"}}
	if letGo(h.members.hosts, &a); h.members.hosts["waits"].gate == "" {
		t.Error("a host is let go that was not named")
	}
	a.Only = nil
	letGo(h.members.hosts, &a)
	peers["waits"].release(now.Add(30 * time.Second))
	if got := look(33 * time.Second); len(got) != 1 {
		t.Errorf("3 s after it was let go are asked %v", got)
	}
	if got := look(35 * time.Second); len(got) != 2 {
		t.Errorf("5 s after it was let go are asked %v", got)
	}
}

// Once one agent does not answer those that wait for others are asked too.
func TestAllAreAskedWhereOneDoesNotAnswer(t *testing.T) {
	now := time.Now()
	h, peers := quietHub(now, "waits", "works")
	h.members.note(h.members.hosts["waits"], wire.Event{Seq: 1, Kind: wire.Done, Step: "1.0", Next: "1.1"}, 1)
	h.members.note(h.members.hosts["works"], wire.Event{Seq: 1, Kind: wire.Started, Step: "1.1"}, 1)
	awaited := allAwaited(h.members)
	if anyFails(awaited) {
		t.Error("nobody was asked, and one does not answer")
	}
	peers["works"].ping = &ping{failing: now.Add(5 * time.Second), asking: true}
	got := silent(awaited, 4*time.Second, anyFails(awaited), now.Add(6*time.Second))
	if len(got) != 1 || got[0].id != "waits" {
		t.Errorf("asked are %v", got)
	}
}

// An agent of which anything came lately is not given up, nor one whose session may still count on an answer.
func TestAnyWordOfAnAgentShowsThatItIsThere(t *testing.T) {
	now := time.Now()
	h, peers := quietHub(now, "h1")
	p := peers["h1"]
	if got := patientUntil(h.members, h.times, p).Sub(now); got != h.times.Silence+h.times.Gone {
		t.Errorf("after a word it is waited for %s", got)
	}
	if p.hear(now.Add(5 * time.Second)); patientUntil(h.members, h.times, p).Sub(now) != 5*time.Second+h.times.Silence+h.times.Gone {
		t.Errorf("after another word it is waited for %s", patientUntil(h.members, h.times, p).Sub(now))
	}
	h.members.hosts["h1"].grant(h.times.Fresh, 20*time.Second, now)
	if got := patientUntil(h.members, h.times, p).Sub(now); got != 40*time.Second {
		t.Errorf("where an answer counts for 40 s it is waited for %s", got)
	}
}

// A session whose answers take long may count on them for longer, and its host is reported lost no sooner than that.
func TestSlowSessionsMayCountOnAnswersForLonger(t *testing.T) {
	now := time.Now()
	for late, want := range map[time.Duration]time.Duration{0: 3 * time.Second, -time.Hour: 3 * time.Second, time.Second: 3 * time.Second,
		5 * time.Second: 10 * time.Second, time.Hour: time.Minute} {
		var g grants
		v := g.grant(3*time.Second, late, now)
		if until := g.until.Sub(now); until != want || v.Fresh != want && (v.Fresh != 0 || want != 3*time.Second) {
			t.Errorf("late by %s: granted %s, told %s", late, until, v.Fresh)
		}
		if g.grant(3*time.Second, 0, now); g.until.Sub(now) != want {
			t.Errorf("late by %s: a later answer shortens what was granted to %s", late, g.until.Sub(now))
		}
	}
}
