package runner

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
)

// jobStage are jobs that end when the test says so.
type jobStage struct {
	mu      sync.Mutex
	started []string                 // guarded by mu
	ends    map[string]chan struct{} // guarded by mu
	waiting chan string
}

func (s *jobStage) jobs() Jobs {
	return Jobs{
		Start: func(_ context.Context, inv Invocation) (*value.Dict, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			id := fmt.Sprint("j", modules.Str(modules.Argument(inv.Args, "n")))
			s.started = append(s.started, id)
			s.ends[id] = make(chan struct{})
			return value.DictOf("started", 1, "finished", 0, "ansible_job_id", id), nil
		},
		Wait: func(ctx context.Context, _, id string) (*value.Dict, error) {
			s.mu.Lock()
			end := s.ends[id]
			s.mu.Unlock()
			s.waiting <- id
			select {
			case <-end:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return value.DictOf("ansible_job_id", id, "finished", 1, "rc", 0, "failed", id == "j2"), nil
		},
	}
}

// loopOn runs a loop of three jobs and gives its session's transcript. act is told each job that is waited for.
func loopOn(t *testing.T, play string, act func(s *jobStage, waiting string)) []string {
	t.Helper()
	s := &jobStage{ends: map[string]chan struct{}{}, waiting: make(chan string, 10)}
	var log transcript
	over := make(chan struct{})
	go func() {
		defer close(over)
		cfg := Config{Own: true, Modules: testModules(), Jobs: s.jobs(), Emit: func(e wire.Event) {
			if e.Kind == wire.Item || e.Kind == wire.Done {
				log.event(wire.Event{Kind: e.Kind, Step: e.Step, Outcome: &wire.Outcome{Status: e.Outcome.Status,
					Label: e.Outcome.Label}})
			}
		}}
		vars := wire.HostVars{Inventory: argsOf("inventory_hostname", "h1")}
		if err := New(cfg).Run(context.Background(), planOf(t, play),
			wire.Start{Run: "r", Host: "h1", Vars: vars}); err != nil {
			t.Error(err)
		}
	}()
	limit := time.After(30 * time.Second)
	for {
		select {
		case id := <-s.waiting:
			act(s, id)
		case <-over:
			return log.lines
		case <-limit:
			t.Fatal("the loop does not end")
		}
	}
}

func (s *jobStage) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ends[id])
}

func TestJobsOfALoopRunTogetherAndKeepTheirOrder(t *testing.T) {
	var waiting []string
	got := loopOn(t, `
tasks:
  - probe: {n: "{{ item }}"}
    loop: [1, 2, 3]
    async: 10
    poll: 1
    register: r
    changed_when: r.rc == 0
    ignore_errors: true
`, func(s *jobStage, id string) {
		if waiting = append(waiting, id); len(waiting) == 3 { // all run: they end the other way round
			for _, id := range []string{"j3", "j2", "j1"} {
				s.end(id)
			}
		}
	})
	want := []string{"item 1 changed label=1", "item 1 failed label=2", "item 1 changed label=3", "done 1 failed"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJobsOfALoopThatLooksBackRunInTurn(t *testing.T) {
	for name, keywords := range map[string]string{
		"when": "when: r is not defined or r.rc == 0", "throttle": "throttle: 1",
		"args": "vars: {before: \"{{ r | default(0) }}\"}",
	} {
		t.Run(name, func(t *testing.T) {
			loopOn(t, "tasks:\n  - probe: {n: \"{{ item }}\"}\n    loop: [1, 3, 4]\n    async: 10\n    poll: 1\n    "+
				"register: r\n    "+keywords+"\n",
				func(s *jobStage, id string) {
					s.mu.Lock()
					started := len(s.started)
					s.mu.Unlock()
					if want := map[string]int{"j1": 1, "j3": 2, "j4": 3}[id]; started != want {
						t.Errorf("%d jobs were started when %s ran", started, id)
					}
					s.end(id)
				})
		})
	}
}
