package play

import (
	"encoding/json"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/link"
	"hark/controller/internal/play/progress"
	"hark/controller/internal/play/steps"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// lostHosts are the hosts of a batch that are not there, or are not believed. It belongs to the goroutine of the batch.
type lostHosts struct {
	b *batchRun
	// absent are hosts whose agents are not there, and why.
	absent map[string]string
	// at is the step at which a host became unreachable; back, of those brought back, the one behind it.
	at, back map[string]plan.ID
	// resumed are hosts that were lost in a step and go on behind it, with where.
	resumed map[string]plan.ID
}

func newLostHosts(b *batchRun) *lostHosts {
	return &lostHosts{b: b, absent: map[string]string{}, at: map[string]plan.ID{}, back: map[string]plan.ID{},
		resumed: map[string]plan.ID{}}
}

// lost ends the play for a host whose agent went away. What it reported before has been counted.
func (l *lostHosts) lost(lost link.LostHost) {
	if s, job := l.adoptable(lost.Host); job != "" {
		l.awaitJob(lost.Host, lost.Reason, s, job)
		return
	}
	if s := l.pardoned(lost.Host); s != nil {
		l.goOn(lost.Host, lost.Reason+l.unknown(lost.Host), s)
		return
	}
	if l.b.machine.Live(lost.Host) {
		l.unreachable(lost.Host, lost.Reason+l.unknown(lost.Host))
		// Should it come back, it must not go on with the others.
		l.b.publish(wire.Advance{Drop: []string{lost.Host}})
	}
}

// unknown returns the end of a sentence about a host that went away: what nobody knows of it.
func (l *lostHosts) unknown(host string) string {
	b := l.b
	switch {
	case !b.plan.Play.Gated || b.plan.Play.Free():
		return "; whether this task and those after it were done is not known" + l.jobOf(host)
	case b.where.isDoing(host), l.mayHaveBegun(host):
		return "; whether this task was done is not known" + l.jobOf(host)
	}
	return ""
}

// mayHaveBegun reports whether a host may have begun a task of its own without having reported it yet: agents send
// the beginning of a task with what comes next.
func (l *lostHosts) mayHaveBegun(host string) bool {
	s := l.b.steps.Step(l.b.machine.At(host))
	return s != nil && s.Kind == plan.Task && s.Evaluator != plan.Controller
}

// jobOf names the job that a host waited for, which may go on without the play.
func (l *lostHosts) jobOf(host string) string {
	if id := l.b.polls.Job(host); id != "" {
		return " here: if the host did not restart its job goes on, see hark jobs show " + id
	}
	return ""
}

// unreachable makes up the events of a host that cannot tell itself that it is not there.
func (l *lostHosts) unreachable(host, reason string) {
	e := l.madeUp(host, wire.StatusUnreachable, map[string]any{"changed": false, "msg": reason, "unreachable": true})
	if e.Step != "" {
		l.b.handle(e)
	}
	l.b.handle(l.b.tells(host, wire.Ended, wire.Unreachable))
}

// doubt gives a host up whose agent says what no agent of ours would.
func (l *lostHosts) doubt(host, why string) {
	l.unreachable(host, "the agent of "+host+" is not believed: "+why)
	l.b.publish(wire.Advance{Drop: []string{host}})
}

// faulty gives a host up that leaves out what it owes. It is false if there is nothing wrong.
func (l *lostHosts) faulty(host string, f *progress.Fault) bool {
	if f == nil {
		return false
	}
	if f.At != "" {
		l.b.where.put(host, f.At)
	}
	if f.Lost != "" {
		l.unreachable(host, f.Lost)
	} else {
		l.doubt(host, f.Doubt)
	}
	return true
}

// breakdown returns the end of the current step of a host whose session broke.
func (l *lostHosts) breakdown(ended wire.Event) wire.Event {
	text := ended.Text
	if l.b.r.cause() != nil {
		text = "the run was cancelled"
	}
	return l.madeUp(ended.Host, wire.StatusFailed, map[string]any{"changed": false, "failed": true, "msg": text})
}

// madeUp returns the end of the step that a host was at, as the controller reports it.
func (l *lostHosts) madeUp(host string, status wire.Status, result map[string]any) wire.Event {
	e := l.b.tells(host, wire.Done, "")
	if e.Step = l.b.where.of(host); e.Step == "" {
		e.Step = l.firstStep()
	}
	raw, _ := json.Marshal(result)
	e.Time, e.Outcome = time.Now(), &wire.Outcome{Status: status, Result: raw}
	return e
}

// firstStep returns the first step of the plan that a user sees.
func (l *lostHosts) firstStep() plan.ID {
	var first plan.ID
	plan.Walk(l.b.plan.Blocks, func(s *plan.Step) {
		if first == "" && s.Kind != plan.Meta {
			first = s.ID
		}
	})
	return first
}

// bringBack notes where the hosts go on that were lost before (meta clear_host_errors).
func (l *lostHosts) bringBack() {
	for h, at := range l.at {
		if next := steps.Following(l.b.plan.Blocks, at); next != "" {
			l.back[h] = next
		}
	}
	clear(l.at)
}

// pardoned returns the current step of a host, if it may be lost there and goes on behind it (ignore_unreachable, as
// it is written).
func (l *lostHosts) pardoned(host string) *plan.Step {
	s := l.b.steps.Step(l.b.where.of(host))
	if s == nil || !l.b.where.isDoing(host) || !steps.Constant(s.IgnoreUnreachable, false) {
		return nil
	}
	return s
}

// goOn opens a new session for a host that was lost in a step, behind that step. An agent that is not back by then is
// unreachable there.
func (l *lostHosts) goOn(host, reason string, s *plan.Step) {
	result := map[string]any{"changed": false, "msg": reason, "unreachable": true}
	e := l.madeUp(host, wire.StatusUnreachable, result)
	e.Outcome.Ignored = true
	if s.Register != "" {
		d := value.NewDict()
		d.Set(s.Register, value.FromGo(result, value.KindUnsafe))
		e.Outcome.Effects = []wire.Effect{{Layer: "set", Vars: plan.Dict{Dict: d}}}
	}
	l.b.handle(e)
	l.continueBehind(host, s)
}

// continueBehind opens a new session for a host behind a step. It hears which handlers still have to run.
func (l *lostHosts) continueBehind(host string, s *plan.Step) {
	next := steps.Following(l.b.plan.Blocks, s.ID)
	if next == "" {
		l.b.handle(l.b.tells(host, wire.Ended, wire.Finished))
		return
	}
	l.resumed[host] = next
	l.b.where.put(host, next)
	l.b.sessions.Add(host)
}
