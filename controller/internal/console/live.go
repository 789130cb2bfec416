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

// Who does not take an event within slowLimit is cut off: his browser comes back and says where he was. Nothing is
// kept for him meanwhile, since each event is made of what there is when it is sent.
const (
	slowLimit = 10 * time.Second
	stillHere = 15 * time.Second // between words to connections on which nothing is said
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

// after is the number that a connection has all up to: of the event that it got last, or of the page that it belongs
// to.
func after(r *http.Request) int {
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if n, err := strconv.Atoi(text); err == nil {
			return max(0, n)
		}
	}
	return 0
}

// piece is a part of a page that has changed: it replaces the element of its id, or is put at the end of another.
type piece struct {
	ID    string `json:"id"`
	Into  string `json:"into,omitempty"`
	Inner bool   `json:"inner,omitempty"` // what is in the element is replaced, not itself
	HTML  string `json:"html"`
}

// events sends what changes of a run until it is over. next makes the event of what came after a number, and tells up
// to which it goes.
func (s runPages) events(w http.ResponseWriter, r *http.Request, event string, next func(t *runcache.Tape, after int) (data []byte, to int, err error)) error {
	e, err := record.Choose(r.Context(), s.Store, r.PathValue("run"))
	if err != nil {
		return err
	}
	t, back, err := s.shelf.Take(r.Context(), e.Head.Run)
	if err != nil {
		return err
	}
	defer back()
	st := open(w)
	if err := st.write("retry: 1000\n\n"); err != nil {
		return nil // he is gone
	}
	if !t.Read(r.Context()) {
		return nil
	}
	at := after(r)
	for {
		more, over := t.More(), t.At().Over
		data, to, err := next(t, at)
		if err != nil {
			return err
		}
		if data != nil {
			if st.send(event, to, data) != nil {
				return nil
			}
			at = to
		}
		if over {
			_ = st.send("over", at, []byte("{}")) // the last word
			return nil
		}
		if !s.wait(r.Context(), st, more) {
			return nil
		}
	}
}

// wait waits for more, and says a word now and then so that a connection that is gone is noticed. It reports whether
// there is somebody to go on for.
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
	return s.events(w, r, "pieces", s.changedTasks)
}

func (s runPages) changedTasks(t *runcache.Tape, after int) ([]byte, int, error) {
	over := t.At().Over
	return t.Memo.Make(fmt.Sprintf("tasks %d %v", t.Fold.Line(), over), after, func() ([]byte, int, error) {
		seen := t.Fold.Since(after, pageGroups)
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

// pieces are the parts of the page of a run that changed after a line.
func (s runPages) pieces(t *runcache.Tape, seen runmodel.Seen, after int) ([]piece, error) {
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
	for _, p := range seen.Plays {
		bare := p
		bare.Tasks = nil
		if p.Line > after {
			if err := add(piece{ID: fmt.Sprintf("p%d", p.N), Into: "plays"}, "play", s.play(t, bare, seen)); err != nil {
				return nil, err
			}
		}
		for _, task := range p.Tasks {
			if err := add(piece{ID: fmt.Sprintf("t%d", task.N), Into: fmt.Sprintf("p%d-tasks", p.N)}, "task", taskOf(t.Entry.Head.Run, task, seen)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// outputLive sends the lines of the output after a line.
func (s runPages) outputLive(w http.ResponseWriter, r *http.Request) error {
	return s.events(w, r, "lines", func(t *runcache.Tape, after int) ([]byte, int, error) {
		to := min(t.Reel.Lines(), after+scrollback.PageLines)
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

// listEvery is how often the list of runs is looked at for those who watch it.
const listEvery = 2 * time.Second

// runsLive sends the list of runs anew when it has changed.
func (s *Server) runsLive(w http.ResponseWriter, r *http.Request) error {
	st := open(w)
	if st.write("retry: 1000\n\n") != nil {
		return nil
	}
	last, n := "", after(r)
	for {
		b, _, err := s.runList(r)
		if err != nil {
			return err
		}
		html, err := s.part("runs", "rows", b)
		if err != nil {
			return err
		}
		if html != last {
			n++
			data, err := json.Marshal([]piece{{ID: "runs", Inner: true, HTML: html}})
			if err != nil {
				return err
			}
			if st.send("pieces", n, data) != nil {
				return nil
			}
			last = html
		}
		tick := make(chan struct{})
		timer := time.AfterFunc(listEvery, func() { close(tick) })
		if !s.wait(r.Context(), st, tick) {
			timer.Stop()
			return nil
		}
	}
}
