package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
)

// fleet publishes invented agents and duties at an open broker: the agents of the samples, and a keeper's messages,
// sealed for a reader. It prints the keeper's key.
func fleet(ctx context.Context, url, reader string) error {
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := roster.Ensure(ctx, streams.Manager{Conn: conn}); err != nil {
		return err
	}
	if err := dutystate.Ensure(ctx, streams.Manager{Conn: conn}); err != nil {
		return err
	}
	keeper, err := wire.NewIdentity()
	if err != nil {
		return err
	}
	store, err := dutystate.Open(conn, keeper, []string{reader}, func(string) bool { return true })
	if err != nil {
		return err
	}
	ids := map[string]string{}
	for i, name := range names("web", 312) {
		if ids[name], err = agent(conn, name, i); err != nil {
			return err
		}
	}
	if err := conn.Flush(); err != nil {
		return err
	}
	if err := duties(ctx, store, ids); err != nil {
		return err
	}
	fmt.Println(keeper.Key)
	return nil
}

// agent publishes the messages of an agent, and returns its id.
func agent(conn *nats.Conn, name string, i int) (string, error) {
	id, err := wire.NewIdentity()
	if err != nil {
		return "", err
	}
	now := time.Now()
	hello := wire.Hello{ID: id.ID(), Name: name, Version: "1.4.2", Proto: 5, OS: "linux", Arch: "amd64",
		Started: now.Add(-30 * time.Hour), XKey: id.XKey}
	beat := wire.Beat{}
	switch {
	case i == 4:
		hello.Trouble = "there is no room on the disk of the state directory: 12 MB are left"
	case i == 8:
		hello.Hold = &wire.Hold{Until: now.Add(2 * time.Hour), Why: "disk swap, anna"}
	case i%100 == 21:
		hello.Version, hello.Arch = "1.4.1", "arm64"
	case i%60 == 17:
		beat.RefusedLastHour = map[wire.Reason]uint64{wire.Untrusted: 3, wire.Replayed: 1}
		beat.Refused = map[wire.Reason]uint64{wire.Untrusted: 14, wire.Replayed: 1}
	case i%40 == 11:
		beat.Jobs = []wire.BeatJob{{ID: fmt.Sprintf("j%d.%d", 916703709622+i, 2000+i), Run: "c14k3f9q2", State: "running",
			Began: now.Add(-time.Duration(i) * time.Minute)}}
		beat.JobCount = 1
	}
	for _, said := range []struct {
		kind wire.Kind
		body any
	}{{wire.KindHello, hello}, {wire.KindBeat, beat}, {wire.KindBye, struct{}{}}} {
		if said.kind == wire.KindBye && i != 40 && i != 77 {
			continue
		}
		var c wire.Codec
		frame, err := c.Pack(wire.Header{Kind: said.kind}, said.body, wire.Packing{Sign: id})
		if err != nil {
			return "", err
		}
		if err := conn.Publish(wire.Presence(id.ID(), said.kind), frame); err != nil {
			return "", err
		}
	}
	return id.ID(), nil
}

// duties publishes the states of the hosts under three duties.
func duties(ctx context.Context, store *dutystate.Store, ids map[string]string) error {
	now := time.Now()
	for _, d := range []dutystate.Definition{
		{Name: "base", Mode: duty.Check, Play: "site.yml", Hosts: "web", Every: "30m", Period: 40 * time.Minute,
			Commit: "9f31c2aa01bc", Next: now.Add(4 * time.Minute)},
		{Name: "ntp", Mode: duty.Enforce, Play: "ntp.yml", Hosts: "all", Every: "6h", Period: 6 * time.Hour,
			Commit: "9f31c2aa01bc", Next: now.Add(2 * time.Hour), Before: "77b0d1e09a4c", Stage: 1},
		{Name: "certificates", Mode: duty.Enforce, Play: "certificates.yml", Hosts: "web", Every: "1d",
			Period: 24 * time.Hour, Commit: "77b0d1e09a4c",
			Paused: &dutystate.Pause{At: now.Add(-3 * time.Hour), Why: "7% of the hosts failed, stop_at is 5%"},
			Stale:  "certificates.yml:14:7: no such module: openssl_certificat"},
	} {
		d.V, d.Count, d.At = dutystate.Version, len(ids), now.Add(-time.Minute)
		if err := store.PutDefinition(ctx, d); err != nil {
			return err
		}
		for i, host := range names("web", len(ids)) {
			if err := store.PutState(ctx, state(d, host, ids[host], i, now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// state returns how a host stands: most as they should, some not.
func state(d dutystate.Definition, host, id string, i int, now time.Time) dutystate.State {
	at := now.Add(-time.Duration(i%30) * time.Minute)
	s := dutystate.State{
		V: dutystate.Version, Duty: d.Name, Host: host, Agent: id, Kind: dutystate.Kept,
		Since: at.Add(-4 * 24 * time.Hour), At: at, Mode: d.Mode, Commit: d.Commit, Run: "c14k3f9q2", Tasks: 96,
		Past: []dutystate.Past{{From: at.Add(-4 * 24 * time.Hour), To: at, Times: 192, Kind: dutystate.Kept,
			Run: "c14k3f9q2"}, {From: at.Add(-5 * 24 * time.Hour), To: at.Add(-4 * 24 * time.Hour), Times: 48,
			Kind: dutystate.Failed, Run: "c10k3f9q2", Tasks: []string{"app : migrate"}}},
	}
	drift := func(task, diff string) {
		s.Kind, s.Since = dutystate.Drifted, now.Add(-3*time.Hour)
		s.Drift = append(s.Drift, dutystate.Change{Task: task, Diff: diff, Since: s.Since})
		s.Past = append([]dutystate.Past{{From: s.Since, To: at, Times: 6, Kind: dutystate.Drifted, Run: "c14k3f9q2",
			Tasks: []string{task}}}, s.Past...)
	}
	base := d.Name == "base"
	if base {
		s.Blind = []string{"app : migrate the schema", "monitoring : reload", "nginx : test the configuration"}
	}
	switch {
	case i == 40 || i == 77:
		s.Kind, s.Since, s.Missed, s.Why, s.Run = dutystate.Absent, now.Add(-2*time.Hour), 4, "no agent named "+host+
			" is connected: last heard of 2 h ago", ""
	case i == 8:
		s.Kind, s.Until, s.Why, s.Run = dutystate.Held, now.Add(2*time.Hour), "disk swap, anna", ""
	case i == 2 && base, d.Name == "certificates" && i%14 == 3:
		s.Kind, s.Since, s.Why = dutystate.Failed, now.Add(-time.Hour), "app : migrate the schema: timed out after 30 s"
		s.Past = append([]dutystate.Past{{From: s.Since, To: at, Times: 2, Kind: dutystate.Failed, Run: "c14k3f9q2",
			Tasks: []string{"app : migrate the schema"}}}, s.Past...)
	case base && i < 60:
		drift("nginx : template nginx.conf",
			"--- before: /etc/nginx/nginx.conf\n+++ after: /etc/nginx/nginx.conf\n@@ -4,5 +4,5 @@\n events {\n-    "+
				"worker_connections 768;\n+    worker_connections 1024;\n }\n")
	case base && i >= 300:
		drift("sshd : PermitRootLogin", "-PermitRootLogin yes\n+PermitRootLogin no\n")
	case d.Name == "ntp" && i%50 == 7:
		s.Kind, s.Drift = dutystate.Mended,
			[]dutystate.Change{{Task: "ntp : configure chrony", Diff: "-pool 2.debian.pool.ntp.org iburst\n+server " +
				"time.example.org iburst\n", Since: at}}
	}
	return s
}
