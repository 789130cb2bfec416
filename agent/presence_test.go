package agent

import (
	"context"
	"sync"
	"testing"
	"time"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/agent/wire/mem"
)

// TestHeartbeatTellsWhatChanges: what was refused and which jobs are afoot, without a word that says what they are.
func TestHeartbeatTellsWhatChanges(t *testing.T) {
	id := newIdentity(t)
	var bus mem.Bus
	hears, own := bus.Connect("reader"), bus.Connect(id.ID())
	defer hears.Close()
	defer own.Close()
	beats := make(chan wire.Beat, 1)
	sub, err := hears.Subscribe(wire.PresenceOfAll(wire.KindBeat), func(m wire.Msg) {
		var c wire.Codec
		var b wire.Beat
		f, err := wire.Parse(m.Data)
		if err == nil {
			err = f.Body(&c, "", wire.Keys{}, &b)
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case beats <- b:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	jobs := make([]wire.Job, wire.MaxBeatJobs+5)
	for i := range jobs {
		jobs[i] = wire.Job{ID: "j1.2", Run: "k3f9", State: "running", Began: time.Unix(1_800_000_000, 0), Task: "a secret task", Module: "a.secret.module", Dir: "/secret"}
	}
	a := New(Config{
		Transport: own, Identity: id, Name: "web1", Heartbeat: 10 * time.Millisecond, Grace: -1, Trusted: func(string) bool { return false },
		Host: Host{Jobs: runner.Jobs{Afoot: func() []wire.Job { return jobs }}},
	})
	a.inbox.refused.add(wire.Untrusted, time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := a.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	b := <-beats
	cancel()
	running.Wait()
	if b.JobCount != len(jobs) || len(b.Jobs) != wire.MaxBeatJobs || b.RefusedLastHour[wire.Untrusted] != 1 || b.Refused[wire.Untrusted] != 1 {
		t.Errorf("%+v", b)
	}
	if j, want := b.Jobs[0], (wire.BeatJob{ID: "j1.2", Run: "k3f9", State: "running", Began: jobs[0].Began.UTC()}); !j.Began.Equal(want.Began) || j.ID != want.ID || j.Run != want.Run || j.State != want.State {
		t.Errorf("%+v, want %+v", j, want)
	}
}
