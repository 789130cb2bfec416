package record

import (
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
)

// summary is what a foot says of hosts and tasks.
type summary struct {
	fates   map[string]Fate
	tasks   []TaskSum
	at      map[int]int // of tasks by their number
	results int64
	stages  []StageSum
	stageOf map[string]int // where among the stages a host had its first result; empty in runs without stages
}

func newSummary() summary { return summary{fates: map[string]Fate{}, stageOf: map[string]int{}} }

// stage begins a stage.
func (s *summary) stage(at *Stage) {
	s.stages = append(s.stages, StageSum{N: at.N, Of: at.Of, Name: at.Name})
}

// stageSums are the stages with what became of their hosts.
func (s *summary) stageSums() []StageSum {
	out := slices.Clone(s.stages)
	for host, i := range s.stageOf {
		if out[i].Counts == nil {
			out[i].Counts = map[Fate]int{}
		}
		out[i].Counts[s.fates[host]]++
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
	fate := FateOK
	switch o.Status {
	case wire.StatusFailed:
		t.Failed++
		if !o.Ignored && !o.Rescued {
			fate = FateFailed
		}
	case wire.StatusUnreachable:
		t.Unreachable++
		if !o.Ignored {
			fate = FateUnreachable
		}
	case wire.Changed:
		t.Changed++
		fate = FateChanged
	case wire.Skipped:
		t.Skipped++
	default:
		t.OK++
	}
	was, ok := s.fates[host]
	if !ok && len(s.stages) > 0 {
		s.stageOf[host] = len(s.stages) - 1
	}
	if !ok || fate.worse(was) {
		s.fates[host] = fate
	}
}

// fates are the fates from good to bad.
func fates() []Fate { return []Fate{FateOK, FateChanged, FateFailed, FateUnreachable} }

func (f Fate) worse(than Fate) bool { return slices.Index(fates(), f) > slices.Index(fates(), than) }

// hosts are the hosts by fate, folded.
func (s *summary) hosts() map[Fate][]string {
	by := map[Fate][]string{}
	for host, fate := range s.fates {
		by[fate] = append(by[fate], host)
	}
	for fate, names := range by {
		view.SortHosts(names)
		by[fate] = Fold(names)
	}
	return by
}
