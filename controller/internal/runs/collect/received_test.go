package collect

import (
	"os"
	"slices"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/controller/internal/runs/record"
	"hark/playbook/plan"
)

// sealed returns a batch of web2 as its agent sends it.
func sealed(t *testing.T, s link.SessionKeys, events ...wire.Event) []byte {
	t.Helper()
	var codec wire.Codec
	frame, err := codec.Pack(wire.Header{Kind: wire.KindBatch, Run: "r1", Nonce: wire.NewNonce()},
		wire.Batch{Session: wire.Session{Life: "l", Turn: 1}, Run: "r1", Host: s.Host, Events: events},
		wire.Packing{Key: &s.HostKey, Seal: wire.SealHost, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

func sessionOf(host string) (link.SessionKeys, string) {
	s := link.SessionKeys{Host: host, Agent: host, Key: "key of " + host, HostKey: wire.NewKey(), Turn: 1}
	return s, wire.IDOf(s.Key)
}

// What a controller acknowledged and had not recorded when it was killed is on its disk: collect adds it, and nothing
// is missing. What is on record is not added again, items included.
func TestWhatWasAcknowledgedIsCollected(t *testing.T) {
	j := lost(t)
	web1, id1 := sessionOf("web1")
	web2, id2 := sessionOf("web2")
	files := NewSessionKeyFiles(j.Home, j.Run)
	files.Add(web1)
	files.Add(web2)
	event := func(host string, seq uint64, k wire.EventKind, step string, o *wire.Outcome) wire.Event {
		return wire.Event{Run: j.Run, Host: host, Seq: seq, Kind: k, Step: plan.ID(step), Name: "install", Outcome: o}
	}
	ok := outcome(wire.OK, "x")
	files.Keep(id1, sealed(t, web1, event("web1", 1, wire.Started, "1.0", nil), event("web1", 2, wire.Done, "1.0", ok)))
	files.Keep(id1, sealed(t, web1, event("web1", 3, wire.Started, "1.1", nil), event("web1", 4, wire.Item, "1.1", ok),
		event("web1", 5, wire.Item, "1.1", ok), event("web1", 6, wire.Done, "1.1", ok)))
	files.Keep(id2, sealed(t, web2, event("web2", 1, wire.Done, "1.0", outcome(wire.Changed, "y"))))
	sessions, _, err := readSessionKeys(j.Home, j.Run)
	if err != nil {
		t.Fatal(err)
	}
	events, err := j.kept(sessions)
	if err != nil || len(events) != 7 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if slices.ContainsFunc(events, func(e wire.Event) bool { return e.Outcome != nil && e.Outcome.Effects != nil }) {
		t.Error("effects were kept")
	}
	events = append(events, event("web1", 7, wire.Done, "1.2", ok), // the agent had kept it
		event("web1", 8, wire.Ended, "", nil), event("web2", 2, wire.Ended, "", nil))
	r := &Result{Complete: []string{"web1", "web2"}}
	if n := finish(t, j, events, r); n != 3 || r.Gap != "" {
		t.Errorf("%d results were new, %q", n, r.Gap)
	}
	e, err := j.Store.Find(t.Context(), j.Run)
	if err != nil || e.State != record.Ended || e.Foot.Results != 4 {
		t.Errorf("%+v, %v", e.Foot, err)
	}
	items := 0
	for _, line := range texts(t, j) {
		if line == "item web1 ok" {
			items++
		}
	}
	if items != 2 {
		t.Errorf("%d items: %v", items, texts(t, j))
	}
	if err := files.Remove(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(j.Home + "/" + sessionsDir)
	if err != nil || len(left) > 0 {
		t.Errorf("the run has ended, and there are %v, %v", left, err)
	}
}

// The files are bounded. A batch that was cut off when the controller was killed was not acknowledged.
func TestReceivedBatchesAreBounded(t *testing.T) {
	home := t.TempDir()
	s, id := sessionOf("web1")
	r := &received{path: sessionKeysPath(home, "r1"), limit: 2000}
	for seq := range uint64(100) {
		r.keep(id, sealed(t, s, wire.Event{Run: "r1", Host: "web1", Seq: seq + 1, Kind: wire.Started}))
	}
	var size int64
	for _, ext := range []string{receivedExt, olderExt} {
		st, err := os.Stat(r.path + ext)
		if err != nil {
			t.Fatal(err)
		}
		size += st.Size()
	}
	if size > 2*2100 {
		t.Errorf("they have %d bytes", size)
	}
	events, err := readReceived(home, "r1", []link.SessionKeys{s})
	if err != nil || len(events) < 5 || events[len(events)-1].Seq != 100 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for i := range events[1:] {
		if events[i+1].Seq != events[i].Seq+1 {
			t.Errorf("%d follows %d", events[i+1].Seq, events[i].Seq)
		}
	}
	st, err := os.Stat(r.path + receivedExt)
	if err == nil {
		err = os.Truncate(r.path+receivedExt, st.Size()-3)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := readReceived(home, "r1", []link.SessionKeys{s})
	if err != nil || len(again) != len(events)-1 {
		t.Errorf("%d events, %v", len(again), err)
	}
}
