package record

import (
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
)

// summary is what a foot says of hosts and tasks.
type summary struct {
	states  map[string]HostState
	tasks   []TaskSum
	at      map[int]int // of tasks by their number
	results int64
	stages  []StageSum
	stageOf map[string]int // the stage in which a host had its first result; empty in runs without stages
}

func newSummary() summary { return summary{states: map[string]HostState{}, stageOf: map[string]int{}} }

// stage begins a stage.
func (s *summary) stage(at *Stage) {
	s.stages = append(s.stages, StageSum{N: at.N, Of: at.Of, Name: at.Name})
}

// stageSums returns the stages with the states of their hosts.
func (s *summary) stageSums() []StageSum {
	out := slices.Clone(s.stages)
	for host, i := range s.stageOf {
		if out[i].Counts == nil {
			out[i].Counts = map[HostState]int{}
		}
		out[i].Counts[s.states[host]]++
	}
	return out
}

// begin adds a task.
func (s *summary) begin(n int, t view.Task) {
	if s.at == nil {
		s.at = map[int]int{}
	}
	s.at[n] = len(s.tasks)
	s.tasks = append(s.tasks, TaskSum{Task: n, Name: t.Title()})
}

// done counts the end of a task on a host.
func (s *summary) done(task int, host string, o *wire.Outcome) {
	s.results++
	t := &s.tasks[s.at[task]]
	state := StateOK
	switch o.Status {
	case wire.StatusFailed:
		t.Failed++
		if !o.Ignored && !o.Rescued {
			state = StateFailed
		}
	case wire.StatusUnreachable:
		t.Unreachable++
		if !o.Ignored {
			state = StateUnreachable
		}
	case wire.Changed:
		t.Changed++
		state = StateChanged
	case wire.Skipped:
		t.Skipped++
	default:
		t.OK++
	}
	was, ok := s.states[host]
	if !ok && len(s.stages) > 0 {
		s.stageOf[host] = len(s.stages) - 1
	}
	if !ok || state.worse(was) {
		s.states[host] = state
	}
}

// hostStates returns the states from good to bad.
func hostStates() []HostState {
	return []HostState{StateOK, StateChanged, StateFailed, StateUnreachable}
}

func (f HostState) worse(than HostState) bool {
	return slices.Index(hostStates(), f) > slices.Index(hostStates(), than)
}

// hosts returns the hosts by state, folded.
func (s *summary) hosts() map[HostState][]string {
	by := map[HostState][]string{}
	for host, state := range s.states {
		by[state] = append(by[state], host)
	}
	for state, names := range by {
		view.SortHosts(names)
		by[state] = Fold(names)
	}
	return by
}
