package agent

import (
	"context"
	"path/filepath"
	"sync"

	"hark/agent/internal/runner"
	"hark/modules"
)

// edits is a lock for each file that modules edit. Calls of any run take turns: each reads the file and writes it
// again, and would lose a change that another call made in between. A turn lasts as long as the module works, and no
// call waits for a second turn. The zero value is ready.
type edits struct {
	mu    sync.Mutex
	turns map[string]*turn // by file; guarded by mu
}

// turn is the right to edit one file.
type turn struct {
	free  chan struct{} // one slot: nobody has it
	users int           // who have it or wait for it; guarded by edits.mu
}

// inTurn is next for calls that have their turn.
func (e *edits) inTurn(next runner.Caller) runner.Caller {
	return func(ctx context.Context, inv runner.Invocation) modules.Result {
		what := edited(inv)
		if what == "" {
			return next(ctx, inv)
		}
		leave, err := e.take(ctx, what)
		if err != nil {
			return modules.Result{Failed: true, Msg: err.Error()}
		}
		defer leave()
		return next(ctx, inv)
	}
}

// take waits for the turn of a file.
func (e *edits) take(ctx context.Context, what string) (leave func(), err error) {
	e.mu.Lock()
	if e.turns == nil {
		e.turns = map[string]*turn{}
	}
	t := e.turns[what]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		e.turns[what] = t
	}
	t.users++
	e.mu.Unlock()
	done := func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(e.turns, what)
		}
	}
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; done() }, nil
	case <-ctx.Done():
		done()
		return nil, context.Cause(ctx)
	}
}

// edited returns what a call edits: the path of a file without symbolic links, or a word; "" is nothing.
func edited(inv runner.Invocation) string {
	m := inv.Module
	if inv.Call.Check || len(m.Edits) == 0 {
		return ""
	}
	parsed, err := m.Parse(m.Name, inv.Args, inv.Env.Reading())
	if err != nil {
		return "" // the module says so itself, and does nothing
	}
	for _, name := range m.Edits {
		text := parsed.Params.Text(name)
		if text == "" {
			continue
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join("/", inv.Call.Dir, text)
		}
		if real := resolve(text); real != "" {
			return real
		}
		return filepath.Clean(text)
	}
	return m.Edited
}
