package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"hark/controller/internal/runs/record"
)

// timeline is the page of runs over time: a row for each command, a bar for each run.
type timeline struct {
	Spans []choice  `json:"-"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Ticks []tick    `json:"-"`
	Lanes []lane    `json:"lanes"`
	More  string    `json:"-"`
	Empty empty     `json:"-"`
}

// lane are the runs of one command, or of one duty.
type lane struct {
	What   string    `json:"what"`
	Bars   []laneRun `json:"runs"`
	Failed int       `json:"failed"`
	Last   time.Time `json:"last"`
}

// laneRun is a run in its lane. At and Width are of a hundred.
type laneRun struct {
	Run   string `json:"run"`
	State sign   `json:"state"`
	Path  string `json:"-"`
	Title string `json:"-"`
	At    string `json:"-"`
	Width string `json:"-"`
}

type tick struct{ At, Text string }

// How many lanes and bars there are at most: a page has to stay readable.
const (
	mostLanes    = 40
	mostLaneRuns = 300
)

// timelineSpans returns the spans of time that can be chosen.
func timelineSpans() []timelineSpan {
	return []timelineSpan{
		{"an hour", "1h", time.Hour, 10 * time.Minute, "15:04"}, {"a day", "", 24 * time.Hour, 4 * time.Hour, "15:04"},
		{"a week", "7d", 7 * 24 * time.Hour, 24 * time.Hour, "2 Jan"}, {"30 days", "30d", 30 * 24 * time.Hour,
			5 * 24 * time.Hour, "2 Jan"},
	}
}

type timelineSpan struct {
	word, value string
	life, step  time.Duration
	form        string
}

// chosenSpan returns the span that the address of a page asks for, a day by default, and the links to all of them.
func chosenSpan(page *url.URL) (chosen timelineSpan, all []choice) {
	chosen = timelineSpans()[1]
	for _, x := range timelineSpans() {
		here := x.value == page.Query().Get("since")
		if here {
			chosen = x
		}
		link := url.URL{Path: page.Path}
		if x.value != "" {
			link.RawQuery = url.Values{"since": {x.value}}.Encode()
		}
		all = append(all, choice{Word: x.word, Path: link.String(), Here: here})
	}
	return chosen, all
}

func (s fleetPages) timeline(w http.ResponseWriter, r *http.Request) error {
	b := timeline{To: s.Now()}
	span, choices := chosenSpan(r.URL)
	b.Spans = choices
	b.From = b.To.Add(-span.life)
	list, err := s.list(r.Context(), "", "", "", b.From.Truncate(time.Minute))
	if err != nil {
		return err
	}
	b.fill(list.Entries)
	for at := b.From.Truncate(span.step).Add(span.step); at.Before(b.To); at = at.Add(span.step) {
		b.Ticks = append(b.Ticks, tick{fmt.Sprintf("%.0f", 1000*float64(at.Sub(b.From))/float64(span.life)),
			at.Format(span.form)})
	}
	b.Empty = empty{Big: "No run began in this time"}
	return s.show(w, r, "timeline", page{Title: "Timeline", Nav: "Runs", Refresh: 30, Warnings: list.Warnings, Body: b})
}

// percent returns where a time is between the beginning and the end.
func (b *timeline) percent(at time.Time) string {
	return fmt.Sprintf("%.2f", max(0, min(100, 100*float64(at.Sub(b.From))/float64(b.To.Sub(b.From)))))
}

// fill puts runs into lanes, those with the latest runs first.
func (b *timeline) fill(entries []record.Entry) {
	lanes := map[string]*lane{}
	for i := range entries {
		e := &entries[i]
		name := what(&e.Head)
		if e.Head.Duty != "" {
			name = "duty " + e.Head.Duty
		}
		x := lanes[name]
		if x == nil {
			x = &lane{What: name, Last: e.Head.At}
			lanes[name] = x
		}
		if e.Failed() {
			x.Failed++
		}
		if len(x.Bars) < mostLaneRuns {
			x.Bars = append(x.Bars, b.bar(e))
		}
	}
	for _, x := range lanes {
		b.Lanes = append(b.Lanes, *x)
	}
	slices.SortFunc(b.Lanes, func(x, y lane) int { return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.What, y.What)) })
	if more := len(b.Lanes) - mostLanes; more > 0 {
		b.Lanes, b.More = b.Lanes[:mostLanes], plural(more, "command")+" more in this time"
	}
}

func (b *timeline) bar(e *record.Entry) laneRun {
	end := b.To
	if e.State != record.Running {
		end = e.Last
		if e.Foot != nil {
			end = e.Foot.At
		}
	}
	x := laneRun{Run: e.Head.Run, State: signOf(e), Path: runPath(e.Head.Run), At: b.percent(e.Head.At)}
	x.Title = fmt.Sprintf("%s, %s, %s", when(e.Head.At), x.State.Word, took(end.Sub(e.Head.At)))
	x.Width = fmt.Sprintf("%.2f", max(0.35, 100*float64(end.Sub(e.Head.At))/float64(b.To.Sub(b.From))))
	return x
}
