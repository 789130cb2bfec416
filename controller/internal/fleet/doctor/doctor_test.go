package doctor

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play/link"
)

// What is wrong with an agent is told with what to do about it.
func TestDoctorJudgesAgents(t *testing.T) {
	known, err := trust.OpenKnown(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &doctor{link: &fleet.Connection{Known: known, Operator: &wire.Identity{Key: "UME"}}}
	for _, tt := range []struct {
		name              string
		pong              link.Pong
		err               error
		state, says, does string
	}{
		{"all is well", link.Pong{RTT: time.Millisecond}, nil, "", "", ""},
		{"it is gone", link.Pong{}, wire.ErrNoResponder, "failed", "not connected to the broker, last seen never", "systemctl status hark-agent"},
		{"it obeys others", link.Pong{}, errors.New("its issuer is not trusted"), "failed", "does not obey this operator", "hark key trust UME"},
		{"it is silent", link.Pong{}, context.DeadlineExceeded, "failed", "does not answer within 5s", "journalctl -u hark-agent"},
		{"its clock is off", link.Pong{Offset: -time.Hour}, nil, "warning", "off by -1h0m0s", "chrony"},
		{"it was attacked", link.Pong{Alive: wire.Alive{RefusedLastHour: map[wire.Reason]uint64{wire.Untrusted: 2, wire.Replayed: 1}}}, nil,
			"warning", "1 replayed, 2 untrusted", "message refused"},
		{"it was attacked long ago", link.Pong{Alive: wire.Alive{Refused: map[wire.Reason]uint64{wire.Untrusted: 2}}}, nil, "", "", ""},
		{"its disk is full", link.Pong{Alive: wire.Alive{Hello: wire.Hello{Trouble: "the file system of /var/lib/hark is full"}}}, nil, "failed", "/var/lib/hark is full", "on the host"},
	} {
		f, bad := d.judge(answered{agent: roster.Agent{Hello: wire.Hello{Name: "web1"}}, pong: &tt.pong, err: tt.err})
		if bad != (tt.state != "") || f.State != tt.state || !strings.Contains(f.Text, tt.says) || !strings.Contains(f.Do, tt.does) {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

// TestDoctorKnowsTheBook: why an agent is not connected the registrar can tell.
func TestDoctorKnowsTheBook(t *testing.T) {
	known, err := trust.OpenKnown(t.TempDir(), func(text string) { t.Error(text) })
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for want, entry := range map[string]enrol.Agent{
		"was revoked on ":                        {State: enrol.Revoked, At: now},
		"`hark agents approve web1`":             {State: enrol.Pending, At: now},
		"until its credentials expired on ":      {State: enrol.Approved, Expires: now.Add(-time.Minute)},
		"not connected to the broker, last seen": {State: enrol.Approved, Expires: now.Add(time.Minute)},
	} {
		entry.Name, entry.Key = "web1", "UWEB1"
		d := &doctor{link: &fleet.Connection{Known: known, Operator: &wire.Identity{Key: "UME"}}, book: []enrol.Agent{entry}}
		f, bad := d.judge(answered{agent: roster.Agent{Hello: wire.Hello{Name: "web1"}, Key: "UWEB1"}, err: wire.ErrNoResponder})
		if !bad || f.State != "failed" || !strings.Contains(f.Text, want) {
			t.Errorf("%s: %+v", entry.State, f)
		}
	}
}

// What keeps the controller from the broker leads to what to do.
func TestDoctorAdvisesOnTheBroker(t *testing.T) {
	for said, does := range map[string]string{
		"dial tcp 127.0.0.1:4222: connect: connection refused": "start the broker",
		"lookup nowhere: no such host":                         "correct HARK_BROKER",
		"nats: Authorization Violation":                        "hark broker admit",
		"x509: certificate signed by unknown authority":        "hark broker use",
		"dial tcp 10.0.0.1:4222: i/o timeout":                  "firewalls",
		"something else":                                       "journalctl -u hark-broker",
	} {
		if got := brokerAdvice(errors.New(said)); !strings.Contains(got, does) {
			t.Errorf("%s: %s", said, got)
		}
	}
}

// TestVersionsOfAgents: each difference leads to the side that has to be upgraded.
func TestVersionsOfAgents(t *testing.T) {
	const mine = "0.2.0-dev.20+aaaaaaaa"
	for _, x := range []struct {
		agents map[string]int
		want   string
	}{
		{map[string]int{mine: 3}, "ok all agents have this hark's, " + mine},
		{map[string]int{mine: 1, "0.1.0": 2}, "warning hark agents upgrade"},
		{map[string]int{"0.2.0-dev.20+bbbbbbbb": 2}, "warning hark agents upgrade"},
		{map[string]int{"0.2.0": 2}, "warning upgrade hark on this machine"},
		{map[string]int{"0.2.0-dev.9+cccccccc": 1, "0.2.0": 2}, "warning hark agents upgrade, warning upgrade hark on this machine"},
	} {
		d := &doctor{Config: Config{Version: mine, Tell: func(Finding) {}}}
		d.versions(x.agents)
		var said []string
		for _, f := range d.findings {
			said = append(said, f.State+" "+cmp.Or(f.Do, f.Text))
		}
		if got := strings.Join(said, ", "); got != x.want {
			t.Errorf("%v: %s, want %s", x.agents, got, x.want)
		}
	}
}
