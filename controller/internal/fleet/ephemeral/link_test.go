package ephemeral

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	resident "hark/agent"
	"hark/agent/wire"
	"hark/agent/wire/mem"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/play/link"
	"hark/modules"
)

// names is a roster of agents none of which is there.
type names []string

func (n names) Find(_ context.Context, name string) (roster.Agent, error) {
	for _, known := range n {
		if known == name {
			id, err := wire.NewIdentity()
			if err != nil {
				return roster.Agent{}, err
			}
			return roster.Agent{Hello: wire.Hello{Name: name, ID: id.ID(), XKey: id.XKey}, Key: id.Key}, nil
		}
	}
	return roster.Agent{}, &roster.UnknownError{Name: name}
}

func (n names) Size() int                           { return len(n) }
func (n names) Patience(roster.Agent) time.Duration { return 0 }

// told is what a link said of its hosts.
type told struct {
	mu    sync.Mutex
	texts []string // guarded by mu
}

func (s *told) say(host, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, host+": "+text)
}

type echoArgs struct{}

// newLink is a link whose ssh refuses every host and says who it was; the roster has h1.
func newLink(t *testing.T, change func(*Config)) (*Link, *told) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(script,
		[]byte("#!/bin/sh\ncase \"$*\" in *'-- '*) h=${*#*-- }; echo \"no way to ${h%% *}\" >&2 ;; esac; exit 255\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	echo := modules.Define("test.t.echo", "Says that it was here",
		func(_ context.Context, _ *modules.Env, a echoArgs) (modules.Result, error) {
			return modules.Result{Msg: "here"}, nil
		})
	var memory mem.Bus
	operator, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	said := &told{}
	cfg := Config{
		Resident: true, Ways: connections.Settings{Executable: script}, Forks: 2, Logger: zerolog.Nop(), Say: said.say,
		Binaries: func() (*bootstrap.Binaries, error) { return &bootstrap.Binaries{}, nil },
		Hub: link.Config{
			Run: "r1", Agent: resident.Local{Modules: modules.NewRegistry(echo), Logger: zerolog.Nop()}.Run,
			Logger: zerolog.Nop(),
			Dial: func(context.Context) (link.RemoteConfig, error) {
				return link.RemoteConfig{Broker: memory.Connect(operator.ID()), Operator: operator, Roster: names{"h1"}}, nil
			},
		},
	}
	if change != nil {
		change(&cfg)
	}
	l := New(cfg)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, said
}

// call sends a call of a host on its way, and gives the result or the reason why there is none.
func call(t *testing.T, l *Link, host string, way map[string]string) (string, error) {
	t.Helper()
	out, err := l.Exec(t.Context(), wire.Exec{
		Run: "r1", ID: host + way["ansible_connection"], Host: host,
		Call: wire.Call{Module: "test.t.echo", Args: json.RawMessage("{}"), Reach: way},
	})
	return string(out), err
}

// TestCallsGoTheWayThatTheySay: the agent where there is one, ssh where there is none, and what is named before both.
func TestCallsGoTheWayThatTheySay(t *testing.T) {
	without := func(c *Config) { c.NoSSH = "ssh is off" }
	none := func(c *Config) { c.Resident, c.Because = false, "there is no broker" }
	away := func(c *Config) {
		c.Hub.Dial = func(context.Context) (link.RemoteConfig, error) {
			return link.RemoteConfig{}, errors.New("the broker is away")
		}
		c.Hub.OnRecord = func(name string) bool { return name == "h1" }
	}
	for name, tc := range map[string]struct {
		change         func(*Config)
		host, by, want string
	}{
		"an agent that is away is not gone around": {nil, "h1", "", "the agent of h1 is not connected to the broker"},
		"no agent":                      {nil, "h4", "smart", "no way to h4"},
		"ssh is named":                  {nil, "h1", "ssh", "no way to h1"},
		"paramiko is ssh":               {nil, "h1", "paramiko", "no way to h1"},
		"this process":                  {nil, "h1", "local", `"msg":"here"`},
		"a plug-in in Python":           {nil, "h1", "kubectl", "only whole tasks go over its connection kubectl"},
		"no ssh, an agent":              {without, "h1", "", "the agent of h1 is not connected"},
		"no ssh, no agent":              {without, "h4", "", "it has no agent, and ssh is off"},
		"no ssh, and it is named":       {without, "h1", "ssh", "its connection is ssh, and ssh is off"},
		"no host has one":               {none, "h1", "", "no way to h1"},
		"the broker is away, met":       {away, "h1", "", "the broker is away"},
		"the broker is away, never met": {away, "h4", "", "no way to h4"},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newLink(t, tc.change)
			out, err := call(t, l, tc.host, map[string]string{"ansible_connection": tc.by})
			if err != nil {
				out = err.Error()
				var absent *link.AbsentError
				if !errors.As(err, &absent) {
					t.Errorf("%T, which is not an *AbsentError", err)
				}
			}
			if !strings.Contains(out, tc.want) {
				t.Errorf("%s, want %q", out, tc.want)
			}
		})
	}
}

// TestWaysAreToldOnce, with the reason where it was not the user's choice.
func TestWaysAreToldOnce(t *testing.T) {
	l, said := newLink(t, nil)
	for range 2 {
		_, _ = call(t, l, "h4", map[string]string{"ansible_user": "joe", "ansible_port": "2222"})
		_, _ = call(t, l, "h1", map[string]string{"ansible_connection": "ssh", "ansible_host": "10.0.0.1"})
	}
	want := "h4: reached over ssh: joe@h4 port 2222, since no agent of its name was ever enrolled\nh1: reached over " +
		"ssh: 10.0.0.1"
	if got := strings.Join(said.texts, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestNothingIsOpenedForNothing: a link whose hosts need no ssh makes no directory and starts no broker.
func TestNothingIsOpenedForNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l, _ := newLink(t, nil)
	_, _ = call(t, l, "h1", map[string]string{"ansible_connection": "local"})
	if err := errors.Join(l.Cancel(wire.Cancel{}), l.End(t.Context())); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
