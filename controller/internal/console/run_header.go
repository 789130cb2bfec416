package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"hark/controller/internal/console/runcache"
	"hark/controller/internal/runs/record"
)

// runHead is the head of all pages of one run.
type runHead struct {
	ID       string `json:"run"`
	Short    string `json:"-"`
	What     string `json:"what"`
	State    sign   `json:"state"`
	Check    bool   `json:"check"`
	Facts    []fact `json:"facts"`
	Tabs     []tab  `json:"-"`
	Searched string `json:"-"`
	// Error is what ended the run early, Incomplete why lines are missing.
	Error      string `json:"error,omitempty"`
	Incomplete string `json:"incomplete,omitempty"`
}

// fact is something that is known of a run.
type fact struct {
	Name string     `json:"name"`
	Text string     `json:"text,omitempty"`
	Time *time.Time `json:"time,omitempty"`
	Path string     `json:"-"`
	Code bool       `json:"-"`
}

type tab struct {
	Word, Path, N string
	Here          bool
}

// take opens the run of an address, and waits a moment until it has been read. reading says how far it is if that takes
// longer.
func (s runPages) take(r *http.Request) (t *runcache.CachedRun, reading string, back func(), err error) {
	e, err := record.Choose(r.Context(), s.Store, r.PathValue("run"))
	if err != nil {
		return nil, "", nil, err
	}
	t, back, err = s.cache.Acquire(r.Context(), e.Head.Run)
	if err != nil {
		return nil, "", nil, err
	}
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if !t.Read(ctx) {
		at := t.At()
		reading = fmt.Sprintf("The record is being read: %s lines so far. The page fills up by itself; without "+
			"JavaScript, load it again.", withThousands(int(at.Lines)))
	}
	if at := t.At(); at.Err != nil {
		back()
		return nil, "", nil, at.Err
	}
	return t, reading, back, nil
}

// withRun returns a page about a run, as far as it could be read in a moment.
func (s runPages) withRun(show func(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error) func(
	w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		t, _, back, err := s.take(r)
		if err != nil {
			return err
		}
		defer back()
		return show(t, w, r)
	}
}

// now returns the entry of a run as it is known by now.
func now(t *runcache.CachedRun) record.Entry {
	e := t.Entry
	at := t.At()
	if at.Foot != nil && e.Foot == nil {
		e.Foot, e.State, e.Counts = at.Foot, record.Ended, map[record.HostState]int{}
		for hostState := range at.Foot.Hosts {
			e.Counts[hostState] = at.Foot.Count(hostState)
		}
		if at.Foot.Status == record.Cancelled {
			e.State = record.Stopped
		}
	}
	if at.Lost != nil {
		e.State, e.At = record.Lost, at.Lost.At
	}
	return e
}

func (s runPages) head(t *runcache.CachedRun, here string) runHead {
	e := now(t)
	h := &e.Head
	x := runHead{ID: h.Run, Short: short(h.Run), What: what(h), State: signOf(&e), Check: h.Check}
	put := func(name, text string, code bool) {
		if text = brief(text); text != "" {
			x.Facts = append(x.Facts, fact{Name: name, Text: text, Code: code})
		}
	}
	put("by", by(h)+at(h.From), false)
	began := h.At
	x.Facts = append(x.Facts, fact{Name: "began", Time: &began})
	if e.Foot != nil {
		put("took", took(e.Foot.At.Sub(h.At)), false)
	} else if e.State == record.Running {
		put("for", took(s.Now().Sub(h.At)), false)
	}
	put("in", h.Dir, true)
	put("commit", h.Commit, true)
	if h.Duty != "" {
		put("duty", h.Duty, false)
	}
	if h.RetryOf != "" {
		x.Facts = append(x.Facts, fact{Name: "tries again", Text: short(h.RetryOf), Path: "/runs/" + h.RetryOf})
	}
	put("run", h.Run, true)
	if e.Foot != nil {
		x.Error, x.Incomplete = brief(e.Foot.Error), brief(e.Foot.Incomplete)
	}
	if e.State == record.Lost {
		x.Error = "This run was lost: nobody has written its record since " + when(e.Last) + "."
		if e.At != "" {
			x.Error = fmt.Sprintf("This run was lost at %q: nobody has written its record since then.", brief(e.At))
		}
	}
	x.Tabs = s.tabs(t, here)
	return x
}

func at(from string) string {
	if i := strings.IndexByte(from, '@'); i >= 0 {
		from = from[i+1:]
	}
	if from == "" {
		return ""
	}
	return " at " + from
}

func (s runPages) tabs(t *runcache.CachedRun, here string) []tab {
	base := "/runs/" + t.Entry.Head.Run
	seen := t.Model.Size()
	all := []tab{
		{Word: "Tasks", Path: base, N: many(seen.Tasks)}, {Word: "Hosts", Path: base + "/hosts", N: many(seen.Hosts)},
		{Word: "Output", Path: base + "/output"}, {Word: "Compare", Path: base + "/compare"},
	}
	if seen.Jobs > 0 {
		all = append(all, tab{Word: "Jobs", Path: base + "/jobs", N: many(seen.Jobs)})
	}
	if seen.Notices > 0 {
		all = append(all, tab{Word: "Warnings", Path: base + "/notices", N: many(seen.Notices)})
	}
	for i := range all {
		all[i].Here = all[i].Word == here
	}
	return all
}

func many(n int) string {
	if n == 0 {
		return ""
	}
	return withThousands(n)
}
