package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/view"
	"hark/playbook/jinja/value"
)

// Names are the tasks and the hosts that the lines of a record have given numbers to. The zero value has none.
type Names struct {
	hosts map[int]string
	tasks map[int]view.Task
	// Task is the number of the task that was started last.
	Task int
}

// Learn takes in what a line says of numbers; other lines change nothing.
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
			ID: s.ID, Name: s.Name, Action: s.Action, Role: s.Role, Place: s.Place, Handler: s.Handler, NoLog: s.NoLog, Check: s.Check, Diff: s.Diff,
			Args: s.Args, Kind: s.Kind, Meta: s.Meta,
		}
	}
	if l.Kind == KindTaskStart {
		n.Task = l.Task
	}
}

// Host is the host of a number, "" for one that was not given.
func (n *Names) Host(number int) string { return n.hosts[number] }

// TaskOf is the task of a number.
func (n *Names) TaskOf(number int) view.Task { return n.tasks[number] }

// At is the name of the task that was started last, "" before the first.
func (n *Names) At() string {
	if n.Task == 0 {
		return ""
	}
	return n.tasks[n.Task].Title()
}

// Player tells the lines of a record again.
type Player struct {
	View     view.View
	Listener view.Listener
	// Names are those of the lines told so far.
	Names Names
	// Only, if set, leaves out the lines of results for which it gives false.
	Only func(l *Line, n *Names) bool

	now time.Time
}

// Now is when the event in hand was told: the clock of the views.
func (p *Player) Now() time.Time { return p.now }

// Begin sets the clock to the beginning of the run; views are made after it.
func (p *Player) Begin(h Head) { p.now = h.At }

// All tells the lines up to the end of a record, whose foot it gives; nil if there is none.
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

// Tell tells one line. Kinds that are not known are passed over.
func (p *Player) Tell(l *Line) error {
	p.Names.Learn(l)
	if p.message(l) {
		return nil
	}
	p.now = l.At
	v := p.View
	switch l.Kind {
	case KindPlaybook:
		v.PlaybookStart(l.Name)
	case KindPlay:
		if l.Play == nil {
			return errNothing
		}
		v.PlayStart(l.Play.shown())
	case KindNoMatch:
		v.NoHostsMatched()
	case KindNoneLeft:
		v.NoHostsRemaining()
	case KindTaskStart:
		v.TaskStart(p.Names.TaskOf(l.Task))
	case KindHostStart:
		v.HostStart(p.Names.TaskOf(l.Task), p.Names.Host(l.Host))
	case KindIncluded:
		if l.Files == nil {
			return errNothing
		}
		v.Included(p.Names.TaskOf(l.Task), p.include(l.Files))
	case KindNotified:
		v.Notified(l.Name, p.Names.Host(l.Host))
	case KindStats:
		if l.Stats == nil {
			return errNothing
		}
		return p.stats(l.Stats)
	default:
		p.result(l)
	}
	return nil
}

// errNothing is a line without what its kind needs.
var errNothing = errors.New("what its kind tells of is missing")

// message tells a line of the messages; false if it is none.
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

// shown is a play as views have it.
func (p *Play) shown() view.Play {
	out := view.Play{Name: p.Name, Pattern: p.Pattern, ID: p.ID, Path: p.Path, Check: p.Check, Tags: p.Tags, Strategy: p.Strategy}
	for _, folded := range p.Hosts {
		out.Hosts = append(out.Hosts, view.Unfold(folded)...)
	}
	return out
}

func (p *Player) include(in *Include) view.Include {
	out := view.Include{Path: in.Path, Label: in.Label}
	for _, h := range in.Hosts {
		out.Hosts = append(out.Hosts, p.Names.Host(h))
	}
	return out
}

// stats tells the recap.
func (p *Player) stats(s *Stats) error {
	out := view.Stats{Counts: make(map[string]view.Counts, len(s.Rows))}
	for _, r := range s.Rows {
		host := p.Names.Host(r[0])
		out.Hosts = append(out.Hosts, host)
		out.Counts[host] = view.Counts{OK: r[1], Changed: r[2], Unreachable: r[3], Failed: r[4], Skipped: r[5], Rescued: r[6], Ignored: r[7]}
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

// result tells a result.
func (p *Player) result(l *Line) {
	tell := map[Kind]func(view.Result){
		KindItem: p.View.ItemDone, KindRetry: p.View.Retry, KindDone: p.View.Done, KindProgress: p.View.Progress, KindAsync: p.View.AsyncDone,
	}[l.Kind]
	if tell == nil || p.Only != nil && !p.Only(l, &p.Names) {
		return
	}
	tell(view.Result{
		Task: p.Names.TaskOf(l.Task), Host: p.Names.Host(l.Host), Name: l.Name, Outcome: l.outcome(),
		Start: l.At.Add(-time.Duration(l.Took) * time.Microsecond), End: l.At,
	})
}

// outcome is that of a line of results.
func (l *Line) outcome() *wire.Outcome {
	if l.Status == "" {
		return nil
	}
	out := &wire.Outcome{Status: l.Status, Result: l.Result}
	if o := l.Outcome; o != nil {
		out.NoLog, out.Ignored, out.Rescued, out.Cancelled, out.Loop = o.NoLog, o.Ignored, o.Rescued, o.Cancelled, o.Loop
		out.Delegated, out.Item, out.Label, out.Attempts, out.Retries, out.Meta = o.Delegated, o.Item, o.Label, o.Attempts, o.Retries, o.Meta
	}
	if out.Result == nil {
		out.Result = json.RawMessage("{}")
	}
	return out
}
