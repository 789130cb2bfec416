package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/wire"
	"hark/playbook/plan"
)

// Head is what a session must know to speak to its controller after the agent was started again.
type Head struct {
	Version int           `json:"version"`
	Run     string        `json:"run"`
	Host    string        `json:"host"`
	Issuer  string        `json:"issuer"`
	HostKey wire.Key      `json:"host_key"`
	RunKey  wire.Key      `json:"run_key"`
	Lease   time.Duration `json:"lease"`
	Window  int           `json:"window"`
	Opened  time.Time     `json:"opened"`
	// Boot names the boot of the host, "" if it is not known. A log of another boot may lack its end.
	Boot string `json:"boot,omitempty"`
}

// line is one line of a log; one field is set.
type line struct {
	Head  *Head           `json:"head,omitempty"`
	Event json.RawMessage `json:"event,omitempty"`
	Acked uint64          `json:"acked,omitempty"`
	Start *start          `json:"start,omitempty"`
	// Seq goes with Start, and with Head in a log that was rewritten: events up to it are forgotten.
	Seq uint64 `json:"seq,omitempty"`
}

// start is a plan that the session received.
type start struct {
	Play   string `json:"play"`
	Digest string `json:"digest"`
	Turn   uint64 `json:"turn,omitempty"` // see wire.Session
}

// Log is the log of one session. It is not safe for concurrent use.
type Log struct {
	path  string
	f     *os.File
	head  Head
	start *start // the last one
	dirty bool
	size  int64
	// late are lines that are not written yet, see Event.
	late []byte
}

// rewriteAbove is the size of a log above which it is rewritten once everything is acknowledged.
const rewriteAbove = 1 << 20

// longestEscaped is the longest name of a host, in bytes, that is escaped: a file's name may have at most 255.
const longestEscaped = 64

// logName returns the file of a session. Hosts' names may hold anything, so they are escaped; for a long one its digest
// stands.
func logName(run, host string) string {
	if len(host) > longestEscaped {
		return fmt.Sprintf("%s+%x.log", run, sha256.Sum256([]byte(host)))
	}
	return fmt.Sprintf("%s+%x.log", run, host)
}

// Begin creates the log of a new session. Only Recover continues an existing one.
func (s *Store) Begin(h Head) (*Log, error) {
	h.Version = layout
	l := &Log{path: filepath.Join(s.dir, "sessions", logName(h.Run, h.Host)), head: h}
	if strings.ContainsAny(h.Run, "/\x00") {
		return nil, fmt.Errorf("cannot keep a log of run %q: that is no id of a run", h.Run)
	}
	return l, l.restart(0)
}

// restart rewrites the log with only its head and the session's last plan.
func (l *Log) restart(seq uint64) error {
	var text []byte
	for _, n := range []line{{Head: &l.head, Seq: seq}, {Start: l.start, Seq: seq}} {
		if n.Head == nil && n.Start == nil {
			continue
		}
		one, err := json.Marshal(n)
		if err != nil {
			return err
		}
		text = append(append(text, one...), '\n')
	}
	if err := atomicfile.Write(l.path, text); err != nil {
		return fmt.Errorf("cannot write the log of a session: %w", err)
	}
	return l.reopen()
}

func (l *Log) reopen() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("cannot write the log of a session: %w", err)
	}
	if l.f != nil {
		l.f.Close()
	}
	l.f, l.dirty, l.size, l.late = f, false, 0, nil
	return nil
}

// Start records that the session received a plan, in a turn whose events are numbered from seq on. Earlier events no
// longer matter.
func (l *Log) Start(play, digest string, turn, seq uint64) error {
	l.start = &start{play, digest, turn}
	return l.add(line{Start: l.start, Seq: seq})
}

// mostLate is how many bytes of lines may wait to be written.
const mostLate = 64 << 10

// Event adds an event, as JSON on one line. It writes a large one at once, without a copy, and a small one with what
// comes next or in Flush.
func (l *Log) Event(e json.RawMessage) error {
	const head, tail = `{"event":`, "}\n"
	if len(e) < 4<<10 {
		l.late = append(append(append(l.late, head...), e...), tail...)
		if len(l.late) < mostLate {
			return nil
		}
		return l.Flush()
	}
	return l.write([]byte(head), e, []byte(tail))
}

// Flush writes the waiting lines. It is called before an event leaves the agent, before a module runs that changes
// things, and when its result is reported: whoever reads the log later must find all that others know, and all that
// this host has done.
func (l *Log) Flush() error {
	if len(l.late) == 0 {
		return nil
	}
	return l.write()
}

// Acked records that the controller has all events up to seq. all says that there are no others.
func (l *Log) Acked(seq uint64, all bool) error {
	if all && l.size > rewriteAbove {
		return l.restart(seq)
	}
	return l.add(line{Acked: seq})
}

func (l *Log) add(n line) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return l.write(append(text, '\n'))
}

// write writes the waiting lines and then a line, in pieces.
func (l *Log) write(pieces ...[]byte) error {
	if late := l.late; len(late) > 0 {
		l.late = late[:0] // nothing is added before it is written
		pieces = append([][]byte{late}, pieces...)
	}
	for _, p := range pieces {
		if _, err := l.f.Write(p); err != nil {
			return fmt.Errorf("cannot write the log of a session: %w", err)
		}
		l.dirty, l.size = true, l.size+int64(len(p))
	}
	return nil
}

// Sync is called before a module that changes things. If a restart of the host can be recognised later, it does
// nothing: as long as the host runs, what was written is there, whatever becomes of this process. Otherwise it syncs
// the log.
func (l *Log) Sync() error {
	if err := l.Flush(); err != nil {
		return err
	}
	if !l.dirty || l.head.Boot != "" {
		return nil
	}
	l.dirty = false
	return syncContent(l.f) // names and times may wait
}

// Remove deletes the log: everything is acknowledged or given up.
func (l *Log) Remove() error {
	l.f.Close()
	return os.Remove(l.path)
}

// Close leaves the log for Recover.
func (l *Log) Close() error { return errors.Join(l.Flush(), l.f.Close()) }

// Session is a session as its log describes it.
type Session struct {
	Head   Head
	Log    *Log
	Turn   uint64   // of its last plan
	Seq    uint64   // of the last event
	Unsent []Unsent // not acknowledged, oldest first
	Place  Place
}

// Unsent is an event that the controller has not acknowledged.
type Unsent struct {
	Seq  uint64
	JSON json.RawMessage
}

// Place is where a session stands, by its events.
type Place struct {
	Play string
	// Doing is the step that has begun and is not done, At the one at whose gate it stands; "" if there is none.
	Doing, At plan.ID
	// Name is the name of the task that it does.
	Name string
	// Ended says that the session has come to the end of its plan, or never received one.
	Ended bool
}

// Take updates the place by an event.
func (p *Place) Take(e *wire.Event) {
	p.Play, p.Ended = e.Play, e.Kind == wire.Ended
	switch e.Kind {
	case wire.Started:
		p.Doing, p.At, p.Name = e.Step, e.Step, e.Name
	case wire.Done:
		p.Doing, p.At, p.Name = "", e.Next, ""
	case wire.AtGate:
		p.At = e.Next
	case wire.Ended:
		p.Doing, p.At, p.Name = "", "", ""
	}
}

// Recover reads the sessions that an earlier process left. It skips logs that cannot be read, with an error for each.
func (s *Store) Recover() ([]Session, []error) { return s.recover(func(string) bool { return true }) }

// recover is Recover for the logs whose file which holds for.
func (s *Store) recover(which func(file string) bool) ([]Session, []error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, "sessions", "*.log"))
	if err != nil {
		return nil, []error{err}
	}
	var out []Session
	var errs []error
	for _, p := range paths {
		if !which(filepath.Base(p)) {
			continue
		}
		r, err := readLog(p)
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot read the log of a session: %s: %w", p, err))
			continue
		}
		out = append(out, *r)
	}
	return out, errs
}

func readLog(path string) (*Session, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Session{Place: Place{Ended: true}}
	good := 0
	for good < len(text) {
		end := bytes.IndexByte(text[good:], '\n')
		var n line
		if end < 0 || json.Unmarshal(text[good:good+end], &n) != nil {
			break // cut off when the host lost power: nothing durable comes after it
		}
		if err := r.take(n); err != nil {
			return nil, err
		}
		good += end + 1
	}
	if good < len(text) {
		if err := os.Truncate(path, int64(good)); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Head.Version == 0:
		return nil, errors.New("it has no head")
	case r.Head.Version > layout:
		return nil, fmt.Errorf("it has version %d, this agent knows %d", r.Head.Version, layout)
	}
	r.Log = &Log{path: path, head: r.Head}
	return r, r.Log.reopen()
}

func (r *Session) take(n line) error {
	switch {
	case n.Head != nil:
		r.Head, r.Seq = *n.Head, n.Seq
	case n.Start != nil:
		r.Place, r.Turn, r.Seq, r.Unsent = Place{Play: n.Start.Play}, n.Start.Turn, n.Seq, nil
	case len(n.Event) > 0:
		var e wire.Event
		if err := json.Unmarshal(n.Event, &e); err != nil {
			return err
		}
		r.Seq = e.Seq
		r.Unsent = append(r.Unsent, Unsent{e.Seq, n.Event})
		r.Place.Take(&e)
	case n.Acked > 0:
		for len(r.Unsent) > 0 && r.Unsent[0].Seq <= n.Acked {
			r.Unsent = r.Unsent[1:]
		}
	}
	return nil
}
