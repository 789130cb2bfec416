package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
)

// Names are the tasks and the hosts for which the lines of a record have defined numbers. The zero value has none.
type Names struct {
	hosts map[int]string
	tasks map[int]view.Task
	// Task is the number of the last started task, Stage the last begun stage; nil in runs without stages.
	Task  int
	Stage *Stage
}

// Learn reads what a line defines; other lines change nothing.
func (n *Names) Learn(l *Line) {
	switch {
	case l.Kind == KindHost:
		if n.hosts == nil {
			n.hosts = map[int]string{}
		}
		n.hosts[l.Host] = l.Name
	case l.Step != nil:
		if n.tasks == nil {
			n.tasks = map[int]view.Task{}
		}
		s := l.Step
		n.tasks[l.Task] = view.Task{
			ID: s.ID, Name: s.Name, Action: s.Action, Role: s.Role, Place: s.Place, Handler: s.Handler, NoLog: s.NoLog,
			Check: s.Check, Diff: s.Diff,
			Args: s.Args, Kind: s.Kind, Meta: s.Meta,
		}
	}
	switch l.Kind {
	case KindTaskStart:
		n.Task = l.Task
	case KindStage:
		n.Stage = l.Stage
	}
}

// Host returns the host with a number, "" if there is none.
func (n *Names) Host(number int) string { return n.hosts[number] }

// TaskOf returns the task with a number.
func (n *Names) TaskOf(number int) view.Task { return n.tasks[number] }

// At returns the name of the last started task, "" before the first.
func (n *Names) At() string {
	if n.Task == 0 {
		return ""
	}
	return n.tasks[n.Task].Title()
}

// Stand returns where a run stands: its task, and the stage, without its hosts, of a staged run.
func (n *Names) Stand() (at string, stage *Stage) {
	if n.Stage != nil {
		stage = &Stage{N: n.Stage.N, Of: n.Stage.Of, Name: n.Stage.Name}
	}
	return n.At(), stage
}

// Player replays the lines of a record.
type Player struct {
	View     view.View
	Listener view.Listener
	// Names are those of the lines replayed so far.
	Names Names
	// Only, if set, replays only the results that it chooses, their plays and tasks, and the recap of their hosts.
	Only *Choice

	now     time.Time
	held    []Line   // a play and a task that wait for a result
	origins []Origin // of the result in hand
}

// Origin returns the place of a spot as the run showed it, for views of runs whose display was tagged.
func (p *Player) Origin(_ string, at view.Spot) string {
	for _, o := range p.origins {
		if o.At == at {
			return o.Text
		}
	}
	return ""
}

// Choice chooses results. Fields that are not set choose all.
type Choice struct {
	// Host and Task are patterns, see Matches.
	Host, Task string
	// Bad chooses those that failed or were unreachable.
	Bad bool
}

func (c *Choice) takes(l *Line, n *Names) bool {
	return (!c.Bad || bad(l)) && (c.Host == "" || Matches(c.Host, n.Host(l.Host))) &&
		(c.Task == "" || Matches(c.Task, n.TaskOf(l.Task).Title()))
}

// counts reports whether a row of the recap belongs to the choice.
func (c *Choice) counts(host string, x view.Counts) bool {
	return (!c.Bad || x.Failed+x.Unreachable > 0) && (c.Host == "" || Matches(c.Host, host))
}

// Now returns the time of the event in hand: the clock of the views.
func (p *Player) Now() time.Time { return p.now }

// Begin sets the clock to the beginning of the run; views are made after it.
func (p *Player) Begin(h Head) { p.now = h.At }

// All replays the lines up to the end of a record and returns its foot, nil if there is none.
func (p *Player) All(ctx context.Context, lines Lines) (*Foot, error) {
	for {
		l, err := lines.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if l.Kind == KindFoot {
			return l.Foot, nil
		}
		if err := p.Tell(&l); err != nil {
			return nil, fmt.Errorf("line %d of the record: %w", l.N, err)
		}
	}
}

// Tell replays one line. It skips kinds that it does not know.
func (p *Player) Tell(l *Line) error {
	p.Names.Learn(l)
	if p.Only == nil {
		return p.tell(l)
	}
	switch l.Kind {
	case KindPlay:
		p.held = []Line{*l}
	case KindTaskStart:
		if n := len(p.held); n > 0 && p.held[n-1].Kind == KindTaskStart {
			p.held = p.held[:n-1]
		}
		p.held = append(p.held, *l)
	case KindItem, KindRetry, KindDone, KindProgress, KindAsync:
		if !p.Only.takes(l, &p.Names) {
			return nil
		}
		held := p.held
		p.held = nil
		for i := range held {
			if err := p.tell(&held[i]); err != nil {
				return err
			}
		}
		return p.tell(l)
	case KindStats, KindPlaybook:
		return p.tell(l)
	}
	return nil
}

// tell passes one line to its receiver.
func (p *Player) tell(l *Line) error {
	if p.message(l) {
		return nil
	}
	p.now = l.At
	v := p.View
	switch l.Kind {
	case KindPlaybook:
		v.PlaybookStart(l.Name)
	case KindNoMatch:
		v.NoHostsMatched()
	case KindNoneLeft:
		v.NoHostsRemaining()
	case KindTaskStart:
		v.TaskStart(p.Names.TaskOf(l.Task))
	case KindHostStart:
		v.HostStart(p.Names.TaskOf(l.Task), p.Names.Host(l.Host))
	case KindNotified:
		v.Notified(l.Name, p.Names.Host(l.Host))
	case KindPlay, KindIncluded, KindStats:
		return p.more(l)
	default:
		p.result(l)
	}
	return nil
}

// more replays a line that has more than names.
func (p *Player) more(l *Line) error {
	switch {
	case l.Kind == KindPlay && l.Play != nil:
		p.View.PlayStart(l.Play.shown())
	case l.Kind == KindIncluded && l.Files != nil:
		p.View.Included(p.Names.TaskOf(l.Task), p.include(l.Files))
	case l.Kind == KindStats && l.Stats != nil:
		return p.stats(l.Stats)
	default:
		return errNothing
	}
	return nil
}

// errNothing says that a line lacks what its kind needs.
var errNothing = errors.New("what its kind tells of is missing")

// message replays a line of the messages; it returns false for others.
func (p *Player) message(l *Line) bool {
	m := p.Listener
	switch l.Kind {
	case KindWarn:
		m.Warn(l.Text)
	case KindWarnBlock:
		m.WarnBlock(l.Text)
	case KindDeprecate:
		if l.Notice != nil {
			m.Deprecate(*l.Notice)
		}
	case KindError:
		m.Error(l.Text)
	case KindErrorWrap:
		m.ErrorWrapped(l.Text)
	case KindVerbose:
		m.Verbose(l.Level, l.Name, l.Text)
	case KindSaid:
		m.Print(l.Color, l.Text)
	case KindSaidErr:
		m.PrintErr(l.Color, l.Text)
	case KindBanner:
		m.Banner(l.Text)
	case KindRaw:
		m.Raw(l.Text)
	case KindIncomplete:
		m.Warn(l.Text)
	default:
		return false
	}
	return true
}

// shown returns a play as views have it.
func (p *Play) shown() view.Play {
	return view.Play{
		Name: p.Name, Pattern: p.Pattern, ID: p.ID, Path: p.Path, Hosts: Unfold(p.Hosts), Check: p.Check, Tags: p.Tags,
		Strategy: p.Strategy,
	}
}

func (p *Player) include(in *Include) view.Include {
	out := view.Include{Path: in.Path, Label: in.Label}
	for _, h := range in.Hosts {
		out.Hosts = append(out.Hosts, p.Names.Host(h))
	}
	return out
}

// stats replays the recap.
func (p *Player) stats(s *Stats) error {
	out := view.Stats{Counts: make(map[string]view.Counts, len(s.Rows))}
	for _, r := range s.Rows {
		host := p.Names.Host(r[0])
		counts := view.Counts{OK: r[1], Changed: r[2], Unreachable: r[3], Failed: r[4], Skipped: r[5], Rescued: r[6],
			Ignored: r[7]}
		if p.Only == nil || p.Only.counts(host, counts) {
			out.Hosts = append(out.Hosts, host)
			out.Counts[host] = counts
		}
	}
	for whose, text := range s.Custom {
		v, err := value.Decode(text, value.KindStr)
		stats, ok := v.(*value.Dict)
		if err != nil || !ok {
			return fmt.Errorf("the statistics of %s cannot be read", whose)
		}
		if out.Custom == nil {
			out.Custom = map[string]map[string]any{}
		}
		out.Custom[whose] = map[string]any{}
		stats.Each(func(k, item value.Value) bool {
			name, _ := value.Text(k)
			out.Custom[whose][name] = item
			return true
		})
	}
	p.View.Stats(out)
	return nil
}

// result replays a result.
func (p *Player) result(l *Line) {
	var tell func(view.Result)
	switch l.Kind {
	case KindItem:
		tell = p.View.ItemDone
	case KindRetry:
		tell = p.View.Retry
	case KindDone:
		tell = p.View.Done
	case KindProgress:
		tell = p.View.Progress
	case KindAsync:
		tell = p.View.AsyncDone
	default:
		return
	}
	p.origins = l.Origins
	tell(view.Result{
		Task: p.Names.TaskOf(l.Task), Host: p.Names.Host(l.Host), Name: l.Name, Outcome: l.outcome(),
		Start: l.At.Add(-time.Duration(l.Took) * time.Microsecond), End: l.At,
	})
}

// outcome returns that of a line of results.
func (l *Line) outcome() *wire.Outcome {
	if l.Status == "" {
		return nil
	}
	out := &wire.Outcome{Status: l.Status, Result: l.Result}
	if o := l.Outcome; o != nil {
		out.NoLog, out.Ignored, out.Rescued, out.Cancelled, out.Loop = o.NoLog, o.Ignored, o.Rescued, o.Cancelled, o.Loop
		out.Delegated, out.Label, out.Attempts, out.Retries, out.Meta = o.Delegated, o.Label, o.Attempts, o.Retries, o.Meta
	}
	if out.Result == nil {
		out.Result = json.RawMessage("{}")
	}
	return out
}

// Keeps reports whether a line belongs to the choice, for callers that want the lines themselves; nil keeps all.
func (c *Choice) Keeps(l *Line, n *Names) bool {
	switch l.Kind {
	case KindItem, KindRetry, KindDone, KindProgress, KindAsync:
		return c == nil || c.takes(l, n)
	}
	return true
}

// Options returns the options of a broadcast's view for a replay. prelude reports whether a step comes before the one
// that counts.
func (t *Tally) Options(prelude func(view.Task) bool) view.TallyOptions {
	return view.TallyOptions{Expected: Unfold(t.Expected), Prelude: prelude, Enough: t.Enough, Left: t.Left}
}
