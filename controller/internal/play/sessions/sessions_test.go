package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/playbook/plan"
)

// opening is a batch whose sessions open as the test says.
func opening(t *testing.T, open func(s wire.Start) error, change func(*Config)) *Sessions {
	var work sync.WaitGroup
	stopped := make(chan struct{})
	c := Config{
		Start:   func(_ context.Context, w Want) (wire.Start, error) { return wire.Start{Host: w.Host}, nil },
		Open:    func(_ context.Context, s wire.Start) error { return open(s) },
		Want:    func(host string) Want { return Want{Host: host} },
		Work:    &work,
		Stopped: stopped,
	}
	if change != nil {
		change(&c)
	}
	t.Cleanup(func() {
		close(stopped)
		work.Wait()
	})
	return New(c)
}

func TestEachSessionIsOpenedOnceAndTold(t *testing.T) {
	s := opening(t, func(s wire.Start) error {
		if s.Host == "h7" {
			return errors.New("it does not answer")
		}
		return nil
	}, nil)
	for i := range 3 * workers {
		s.Add(fmt.Sprint("h", i))
	}
	s.More(t.Context())
	var told []string
	for s.Busy() {
		o := <-s.Results()
		if (o.Err != nil) != (o.Host == "h7") {
			t.Errorf("%s: %v", o.Host, o.Err)
		}
		told = append(told, o.Host)
		if last := s.Took(); last == s.Busy() {
			t.Error("the last result is not known as such")
		}
	}
	slices.Sort(told)
	if len(slices.Compact(told)) != 3*workers {
		t.Errorf("%d sessions were told of", len(told))
	}
}

func TestSessionsWaitForRoom(t *testing.T) {
	live := 0
	s := opening(t, func(wire.Start) error { return nil }, func(c *Config) {
		c.Room = func(int) int { return 2 - live }
	})
	for _, h := range []string{"a", "b", "c"} {
		s.Add(h)
	}
	s.More(t.Context())
	for s.Busy() {
		<-s.Results()
		s.Took()
		live++
	}
	if s.More(t.Context()); live != 2 || s.Busy() {
		t.Errorf("%d sessions are open, of 2", live)
	}
	live--
	if s.More(t.Context()); !s.Busy() {
		t.Error("nobody has the room that was left")
	}
	<-s.Results()
	s.Took()
}

// A host that was lost goes on behind its step as soon as its agent is back; for others an absent agent is the answer.
func TestWhoWasLostMayNeedAWhile(t *testing.T) {
	tries := map[string]int{}
	s := opening(t, func(s wire.Start) error {
		if tries[s.Host]++; tries[s.Host] == 1 {
			return &link.AbsentError{Host: s.Host, Reason: "gone"}
		}
		if s.Resume != "4" || !slices.Equal(s.Notified, []string{"restart"}) {
			t.Errorf("it begins with %+v", s)
		}
		return nil
	}, func(c *Config) {
		c.Want = func(host string) Want {
			if host == "lost" {
				return Want{Host: host, Resume: "4", Notified: []string{"restart"}}
			}
			return Want{Host: host}
		}
	})
	for _, h := range []string{"lost", "absent"} {
		s.Add(h)
		s.More(t.Context())
		o := <-s.Results()
		s.Took()
		if (o.Err == nil) != (h == "lost") {
			t.Errorf("%s: %v", h, o.Err)
		}
	}
}

func TestWhatHostsBeginWith(t *testing.T) {
	s := &Starts{
		Base: wire.Start{Run: "r", Resume: "2"}, ResumeAt: map[string]plan.ID{"back": "7"},
		Whole: func() (string, []byte, error) { return "d", []byte(`{}`), nil },
		Vars:  func(host string) wire.HostVars { return wire.HostVars{Withheld: []string{host}} },
		Named: func(h string) bool { return h == "named" },
		Reach: []string{"ansible_host"},
	}
	for host, want := range map[string]struct {
		resume         plan.ID
		remote, reside bool
	}{"plain": {"2", false, false}, "back": {"7", false, false}, "named": {"2", true, true},
		"stranger": {"2", true, false}} {
		got, err := s.For(t.Context(), Want{Host: host, Stranger: host == "stranger"})
		if err != nil || got.Resume != want.resume || got.Remote != want.remote || got.Resident != want.reside ||
			got.Vars.Withheld[0] != host || got.Digest != "d" || string(got.Plan) != "{}" {
			t.Errorf("%s: %+v, %v", host, got, err)
		}
	}
	s.Whole = func() (string, []byte, error) { return "d", make([]byte, inlinePlan+1), nil }
	if got, _ := s.For(t.Context(), Want{Host: "plain"}); got.Plan != nil {
		t.Error("a large plan travels with the start")
	}
	if desk := s.OfExecutor("plain"); !desk.Remote || !desk.Resident || desk.Run != "r" {
		t.Errorf("the desk begins with %+v", desk)
	}
}

// A host without an agent of its own has its session where it is, if there is one login for all of the play by which
// an agent can be brought in.
func TestSessionsSettleWhereTheyCan(t *testing.T) {
	login := &wire.Login{Way: map[string]string{"ansible_user": "joe"}}
	for name, tc := range map[string]struct {
		change func(*Starts)
		want   bool
	}{
		"one login": {func(*Starts) {}, true},
		"several":   {func(s *Starts) { s.Login = func(string) *wire.Login { return nil } }, false},
		"no way": {func(s *Starts) { s.Settle = func(context.Context, string, *wire.Login) bool { return false } },
			false},
		"it may restart":  {func(s *Starts) { s.MayRestart = func() bool { return true } }, false},
		"it has an agent": {func(s *Starts) { s.NoAgents = false }, false},
	} {
		cut := &cuts{}
		s := &Starts{
			Tasks: cut, Vars: func(string) wire.HostVars { return wire.HostVars{} }, Here: func(string) bool { return false },
			Named:    func(string) bool { return false },
			Whole:    func() (string, []byte, error) { return "", nil, nil },
			NoAgents: true, Reach: []string{"ansible_user"}, Login: func(string) *wire.Login { return login },
			Settle: func(_ context.Context, host string, l *wire.Login) bool { return host == "h1" && l == login },
		}
		tc.change(s)
		got, err := s.For(t.Context(), Want{Host: "h1"})
		if err != nil || (got.Login == login) != tc.want || tc.want && (got.Remote || cut.made != 1 || got.Reach != nil) ||
			!tc.want && s.NoAgents && !got.Remote {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// cuts counts what is handed out.
type cuts struct{ made int }

func (c *cuts) Make(context.Context, string) (string, []byte, wire.HostVars, error) {
	c.made++
	return "", nil, wire.HostVars{}, nil
}
func (*cuts) Forget(string) {}
