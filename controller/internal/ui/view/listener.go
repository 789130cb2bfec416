package view

import "sync"

// Listener hears what a display prints beside the views: its messages, and what else goes to stdout. Calls come from
// any goroutine, in the order in which the texts are printed as far as that goroutine goes; they are made before
// printing and must not use the display. What verbosity or settings keep from the screen is not told; what is printed
// once is told each time.
type Listener interface {
	Messages
	WarnBlock(text string)
	Banner(text string)
	PrintErr(c Color, text string)
	Raw(text string)
}

// mostEarly is how many messages are kept for a listener that is still to come.
const mostEarly = 200

// audience is who listens to a display.
type audience struct {
	mu       sync.Mutex
	listener Listener         // guarded by mu
	early    []func(Listener) // what was printed before there was one; guarded by mu
	gone     bool             // nobody will listen any more; guarded by mu
}

// Listen names who hears what the display prints from now on, after what it has printed so far. Nil ends it for good.
func (d *Display) Listen(l Listener) {
	a := d.audience
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listener = l
	for _, tell := range a.early {
		if l != nil {
			tell(l)
		}
	}
	a.early, a.gone = nil, l == nil
}

// tell calls the listener, or keeps the call for later.
func (d *Display) tell(f func(Listener)) {
	a := d.audience
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.listener != nil:
		f(a.listener)
	case !a.gone && len(a.early) < mostEarly:
		a.early = append(a.early, f)
	}
}
