package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/runs/record"
)

// fleetChanges is the page that says what changed in the fleet since a time, over all runs.
type fleetChanges struct {
	Spans []choice      `json:"-"`
	Rows  []fleetChange `json:"changes"`
	Read  int           `json:"runs_read"`
	// Unread are runs of that time for which there was no time.
	Unread int    `json:"runs_not_read,omitempty"`
	Told   string `json:"-"`
	Empty  empty  `json:"-"`
}

// fleetChange is a task that changed hosts.
type fleetChange struct {
	Task  string    `json:"task"`
	Place string    `json:"place,omitempty"`
	Hosts []string  `json:"hosts"`
	Names string    `json:"-"`
	Last  time.Time `json:"last"`
	Run   string    `json:"run"`
	Short string    `json:"-"`
	Path  string    `json:"-"`
	By    string    `json:"by,omitempty"`
	Duty  string    `json:"duty,omitempty"`
	Times int       `json:"times"`

	seen map[string]bool // by host
}

func (s fleetPages) fleetChanges(w http.ResponseWriter, r *http.Request) error {
	b := fleetChanges{Rows: []fleetChange{}}
	span, choices := chosenSpan(r.URL)
	b.Spans = choices
	since := s.Now().Add(-span.life)
	list, err := s.list(r.Context(), "", "", "", since.Truncate(time.Minute))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), changeTime)
	defer cancel()
	at := map[string]*fleetChange{}
	for i := range list.Entries {
		e := &list.Entries[i]
		if e.Head.Check || e.Foot != nil && e.Counts[record.StateChanged]+e.Counts[record.StateFailed]+
			e.Counts[record.StateUnreachable] == 0 {
			continue
		}
		if !e.Body || b.Read == changeRuns || ctx.Err() != nil {
			b.Unread++
			continue
		}
		b.Read++
		if err := s.changesOfAll(ctx, e, since, at); err != nil && ctx.Err() == nil {
			return err
		}
	}
	for _, x := range at {
		slices.SortFunc(x.Hosts, natural)
		x.Names = hostNames(x.Hosts)
		b.Rows = append(b.Rows, *x)
	}
	slices.SortFunc(b.Rows, func(x, y fleetChange) int {
		return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.Task, y.Task))
	})
	b.Told = plural(b.Read, "run") + " read since " + when(since)
	if b.Unread > 0 {
		b.Told += fmt.Sprintf("; %s of that time not read", plural(b.Unread, "run"))
	}
	b.Empty = empty{Big: "Nothing changed in this time", Small: "No run that was read changed a host."}
	return s.show(w, r, "fleetchanges", page{Title: "Changes", Nav: "Runs", Warnings: list.Warnings, Body: b})
}

// changesOfAll notes the tasks of a run that changed hosts. The runs come newest first.
func (s fleetPages) changesOfAll(ctx context.Context, e *record.Entry, since time.Time,
	at map[string]*fleetChange) error {
	lines, err := s.Store.Open(ctx, e.Head.Run, record.Opening{})
	if err != nil {
		return err
	}
	defer lines.Close()
	var names record.Names
	for range changeLines {
		l, err := lines.Next(ctx)
		var lost *record.LostError
		if errors.Is(err, io.EOF) || errors.As(err, &lost) {
			return nil
		}
		if err != nil {
			return err
		}
		names.Learn(&l)
		if l.Kind != record.KindDone || l.Status != wire.Changed || l.At.Before(since) {
			continue
		}
		task, host := names.TaskOf(l.Task), names.Host(l.Host)
		title := cmp.Or(task.Name, task.Action)
		if task.Role != "" {
			title = task.Role + " : " + title
		}
		key := title + "\x00" + task.Place
		x := at[key]
		if x == nil {
			x = &fleetChange{Task: brief(title), Place: task.Place, Run: e.Head.Run, Short: short(e.Head.Run),
				Path: runPath(e.Head.Run), By: by(&e.Head), Duty: e.Head.Duty, seen: map[string]bool{}}
			at[key] = x
		}
		x.Times++
		if l.At.After(x.Last) {
			x.Last = l.At
		}
		if !x.seen[host] {
			x.seen[host] = true
			x.Hosts = append(x.Hosts, host)
		}
	}
	return nil
}
