package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hark/controller/internal/console/auth"
	"hark/controller/internal/runs/record"
)

// runsPage is how many runs one page lists.
const runsPage = 100

// runList is the page of runs.
type runList struct {
	Filter   runFilter `json:"-"`
	Filtered bool      `json:"-"`
	States   []choice  `json:"-"`
	Spark    sparkline `json:"-"`
	Rows     []runRow  `json:"runs"`
	Pager    pager     `json:"-"`
	Empty    empty     `json:"-"`
	Total    int       `json:"total"`
	// Folded says that turns of keepers stand together.
	Folded bool `json:"folded,omitempty"`
}

type runFilter struct {
	Host, Task, By, State, Since, Duty string
	// Apart has each turn of a keeper in a row of its own.
	Apart bool
	Spans []choice
}

// choice is a choice of a filter.
type choice struct {
	Word, Value, Path string
	Here              bool
}

// pager links to the other pages of a list.
type pager struct{ First, Prev, Next, Last, Text string }

// empty is the text of an empty list.
type empty struct{ Big, Small, Command string }

// runRow is a run in a list.
type runRow struct {
	ID     string    `json:"run"`
	Short  string    `json:"-"`
	What   string    `json:"what"`
	By     string    `json:"by"`
	State  sign      `json:"state"`
	Check  bool      `json:"check"`
	Duty   string    `json:"duty,omitempty"`
	Note   string    `json:"note,omitempty"`
	Share  []segment `json:"-"`
	Counts []count   `json:"hosts"`
	Took   string    `json:"took"`
	At     time.Time `json:"at"`
	Path   string    `json:"-"`
	// Turns is how many turns of a duty this row stands for, 0 for a run.
	Turns int `json:"turns,omitempty"`
}

// sign is a state as shown: a word, and a character and a class.
type sign struct {
	Word  string `json:"word"`
	Sign  string `json:"-"`
	Class string `json:"-"`
}

// count is a number of things of a kind.
type count struct {
	N     int    `json:"n"`
	Word  string `json:"state"`
	Class string `json:"-"`
}

// segment is a part of a bar of 100.
type segment struct {
	Class     string
	At, Width string
}

// listings keeps the last listings for a moment: live pages ask for the same one again and again.
type listings struct {
	mu   sync.Mutex
	kept map[string]listing // by filter; guarded by mu
}

type listing struct {
	at  time.Time
	all record.Listing
}

// listed is how long a listing is used.
const listed = time.Second

// list returns the runs that match a filter.
func (s *Server) list(ctx context.Context, host, task, by string, since time.Time) (record.Listing, error) {
	key := fmt.Sprintf("%q %q %q %d", host, task, by, since.Unix())
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	if l, ok := s.lists.kept[key]; ok && s.Now().Sub(l.at) < listed {
		return l.all, nil
	}
	all, err := s.Store.List(ctx, record.Filter{Host: host, Task: task, By: by, Since: since})
	if err != nil {
		return all, err
	}
	const most = 8
	if len(s.lists.kept) >= most || s.lists.kept == nil {
		s.lists.kept = map[string]listing{}
	}
	s.lists.kept[key] = listing{s.Now(), all}
	return all, nil
}

// wanted reads the filter of an address.
func (s *Server) wanted(q url.Values) (f runFilter, since time.Time) {
	f = runFilter{Host: q.Get("host"), Task: q.Get("task"), By: q.Get("by"), State: q.Get("state"),
		Since: q.Get("since"), Duty: q.Get("duty"), Apart: q.Has("turns")}
	for _, span := range []struct {
		word, value string
		life        time.Duration
	}{{"ever", "", 0}, {"an hour", "1h", time.Hour}, {"a day", "1d", 24 * time.Hour}, {"a week", "7d", 7 * 24 * time.Hour},
		{"30 days", "30d", 30 * 24 * time.Hour}} {
		here := span.value == f.Since
		f.Spans = append(f.Spans, choice{Word: span.word, Value: span.value, Here: here})
		if here && span.life > 0 {
			since = s.Now().Add(-span.life).Truncate(time.Minute)
		}
	}
	return f, since
}

// pattern returns a word of a filter as the store takes it: a word without * may be anywhere in a name.
func pattern(word string) string {
	if word == "" || strings.ContainsAny(word, "*?") {
		return word
	}
	return "*" + word + "*"
}

func (s *Server) runList(r *http.Request) (runList, []string, error) {
	q := r.URL.Query()
	f, since := s.wanted(q)
	listing, err := s.list(r.Context(), pattern(f.Host), pattern(f.Task), f.By, since)
	if err != nil {
		return runList{}, nil, err
	}
	mine := auth.Who(r.Context())
	b := runList{Filter: f, Filtered: f.Host+f.Task+f.By+f.State+f.Since+f.Duty != ""}
	b.Spark = s.spark(listing.Entries)
	b.States = states(q, f.State, mine != "")
	entries := slices.DeleteFunc(slices.Clone(listing.Entries), func(e record.Entry) bool {
		return !stateIs(&e, f.State, mine) || f.Duty != "" && e.Head.Duty != f.Duty
	})
	b.Total = len(entries)
	rows := record.MergeTurns(entries, f.Apart || f.Duty != "" || f.State != "")
	at, _ := strconv.Atoi(q.Get("from"))
	at = max(0, min(at, len(rows)))
	for _, x := range rows[at:min(at+runsPage, len(rows))] {
		b.Rows = append(b.Rows, s.foldedRow(x))
	}
	b.Folded = len(rows) < len(entries)
	b.Pager = paged(r.URL, at, runsPage, len(rows), "rows")
	b.Empty = empty{Big: "No run is on record yet",
		Small: "Every play and every ad-hoc command is recorded. Start one, and it is shown here as it goes:", Command: "hark run all -m ping"}
	if b.Filtered {
		b.Empty = empty{Big: "No run is like that", Small: "Another filter may find more."}
	}
	return b, listing.Warnings, nil
}

// states returns the choices of the filter.
func states(q url.Values, state string, named bool) []choice {
	var all []choice
	words := []choice{{Word: "All"}, {Word: "Failed", Value: "failed"}, {Word: "Running", Value: "running"},
		{Word: "Lost", Value: "lost"}}
	if named {
		words = append(words, choice{Word: "Mine", Value: "mine"})
	}
	for _, c := range words {
		to := url.Values{}
		for _, name := range []string{"host", "task", "by", "since", "duty", "turns"} {
			if v := q.Get(name); v != "" {
				to.Set(name, v)
			}
		}
		if c.Value != "" {
			to.Set("state", c.Value)
		}
		c.Path, c.Here = (&url.URL{Path: "/runs", RawQuery: to.Encode()}).String(), c.Value == state
		all = append(all, c)
	}
	return all
}

func stateIs(e *record.Entry, state, mine string) bool {
	switch state {
	case "failed":
		return e.Failed()
	case "running":
		return e.State == record.Running
	case "lost":
		return e.State == record.Lost
	case "mine":
		return e.Head.Name == mine
	}
	return true
}

// paged links to the pages before and after one.
func paged(at *url.URL, from, size, total int, what string) pager {
	var p pager
	if total <= size {
		return p
	}
	to := func(from int) string {
		q := at.Query()
		q.Del("from")
		if from > 0 {
			q.Set("from", strconv.Itoa(from))
		}
		return (&url.URL{Path: at.Path, RawQuery: q.Encode()}).String()
	}
	if from > 0 {
		p.First, p.Prev = to(0), to(max(0, from-size))
	}
	if from+size < total {
		p.Next, p.Last = to(from+size), to((total-1)/size*size)
	}
	p.Text = fmt.Sprintf("%s %s to %s of %s", what, withThousands(from+1), withThousands(min(from+size, total)),
		withThousands(total))
	return p
}

func (s *Server) runs(w http.ResponseWriter, r *http.Request) error {
	b, warnings, err := s.runList(r)
	if err != nil {
		return err
	}
	live := url.URL{Path: "/runs/live", RawQuery: r.URL.RawQuery}
	return s.show(w, r, "runs", page{Title: "Runs", Nav: "Runs", Live: live.String(), Warnings: warnings, Body: b})
}

// foldedRow returns a run, or turns of a duty that stand together: it leads to each of them.
func (s *Server) foldedRow(t *record.Turns) runRow {
	x := s.row(&t.Newest)
	if t.N < 2 {
		return x
	}
	x.Turns, x.What, x.Took, x.Note = t.N, plural(t.N, "turn"), "", ""
	x.Path = (&url.URL{Path: "/runs", RawQuery: url.Values{"duty": {x.Duty}}.Encode()}).String()
	x.State = sign{"ok", "✓", "ok"}
	if t.Failed > 0 {
		x.State = sign{"failed", "✗", "failed"}
		x.Note = withThousands(t.Failed) + " of them came out badly"
	}
	e := record.Entry{Counts: t.States, Foot: &record.Foot{}}
	x.Counts, x.Share = hostCounts(&e)
	return x
}

// row returns a run as the list shows it.
func (s *Server) row(e *record.Entry) runRow {
	x := runRow{ID: e.Head.Run, Short: short(e.Head.Run), What: what(&e.Head), By: by(&e.Head), State: signOf(e),
		Check: e.Head.Check, Duty: e.Head.Duty, At: e.Head.At, Path: "/runs/" + e.Head.Run}
	x.Counts, x.Share = hostCounts(e)
	switch e.State {
	case record.Running:
		x.Took = took(s.Now().Sub(e.Head.At))
		if e.At != "" {
			x.Note = fmt.Sprintf("at %q", brief(e.At))
		}
	case record.Lost:
		x.Note = "nobody writes its record any more"
		if e.At != "" {
			x.Note = fmt.Sprintf("lost at %q", brief(e.At))
		}
	}
	if e.Foot != nil {
		x.Took = took(e.Foot.At.Sub(e.Head.At))
		if e.Foot.Error != "" {
			x.Note = brief(e.Foot.Error)
		}
	}
	if stage := e.RolloutStage(); stage != "" {
		x.Note = strings.TrimSuffix(stage+", "+x.Note, ", ")
	}
	return x
}

// short returns the beginning of an id that people read.
func short(run string) string {
	const length = 6
	return run[:min(len(run), length)]
}

// what returns the command of a run, without the program's name and the directories.
func what(h *record.Head) string {
	words := slices.Clone(h.Line)
	if len(words) > 0 {
		name := filepath.Base(words[0])
		if name == "hark" {
			words = words[1:]
		} else {
			words[0] = name
		}
	}
	text := brief(strings.Join(words, " "))
	return cmp.Or(text, "run "+h.Run)
}

func by(h *record.Head) string { return brief(h.Person()) }

// signOf returns the state of a run.
func signOf(e *record.Entry) sign {
	switch {
	case e.State == record.Running:
		return sign{"running", "●", "running"}
	case e.State == record.Lost:
		return sign{"lost", "?", "lost"}
	case e.State == record.Stopped:
		return sign{"stopped", "■", "stopped"}
	case e.Idle():
		return sign{e.Word(), "–", "skipped"}
	case e.Foot != nil && e.Foot.Status == record.OK:
		return sign{"ok", "✓", "ok"}
	case e.Foot != nil:
		return sign{string(e.Foot.Status), "✗", "failed"}
	}
	return sign{"ended", "–", "skipped"}
}

// hostCounts returns the hosts of a run by their state, the bad ones first, and as a bar.
func hostCounts(e *record.Entry) ([]count, []segment) {
	var counts []count
	total, told := e.Met(), 0
	for _, f := range []record.HostState{record.StateFailed, record.StateUnreachable, record.StateChanged, record.StateOK} {
		if n := e.Counts[f]; n > 0 {
			counts = append(counts, count{n, string(f), string(f)})
			told += n
		}
	}
	if len(counts) == 0 && total > 0 {
		counts = append(counts, count{total, "hosts", "dim"})
	}
	return counts, share(counts, max(total, told))
}

// share draws counts as a bar.
func share(counts []count, total int) []segment {
	if total == 0 {
		return nil
	}
	var all []segment
	at := 0.0
	for _, c := range counts {
		if c.Class == "dim" {
			continue
		}
		width := 100 * float64(c.N) / float64(total)
		all = append(all, segment{c.Class, fmt.Sprintf("%.2f", at), fmt.Sprintf("%.2f", max(width, 0.6))})
		at += width
	}
	return all
}
