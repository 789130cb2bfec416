package keeper

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
)

// shelf is a store in memory and a driver whose turns all succeed.
type shelf struct {
	own dutystate.Words

	mu      sync.Mutex
	reports []dutystate.Report // guarded by mu
	commits []string           // of turns; guarded by mu
}

func (s *shelf) Own(context.Context) (dutystate.Words, error)              { return s.own, nil }
func (s *shelf) Overwritten(context.Context) ([]dutystate.Place, error)    { return nil, nil }
func (s *shelf) PutState(context.Context, dutystate.State) error           { return nil }
func (s *shelf) PutDefinition(context.Context, dutystate.Definition) error { return nil }

func (s *shelf) PutReport(_ context.Context, r dutystate.Report) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, r)
	return nil
}

func (s *shelf) Carry(_ context.Context, t Turn) map[string]Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits = append(s.commits, t.Commit)
	return everywhere(t, Outcome{Status: Done})
}

// tell keeps what is told.
func (s *shelf) tell(w *world, n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.told = append(w.told, n)
}

// staleAndOver is what is told of a project that could not be read for a while.
const staleAndOver = "stale a newer commit of the project is not in force: site.yml:1:1: no\n" +
	"fixed resolved: a newer commit of the project is not in force: site.yml:1:1: no"

func TestAProjectThatCannotBeReadIsTriedAgainAndTold(t *testing.T) {
	at := func(commit string) Plan {
		d := duty.Duty{Name: "base", Mode: duty.Check, AtOnce: 1,
			Schedule: duty.Schedule{Every: time.Minute, Splay: time.Minute}}
		return Plan{Commit: commit, Notify: duty.NotifyAll([]string{"nats:"}),
			Duties: []Planned{{Duty: d, Hosts: []Host{{Name: "web1", Agent: "a1"}}, At: nowhere}}}
	}
	gone := errors.New("it is no longer there")
	for name, x := range map[string]struct {
		definitions []dutystate.Definition
		before      error
		reports     []dutystate.Report
		commits     []string // of turns, in the order in which they came to be in force
	}{
		"a keeper that is new": {nil, gone, []dutystate.Report{{Stale: "site.yml:1:1: no"}, {Commit: "c2"}}, []string{"c2"}},
		"one that was started again": {
			[]dutystate.Definition{{Name: "base", Commit: "c1"}}, nil,
			[]dutystate.Report{{Commit: "c1", Stale: "site.yml:1:1: no"}, {Commit: "c2"}}, []string{"c1", "c2"},
		},
		"and lacks the commit": {[]dutystate.Definition{{Name: "base", Commit: "c1"}}, gone,
			[]dutystate.Report{{Stale: "site.yml:1:1: no"}, {Commit: "c2"}}, []string{"c2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{own: dutystate.Words{Definitions: x.definitions}}
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute+30*time.Second)
				defer cancel()
				told := &world{}
				err := New(Config{
					Tell:  func(_ context.Context, _, _ string, n Notice) { s.tell(told, n) },
					Store: s, Driver: s, Poll: 10 * time.Second, Now: time.Now, Logger: zerolog.Nop(),
					Reached: func() bool { return true }, Keep: func([]string) {},
					Present: func(context.Context) ([]string, error) { return nil, nil },
					Plan: func(context.Context) (Plan, error) {
						if time.Since(begin) < 5*time.Minute {
							return Plan{}, errors.New("site.yml:1:1: no")
						}
						return at("c2"), nil
					},
					Before: func(_ context.Context, commit string) (Plan, error) {
						if x.before != nil {
							return Plan{}, x.before
						}
						return at(commit), nil
					},
				}).Run(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if text := told.texts(); len(x.definitions) > 0 && x.before == nil && text != staleAndOver {
					t.Errorf("told:\n%s", text)
				}
				for i := range s.reports {
					s.reports[i].At, s.reports[i].V, s.reports[i].Notified = time.Time{}, 0, nil
				}
				said := slices.CompactFunc(s.reports, func(a, b dutystate.Report) bool { return reflect.DeepEqual(a, b) })
				if !reflect.DeepEqual(said, x.reports) {
					t.Errorf("it said %+v", said)
				}
				if got := slices.Compact(slices.Clone(s.commits)); !slices.Equal(got, x.commits) ||
					len(s.commits) < 5*len(x.commits) {
					t.Errorf("turns of %v", s.commits)
				}
			})
		})
	}
}
