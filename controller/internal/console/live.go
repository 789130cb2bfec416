package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"hark/controller/internal/console/runcache"
	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/console/scrollback"
	"hark/controller/internal/runs/record"
)

// A browser that does not accept an event within slowLimit is disconnected; it comes back and says where it was.
// Nothing is kept for it meanwhile, since each event is made from the present state.
const (
	slowLimit = 10 * time.Second
	stillHere = 15 * time.Second // between signs of life on idle connections
)

// stream is one connection with live events.
type stream struct {
	w  http.ResponseWriter
	c  *http.ResponseController
	id string // of the last event
}

// open begins the events of a connection.
func open(w http.ResponseWriter) *stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	st := &stream{w: w, c: http.NewResponseController(w)}
	return st
}

// send sends an event. data is JSON.
func (st *stream) send(event string, id int, data []byte) error {
	st.id = strconv.Itoa(id)
	return st.write(fmt.Sprintf("event: %s\nid: %s\ndata: %s\n\n", event, st.id, data))
}

func (st *stream) write(text string) error {
	_ = st.c.SetWriteDeadline(time.Now().Add(slowLimit)) // tests write into memory
	if _, err := st.w.Write([]byte(text)); err != nil {
		return err
	}
	return st.c.Flush()
}

// after returns the number up to which a connection has everything: that of its last event, or of its page.
func after(r *http.Request) int {
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if n, err := strconv.Atoi(text); err == nil {
			return max(0, n)
		}
	}
	return 0
}

// piece is a part of a page that has changed. It replaces the element with its id, or is appended to another.
type piece struct {
	ID    string `json:"id"`
	Into  string `json:"into,omitempty"`
	Inner bool   `json:"inner,omitempty"` // the content of the element is replaced, not the element
	HTML  string `json:"html"`
}

// liveEvents are the events of a page of a run: their name, and what makes the head of the page, nil if the events have
// it.
type liveEvents struct {
	name string
	head func(t *runcache.CachedRun) ([]byte, error)
}

// sendHead sends the head of a page if it has changed.
func (st *stream) sendHead(of liveEvents, t *runcache.CachedRun, id int, last *string) error {
	if of.head == nil {
		return nil
	}
	data, err := of.head(t)
	if err != nil || string(data) == *last {
		return err
	}
	*last = string(data)
	return st.send("pieces", id, data)
}

// events sends what changes of a run until it is over. next makes the event of what came after a number, and tells up
// to which it goes.
func (s runPages) events(w http.ResponseWriter, r *http.Request, of liveEvents,
	next func(t *runcache.CachedRun, after int) (data []byte, to int, err error)) error {
	e, err := record.Choose(r.Context(), s.Store, r.PathValue("run"))
	if err != nil {
		return err
	}
	t, back, err := s.cache.Acquire(r.Context(), e.Head.Run)
	if err != nil {
		return err
	}
	defer back()
	st := open(w)
	if err := st.write("retry: 1000\n\n"); err != nil {
		return nil // the client is gone
	}
	if !t.Read(r.Context()) {
		return nil
	}
	at, head := after(r), ""
	for {
		more, over := t.More(), t.At().Over
		data, to, err := next(t, at)
		if err != nil {
			return err
		}
		if data != nil {
			if st.send(of.name, to, data) != nil {
				return nil
			}
			at = to
		}
		if st.sendHead(of, t, at, &head) != nil {
			return nil
		}
		if over {
			_ = st.send("over", at, []byte("{}")) // the last event
			return nil
		}
		if !s.wait(r.Context(), st, more) {
			return nil
		}
	}
}

// wait waits for more, and sends a sign of life now and then so that a closed connection is noticed. It reports whether
// the client is still there.
func (s *Server) wait(ctx context.Context, st *stream, more <-chan struct{}) bool {
	tick := time.NewTicker(stillHere)
	defer tick.Stop()
	for {
		select {
		case <-more:
			return true
		case <-tick.C:
			if st.write(": still here\n\n") != nil {
				return false
			}
		case <-ctx.Done():
			return false
		case <-s.done.Done():
			return false
		}
	}
}

// runLive sends the tasks of a run that changed after a line of its record.
func (s runPages) runLive(w http.ResponseWriter, r *http.Request) error {
	return s.events(w, r, liveEvents{name: "pieces"}, s.changedTasks)
}

func (s runPages) changedTasks(t *runcache.CachedRun, after int) ([]byte, int, error) {
	over := t.At().Over
	return t.Memo.Make(fmt.Sprintf("tasks %d %v", t.Model.Line(), over), after, func() ([]byte, int, error) {
		seen := t.Model.Since(after, pageGroups)
		if seen.Line <= after && !over {
			return nil, after, nil
		}
		pieces, err := s.pieces(t, seen, after)
		if err != nil {
			return nil, 0, err
		}
		data, err := json.Marshal(pieces)
		return data, seen.Line, err
	})
}

// pieces returns the parts of a run's page that changed after a line.
func (s runPages) pieces(t *runcache.CachedRun, seen runmodel.Seen, after int) ([]piece, error) {
	var all []piece
	add := func(x piece, name string, data any) error {
		var err error
		x.HTML, err = s.part("run", name, data)
		all = append(all, x)
		return err
	}
	if err := add(piece{ID: "summary", Inner: true}, "summary", s.summary(t, seen)); err != nil {
		return nil, err
	}
	e := now(t)
	if err := add(piece{ID: "state"}, "state", signOf(&e)); err != nil {
		return nil, err
	}
	for _, x := range s.headPieces(t, "Tasks") {
		if err := add(x.piece, x.name, x.data); err != nil {
			return nil, err
		}
	}
	for _, p := range seen.Plays {
		bare := p
		bare.Tasks = nil
		if p.Line > after {
			if err := add(piece{ID: fmt.Sprintf("p%d", p.N), Into: "plays"}, "play", s.play(t, bare, seen)); err != nil {
				return nil, err
			}
		}
		for _, task := range p.Tasks {
			if err := add(piece{ID: fmt.Sprintf("t%d", task.N), Into: fmt.Sprintf("p%d-tasks", p.N)}, "task",
				taskOf(t.Entry.Head.Run, task, seen)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// headPart is a part of the head of a run's pages that changes while the run goes on.
type headPart struct {
	piece
	name string
	data any
}

// headPieces returns the parts of the head of a run as it is now: what is known of it, what ended it, and its tabs.
// There is no word of a record that is being read any more: live pages begin when it has been.
func (s runPages) headPieces(t *runcache.CachedRun, here string) []headPart {
	h := s.head(t, here)
	return []headPart{
		{piece{ID: "facts", Inner: true}, "facts", h.Facts}, {piece{ID: "ends", Inner: true}, "ends", h},
		{piece{ID: "tabs", Inner: true}, "tabs", h.Tabs}, {piece{ID: "reading"}, "nothing", nil},
	}
}

// outputHead returns the parts of the output page that change while a run goes on.
func (s runPages) outputHead(t *runcache.CachedRun) ([]byte, error) {
	e := now(t)
	told := plural(t.Output.Page(), "line") + ", " + size(t.Output.Size())
	parts := append(s.headPieces(t, "Output"), headPart{piece{ID: "state"}, "state", signOf(&e)},
		headPart{piece{ID: "told", Inner: true}, "said", told})
	pieces := make([]piece, 0, len(parts))
	for _, x := range parts {
		html, err := s.part("output", x.name, x.data)
		if err != nil {
			return nil, err
		}
		x.HTML = html
		pieces = append(pieces, x.piece)
	}
	return json.Marshal(pieces)
}

// outputLive sends the lines of the output after a line.
func (s runPages) outputLive(w http.ResponseWriter, r *http.Request) error {
	return s.events(w, r, liveEvents{name: "lines", head: s.outputHead},
		func(t *runcache.CachedRun, after int) ([]byte, int, error) {
			to := min(t.Output.Page(), after+scrollback.PageLines)
			if to <= after {
				return nil, after, nil
			}
			return t.Memo.Make(fmt.Sprintf("lines %d", to), after, func() ([]byte, int, error) {
				lines, err := outputLines(t, after, to)
				if err != nil {
					return nil, 0, err
				}
				html, err := s.part("output", "lines", lines)
				if err != nil {
					return nil, 0, err
				}
				data, err := json.Marshal(html)
				return data, to, err
			})
		})
}

// listEvery is how often the list of runs is read for its watchers.
const listEvery = 2 * time.Second

// runsLive sends the list of runs again when it has changed.
func (s *Server) runsLive(w http.ResponseWriter, r *http.Request) error {
	return s.watch(w, r, func() ([]piece, error) {
		b, _, err := s.runList(r)
		if err != nil {
			return nil, err
		}
		html, err := s.part("runs", "rows", b)
		return []piece{{ID: "runs", Inner: true, HTML: html}}, err
	})
}
