package console

import (
	"io"
	"strings"

	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
	"hark/playbook/deprecation"
)

// Screen returns a func that replays the lines of a record to the views in which the run was shown, with colours, and
// to the model. prelude reports whether a step of a broadcast comes before the one that counts.
func Screen(prelude func(view.Task) bool) func(h record.Head, screen io.Writer,
	f *runmodel.Run) (func(record.Line) error, error) {
	return func(h record.Head, screen io.Writer, f *runmodel.Run) (func(record.Line) error, error) {
		d, err := view.NewDisplay(view.DisplayOptions{
			Out: screen, Err: screen, Verbosity: h.Screen.Verbosity, Colored: true, NoDeprecations: h.Screen.NoDeprecations,
			Tagged: h.Screen.Tagged,
		})
		if err != nil {
			return nil, err
		}
		r := &replay{d: d, f: f, p: &record.Player{Listener: both{d, f}}}
		r.p.Begin(h)
		views, err := r.views(h.Screen, prelude)
		if err != nil {
			return nil, err
		}
		r.p.View = view.All(append([]view.View{f}, views...)...)
		return r.tell, nil
	}
}

// replay replays one record.
type replay struct {
	d *view.Display
	f *runmodel.Run
	p *record.Player
}

// views returns the views with which the run printed, without those that wrote files.
func (r *replay) views(s record.Screen, prelude func(view.Task) bool) ([]view.View, error) {
	o := s.Options
	o.Display, o.Now = r.d.ForViews(), r.p.Now
	if s.Tagged {
		o.Origin = r.p.Origin
	}
	o.TreeDir, o.LogDir, o.JUnit = "", "", view.JUnitOptions{} // nothing is written, whatever a record says
	if s.Tally != nil {
		return []view.View{view.NewTally(o, s.Tally.Options(prelude))}, nil
	}
	name := s.View
	if !view.OnScreen(name) {
		name = "default"
	}
	first, err := view.New(name, o)
	if err != nil {
		return nil, err
	}
	all := []view.View{view.OnTerminal(first)}
	for _, name := range s.OtherViews {
		short := name[strings.LastIndexByte(name, '.')+1:]
		if short != "timer" && !strings.HasPrefix(short, "profile_") {
			continue
		}
		if beside, err := view.New(name, o); err == nil {
			all = append(all, beside)
		}
	}
	return all, nil
}

// tell replays a line; at the end also what the views have kept for it.
func (r *replay) tell(l record.Line) error {
	if s := l.Stage; l.Kind == record.KindStage && s != nil {
		r.f.Stage(runmodel.Stage{N: s.N, Of: s.Of, Name: s.Name})
	}
	if l.Foot == nil {
		return r.p.Tell(&l)
	}
	err := r.p.View.Close()
	if l.Foot.Error != "" {
		r.d.Error(l.Foot.Error)
	}
	if l.Foot.Incomplete != "" {
		r.d.Warn("the record is not whole: " + l.Foot.Incomplete)
	}
	return err
}

// both is a listener that also records what a display prints.
type both struct {
	*view.Display
	f *runmodel.Run
}

func (b both) Warn(text string) {
	b.f.Notice("warning", text)
	b.Display.Warn(text)
}

func (b both) WarnBlock(text string) {
	b.f.Notice("warning", text)
	b.Display.WarnBlock(text)
}

func (b both) Deprecate(n deprecation.Notice) {
	b.f.Notice("deprecated", n.Warning())
	b.Display.Deprecate(n)
}

func (b both) Error(text string) {
	b.f.Notice("error", text)
	b.Display.Error(text)
}

func (b both) ErrorWrapped(text string) {
	b.f.Notice("error", text)
	b.Display.ErrorWrapped(text)
}
