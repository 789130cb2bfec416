package console

import (
	"io"

	"hark/controller/internal/console/fold"
	"hark/controller/internal/record"
	"hark/controller/internal/view"
	"hark/playbook/deprecation"
)

// Screen has the lines of a record told to the view that the run was shown in, with colours, and to the fold.
func Screen(h record.Head, screen io.Writer, f *fold.Run) (tell func(record.Line) error, err error) {
	d, err := view.NewDisplay(view.DisplayOptions{Out: screen, Err: screen, Verbosity: h.Screen.Verbosity, Colored: true})
	if err != nil {
		return nil, err
	}
	p := &record.Player{Listener: both{d, f}}
	p.Begin(h)
	name := h.Screen.View
	if name == "" { // a broadcast's, which says nothing before its end
		name = "minimal"
	}
	v, err := view.New(name, view.Options{Display: d.ForViews(), Now: p.Now, Check: h.Check})
	if err != nil {
		return nil, err
	}
	p.View = view.All(f, v)
	return func(l record.Line) error { return p.Tell(&l) }, nil
}

// both is a listener that has what a display prints noted too.
type both struct {
	*view.Display
	f *fold.Run
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
