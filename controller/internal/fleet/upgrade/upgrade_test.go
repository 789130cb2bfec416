package upgrade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/upgrade"
	"hark/controller/internal/play/link"
)

// fleet plays agents: what each answers to the order, and to pings after it.
type fleet struct {
	mu     sync.Mutex
	orders map[string]wire.Upgraded // by host
	after  map[string]link.Pong     // by key
	asked  []wire.Exec              // guarded by mu
}

func (f *fleet) Exec(_ context.Context, e wire.Exec) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, e)
	out, ok := f.orders[e.Host]
	if !ok {
		return nil, errors.New("the agent of " + e.Host + " is not connected to the broker")
	}
	return json.Marshal(out)
}

func (f *fleet) Ping(_ context.Context, key string) (*link.Pong, error) {
	pong := f.after[key]
	return &pong, nil
}

func binaries(t *testing.T) *bootstrap.Binaries {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &bootstrap.Binaries{Paths: []string{self}}
}

func TestAgentsComeBackOrSayWhyNot(t *testing.T) {
	before := time.Now()
	agent := func(name string) roster.Agent {
		return roster.Agent{Key: name, Hello: wire.Hello{Name: name, ID: name, Version: "v1", OS: "linux",
			Arch: runtime.GOARCH, Started: before}}
	}
	pong := func(version string) link.Pong {
		return link.Pong{Alive: wire.Alive{Hello: wire.Hello{Version: version, Started: before.Add(time.Second)}}}
	}
	liar := pong("v2") // of the version that was asked for, and another program
	liar.Program = strings.Repeat("0", 64)
	f := &fleet{
		orders: map[string]wire.Upgraded{
			"good": {From: "v1", To: "v2"}, "same": {From: "v2", Same: true},
			"sick": {From: "v1", To: "v2", Err: "the new agent does not work on this host: no"},
			"back": {From: "v1", To: "v2"}, "liar": {From: "v1", To: "v2"},
		},
		after: map[string]link.Pong{"good": pong("v2"), "back": pong("v1"), "liar": liar},
	}
	cfg := upgrade.Config{Run: "r", Link: f, Ping: f, Binaries: binaries(t), Forks: 2}
	got := map[string]upgrade.Result{}
	agents := []roster.Agent{agent("good"), agent("same"), agent("sick"), agent("back"), agent("away"), agent("liar")}
	other := agent("other")
	other.Arch = "riscv64"
	if upgrade.Run(t.Context(), cfg, append(agents, other), func(r upgrade.Result) { got[r.Agent] = r }) {
		t.Error("all is said to be well")
	}
	for name, want := range map[string]string{
		"good": "", "same": "", "sick": "does not work on this host", "back": "the host is back at version v1",
		"away": "is not connected", "liar": "did not reach the broker",
		"other": "there is no hark-agent for linux/riscv64",
	} {
		if r := got[name]; r.Agent != name || (r.Err == "") != (want == "") || !strings.Contains(r.Err, want) {
			t.Errorf("%s: %+v, want %q", name, r, want)
		}
	}
	if len(f.asked) != 6 || f.asked[0].Call.Module != wire.UpgradeModule {
		t.Errorf("ordered %+v", f.asked)
	}
	if !upgrade.Run(t.Context(), cfg, agents[:2], func(upgrade.Result) {}) {
		t.Error("two agents that are well are said not to be")
	}
}

func TestProgramsArePulledByThoseWhoWereToldOfThem(t *testing.T) {
	b := binaries(t)
	asks := upgrade.Asks{Binaries: b}
	self, err := b.For("linux", runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for eof := false; !eof; {
		a := asks.Answer(t.Context(), wire.Ask{Kind: wire.AskBlob, Digest: self.Digest, Offset: int64(len(got))})
		if a.Err != "" {
			t.Fatal(a.Err)
		}
		got, eof = append(got, a.Data...), a.EOF
	}
	if !bytes.Equal(got, self.Text) {
		t.Error("the pieces are not the program")
	}
	for name, a := range map[string]wire.Ask{
		"another digest":   {Kind: wire.AskBlob, Digest: strings.Repeat("0", 64)},
		"another question": {Kind: wire.AskVars, Digest: self.Digest},
		"a negative place": {Kind: wire.AskBlob, Digest: self.Digest, Offset: -1},
	} {
		if a := asks.Answer(t.Context(), a); a.Err == "" || len(a.Data) > 0 {
			t.Errorf("%s: answered", name)
		}
	}
	if a := asks.Answer(t.Context(), wire.Ask{Kind: wire.AskBlob, Digest: self.Digest, Offset: 1 << 40}); a.Err != "" ||
		!a.EOF {
		t.Errorf("beyond the end: %+v", a)
	}
}
