package link

import (
	"slices"
	"testing"
	"time"

	"hark/agent/wire"
)

// stand has the hosts of a quietHub stand at a gate, with a batch that is to be answered.
func stand(t *testing.T, h *Hub, names ...string) {
	t.Helper()
	for _, name := range names {
		host := h.members.hosts[name]
		host.hears, host.turn = true, 1
		e := wire.Event{Seq: host.seq + 1, Kind: wire.AtGate, Next: "1.0"}
		if fresh, _ := h.members.note(host, e, 1); !fresh || !host.deferAck(wire.Msg{}, nil, &wire.Batch{Events: []wire.Event{e}}, true) {
			t.Fatalf("%s is answered at once", name)
		}
	}
}

// An Advance answers the hosts that it lets go and whose events the controller has, and no others.
func TestAdvanceAnswersThoseWhomItLetsGo(t *testing.T) {
	h, _ := quietHub(time.Now(), "a", "b", "c", "d", "e")
	var places []uint64
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		places = append(places, h.members.hosts[name].place)
	}
	stand(t, h, "a", "b", "d")
	h.members.hosts["d"].over = true
	first := wire.Advance{Step: "1.0", Only: []string{"b", "c"}}
	letGo(h.members.hosts, &first)
	second := wire.Advance{Step: "1.0"}
	letGo(h.members.hosts, &second)
	for i, want := range [][2]bool{{false, true}, {true, false}, {}, {}, {}} {
		if got := [2]bool{first.Hears(places[i]), second.Hears(places[i])}; got != want {
			t.Errorf("host %d: answered by the first and the second %v, want %v", i, got, want)
		}
	}
	if first.Hears(0) || h.members.hosts["a"].deferredAck != nil || h.members.hosts["d"].deferredAck == nil {
		t.Error("what is owed is not what was left out")
	}
}

// Sessions with neighbouring places are one range; what would be too many ranges is answered one by one.
func TestManyWhoAreLetGoAreFewRanges(t *testing.T) {
	var names []string
	for i := range 4 * mostRanges {
		names = append(names, string(rune('a'+i)))
	}
	h, _ := quietHub(time.Now(), names...)
	slices.SortFunc(names, func(x, y string) int { return int(h.members.hosts[x].place) - int(h.members.hosts[y].place) })
	stand(t, h, names...)
	a := wire.Advance{Step: "1.0"}
	if letGo(h.members.hosts, &a); !slices.Equal(a.Heard, []uint64{1, uint64(len(names))}) {
		t.Errorf("heard %v", a.Heard)
	}
	var even []string
	for i := 0; i < len(names); i += 2 {
		even = append(even, names[i])
	}
	stand(t, h, even...)
	a = wire.Advance{Step: "1.0"}
	alone := letGo(h.members.hosts, &a)
	owed := 0
	for _, name := range even {
		if h.members.hosts[name].deferredAck != nil && slices.Contains(alone, h.members.hosts[name]) {
			owed++
		} else if !a.Hears(h.members.hosts[name].place) {
			t.Errorf("%s has no answer", name)
		}
	}
	if len(a.Heard) != 2*mostRanges || owed != len(even)-mostRanges {
		t.Errorf("%d ranges, %d are owed", len(a.Heard)/2, owed)
	}
}

// A batch that is still to be answered when another of its session comes is answered then, unless that was sent in
// its place.
func TestABatchAnswersTheOneBeforeIt(t *testing.T) {
	h, _ := quietHub(time.Now(), "a")
	a := h.members.hosts["a"]
	a.hears = true
	var answered []string
	send := func(name string, seq uint64) {
		had := a.seq
		e := wire.Event{Seq: seq, Kind: wire.Done, Next: "1.0"}
		h.members.note(a, e, 1)
		m := wire.Msg{Reply: wire.Inbox("a") + ".1", Respond: func([]byte) error { answered = append(answered, name); return nil }}
		answerBatch(h, m, &wire.Frame{}, a.peer, a, &wire.Batch{Events: []wire.Event{e}}, had)
	}
	for _, tt := range []struct {
		name string
		seq  uint64
		want []string
	}{{"first", 1, nil}, {"second", 2, []string{"first"}}, {"again", 2, []string{"first", "again"}}, {"third", 3, []string{"first", "again"}}} {
		send(tt.name, tt.seq)
		if !slices.Equal(answered, tt.want) {
			t.Errorf("after the %s %q are answered, want %q", tt.name, answered, tt.want)
		}
	}
}

// What brings nothing new was sent again and is answered at once, and so is a session that has more to tell or is slow.
func TestOnlyWhoWaitsIsAnsweredLater(t *testing.T) {
	gate := wire.Event{Seq: 1, Kind: wire.AtGate, Next: "1.0"}
	for name, tt := range map[string]struct {
		events []wire.Event
		hears  bool
		news   bool
		late   time.Duration
		owes   bool
	}{
		"stands at a gate":                  {[]wire.Event{gate}, true, true, 0, true},
		"of an earlier version":             {[]wire.Event{gate}, false, true, 0, false},
		"sent again":                        {[]wire.Event{gate}, true, false, 0, false},
		"slow":                              {[]wire.Event{gate}, true, true, 10 * time.Second, false},
		"has ended":                         {[]wire.Event{{Seq: 1, Kind: wire.Ended}}, true, true, 0, true},
		"goes on":                           {[]wire.Event{{Seq: 1, Kind: wire.Done}}, true, true, 0, false},
		"tells of something else meanwhile": {[]wire.Event{gate, {Seq: 2, Kind: wire.Output}}, true, true, 0, false},
	} {
		h, _ := quietHub(time.Now(), "a")
		a := h.members.hosts["a"]
		a.hears, a.verdict = tt.hears, a.grant(wire.Fresh, tt.late, time.Now())
		for _, e := range tt.events {
			h.members.note(a, e, 1)
		}
		if got := a.deferAck(wire.Msg{}, nil, &wire.Batch{Events: tt.events}, tt.news); got != tt.owes {
			t.Errorf("%s: %v", name, got)
		}
	}
}
