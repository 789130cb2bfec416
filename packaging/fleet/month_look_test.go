//go:build fleet

package fleet

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// What is compared is what people and programs read.

type (
	// runOnRecord is a run as `hark runs list --json` has it.
	runOnRecord struct {
		Head struct {
			Run, Who, From, Duty string
			Line                 []string
			At                   time.Time
		}
		State string
		Foot  *struct {
			Status     string
			Exit       int
			Incomplete string
		}
		Counts map[string]int
	}
	dutyOnRecord struct {
		Name, Keeper, Mode, Commit, Stale string
		Count                             int
		Paused                            *struct{ Why string }
		States                            map[string]int
		Late                              bool
		Next                              time.Time
	}
	hostOnRecord struct {
		Host, State, Commit, Run, Why string
		At, Begun                     time.Time
	}
	agentOnRecord struct {
		Name    string
		Present bool
		Trouble string
	}
	word       struct{ Word string }
	countShown struct {
		N     int
		State string
	}
	runShown struct {
		Run   string
		State word
		Hosts []countShown
	}
	dutyShown struct {
		Duty   string
		State  word
		Commit string
		Hosts  []countShown
	}
)

// seen is everything that is said at a moment.
type seen struct {
	runs   map[string][]runOnRecord // by who reads
	duties map[string][]dutyOnRecord
	hosts  map[string][]hostOnRecord // by duty
	agents []agentOnRecord
	status int // exit code of hark keeper status
	pages  struct {
		runs   []runShown
		duties []dutyShown
		hosts  map[string]string // state by name
		duty   map[string]map[string]string
		needs  map[string]int
		fine   bool
	}
	metrics map[string]float64
}

// look asks everybody, at once.
func (m *team) look(t *testing.T) (s seen, err error) {
	t.Helper()
	s.runs, s.duties, s.hosts = map[string][]runOnRecord{}, map[string][]dutyOnRecord{}, map[string][]hostOnRecord{}
	var mu sync.Mutex
	asks := []func() error{
		func() (err error) {
			s.agents, err = reading[[]agentOnRecord](t, m.anna, "agents", "list")
			return err
		},
		func() error {
			s.status = m.anna.hark(t, "keeper", "status").code
			return nil
		},
		func() error { return m.console.look(&s) },
	}
	for _, p := range m.everybody() {
		if p == m.ci { // it has no home between its jobs
			continue
		}
		asks = append(asks, func() error {
			runs, err := reading[[]runOnRecord](t, p, "runs", "list")
			mu.Lock()
			defer mu.Unlock()
			s.runs[p.name] = runs
			return err
		}, func() error {
			duties, err := reading[[]dutyOnRecord](t, p, "duties", "list")
			mu.Lock()
			defer mu.Unlock()
			s.duties[p.name] = duties
			return err
		})
	}
	for _, name := range []string{"base", "look"} {
		asks = append(asks, func() error {
			hosts, err := reading[[]hostOnRecord](t, m.anna, "duties", "show", name)
			mu.Lock()
			defer mu.Unlock()
			s.hosts[name] = hosts
			return err
		})
	}
	failed := make(chan error, len(asks))
	for _, ask := range asks {
		go func() { failed <- ask() }()
	}
	for range asks {
		err = errors.Join(err, <-failed)
	}
	return s, err
}

// look reads the pages of the console.
func (b *browser) look(s *seen) error {
	runs, err := showing[struct{ Runs []runShown }](b, "/runs?turns=1")
	if err != nil {
		return err
	}
	s.pages.runs = runs.Runs
	duties, err := showing[struct{ Duties []dutyShown }](b, "/duties")
	if err != nil {
		return err
	}
	s.pages.duties, s.pages.duty = duties.Duties, map[string]map[string]string{}
	type row struct {
		Name, Host string
		State      word
	}
	for _, d := range duties.Duties {
		page, err := showing[struct{ Hosts []row }](b, "/duties/"+d.Duty)
		if err != nil {
			return err
		}
		s.pages.duty[d.Duty] = map[string]string{}
		for _, h := range page.Hosts {
			s.pages.duty[d.Duty][h.Host] = h.State.Word
		}
	}
	hosts, err := showing[struct{ Hosts []row }](b, "/hosts")
	if err != nil {
		return err
	}
	s.pages.hosts = map[string]string{}
	for _, h := range hosts.Hosts {
		s.pages.hosts[h.Name] = h.State.Word
	}
	front, err := showing[struct {
		Fine    bool
		Figures map[string]int
	}](b, "/")
	if err != nil {
		return err
	}
	s.pages.fine, s.pages.needs = front.Fine, front.Figures
	s.metrics, err = b.metrics()
	return err
}

// word is the state of a run as people read it.
func (e *runOnRecord) word() string {
	switch {
	case e.State != "ended" || e.Foot == nil:
		return e.State
	case e.Foot.Status == "ok" && len(e.Counts) == 0:
		return "no hosts"
	}
	return e.Foot.Status
}
