package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/runs/record"
)

// hostChanges is the page that says when each task last changed something on one host.
type hostChanges struct {
	Name string     `json:"name"`
	Rows []changeAt `json:"changes"`
	// Read is how many runs were read, Since the beginning of the oldest of them.
	Read  int       `json:"runs_read"`
	Since time.Time `json:"since,omitzero"`
	Told  string    `json:"-"`
	Empty empty     `json:"-"`
}

// changeAt is a task that changed a host.
type changeAt struct {
	Task  string    `json:"task"`
	Place string    `json:"place,omitempty"`
	Last  time.Time `json:"last"`
	Run   string    `json:"run"`
	Short string    `json:"-"`
	Path  string    `json:"-"`
	By    string    `json:"by,omitempty"`
	Duty  string    `json:"duty,omitempty"`
	Times int       `json:"times"`
}

// How far back the changes of a host are looked for: a page has to come in a moment.
const (
	changeRuns  = 40
	changeLines = 300_000 // of one run
	changeTime  = 4 * time.Second
)

func (s fleetPages) hostChanges(w http.ResponseWriter, r *http.Request) error {
	b := hostChanges{Name: r.PathValue("host")}
	list, err := s.list(r.Context(), b.Name, "", "", time.Time{})
	if err != nil {
		return err
	}
	if len(list.Entries) == 0 {
		return &noPageError{fmt.Sprintf("No run on record touched a host %q.", b.Name)}
	}
	ctx, cancel := context.WithTimeout(r.Context(), changeTime)
	defer cancel()
	at := map[string]*changeAt{}
	for i := range list.Entries {
		e := &list.Entries[i]
		if b.Read == changeRuns || ctx.Err() != nil {
			break
		}
		if e.Head.Check || !e.Body || e.Foot != nil && !mayHaveChanged(e, b.Name) {
			continue
		}
		b.Read, b.Since = b.Read+1, e.Head.At
		if err := s.changesOf(ctx, e, b.Name, at); err != nil && ctx.Err() == nil {
			return err
		}
	}
	for _, x := range at {
		b.Rows = append(b.Rows, *x)
	}
	slices.SortFunc(b.Rows, func(x, y changeAt) int {
		return cmp.Or(y.Last.Compare(x.Last),
			cmp.Compare(x.Task, y.Task))
	})
	b.Told = fmt.Sprintf("%s read in which the host may have changed, since %s", plural(b.Read, "run"), when(b.Since))
	b.Empty = empty{Big: "Nothing changed this host",
		Small: "No run that is on record, and was read, changed something here."}
	return s.show(w, r, "hostchanges", page{Title: "Changes of " + b.Name, Nav: "Hosts", Body: b})
}

// mayHaveChanged reports whether a run that ended may have changed a host: one that failed may have before.
func mayHaveChanged(e *record.Entry, host string) bool {
	for _, state := range []record.HostState{record.StateChanged, record.StateFailed, record.StateUnreachable} {
		if slices.Contains(e.Foot.Names(state), host) {
			return true
		}
	}
	return e.Foot.Hosts == nil
}

// changesOf notes the tasks of a run that changed a host, which a later run did not.
func (s fleetPages) changesOf(ctx context.Context, e *record.Entry, host string, at map[string]*changeAt) error {
	lines, err := s.Store.Open(ctx, e.Head.Run, record.Opening{})
	if err != nil {
		return err
	}
	defer lines.Close()
	here := 0 // the host's number
	steps := map[int]*record.Step{}
	for range changeLines {
		l, err := lines.Next(ctx)
		var lost *record.LostError
		if errors.Is(err, io.EOF) || errors.As(err, &lost) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case l.Kind == record.KindHost && l.Name == host:
			here = l.Host
		case (l.Kind == record.KindStep || l.Kind == record.KindTaskStart) && l.Step != nil:
			step := *l.Step
			steps[l.Task] = &step
		case l.Kind == record.KindDone && here != 0 && l.Host == here && l.Status == wire.Changed:
			noteChange(at, steps[l.Task], l.At, e, host)
		}
	}
	return nil
}

func noteChange(at map[string]*changeAt, step *record.Step, when time.Time, e *record.Entry, host string) {
	if step == nil {
		return
	}
	title := step.Name
	if title == "" {
		title = step.Action
	}
	if step.Role != "" {
		title = step.Role + " : " + title
	}
	key := title + "\x00" + step.Place
	if x := at[key]; x != nil {
		x.Times++
		if when.After(x.Last) && x.Run == e.Head.Run {
			x.Last = when
		}
		return
	}
	at[key] = &changeAt{
		Task: brief(title), Place: step.Place, Last: when, Run: e.Head.Run, Short: short(e.Head.Run), By: by(&e.Head),
		Duty: e.Head.Duty, Times: 1,
		Path: "/runs/" + e.Head.Run + "/hosts/" + url.PathEscape(host),
	}
}
