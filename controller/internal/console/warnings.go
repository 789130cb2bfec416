package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"hark/controller/internal/runs/record"
)

// warningAt is a problem.
type warningAt struct {
	Kind string    `json:"kind"`
	What string    `json:"what"`
	Path string    `json:"-"`
	Text string    `json:"text"`
	At   time.Time `json:"at,omitzero"`
	// More are others that say the same, and N is how many there are with this one; 0 is one.
	More []link `json:"more,omitempty"`
	N    int    `json:"n,omitempty"`
	Rest string `json:"-"`
}

// byCause makes one row of those that say the same, the latest first in it. The most frequent come first
// in its kind.
func byCause(all []warningAt) []warningAt {
	const mostNamed = 20
	at := map[string]int{}
	var rows []warningAt
	for _, x := range all {
		key := x.Kind + "\x00" + x.Text
		i, is := at[key]
		if !is {
			at[key] = len(rows)
			x.N = 1
			rows = append(rows, x)
			continue
		}
		y := &rows[i]
		if y.N++; len(y.More) < mostNamed {
			y.More = append(y.More, link{x.What, x.Path})
		}
		if x.At.After(y.At) {
			y.At = x.At
		}
	}
	for i := range rows {
		if rest := rows[i].N - 1 - len(rows[i].More); rest > 0 {
			rows[i].Rest = fmt.Sprintf("and %s more", withThousands(rest))
		}
	}
	kinds := map[string]int{}
	for i, x := range rows {
		if _, is := kinds[x.Kind]; !is {
			kinds[x.Kind] = i
		}
	}
	slices.SortStableFunc(rows, func(x, y warningAt) int {
		return cmp.Or(cmp.Compare(kinds[x.Kind], kinds[y.Kind]), cmp.Compare(y.N, x.N))
	})
	return rows
}

// mostWarnings is how many are shown.
const mostWarnings = 200

// warnings is the page of problems in the fleet, with the duties and in the last runs.
func (s fleetPages) warnings(w http.ResponseWriter, r *http.Request) error {
	var b struct {
		Kinds []choice    `json:"-"`
		Rows  []warningAt `json:"warnings"`
		Empty empty       `json:"-"`
	}
	p := page{Title: "Warnings", Nav: "Warnings", Refresh: 30}
	fleet, err := s.fleetWarnings(r.Context())
	if err != nil {
		p.Warnings = append(p.Warnings, "The fleet cannot be shown: "+err.Error())
	}
	duties, unread, err := s.dutyWarnings(r.Context())
	if err != nil {
		p.Warnings = append(p.Warnings, "The duties cannot be shown: "+err.Error())
	}
	list, err := s.list(r.Context(), "", "", "", s.Now().Add(-7*24*time.Hour).Truncate(time.Minute))
	if err != nil {
		return err
	}
	p.Warnings = append(append(p.Warnings, unread...), list.Warnings...)
	all := slices.Concat(fleet, duties, s.runWarnings(list.Entries))
	kind := r.URL.Query().Get("kind")
	b.Kinds = warningKinds(all, kind)
	all = slices.DeleteFunc(all, func(x warningAt) bool { return kind != "" && x.Kind != kind })
	all = byCause(all)
	if len(all) > mostWarnings {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s more are not shown.", withThousands(len(all)-mostWarnings)))
	}
	b.Rows = all[:min(mostWarnings, len(all))]
	b.Empty = empty{Big: "Nothing is wrong",
		Small: "Hosts in trouble, absent without a word, of another version or that refused messages in the last hour, " +
			"duties that are paused or silent, and runs of the last week that were lost or broken, are shown here."}
	p.Body = b
	return s.show(w, r, "warnings", p)
}

// warningKinds returns the choices of the filter, with the number of each.
func warningKinds(all []warningAt, here string) []choice {
	var kinds []choice
	n := map[string]int{}
	for _, x := range all {
		if n[x.Kind]++; n[x.Kind] == 1 {
			kinds = append(kinds, choice{Value: x.Kind, Path: "/warnings?kind=" + url.QueryEscape(x.Kind), Here: x.Kind == here})
		}
	}
	if len(kinds) < 2 && here == "" {
		return nil
	}
	for i := range kinds {
		kinds[i].Word = fmt.Sprintf("%s %s", kinds[i].Value, withThousands(n[kinds[i].Value]))
	}
	return append([]choice{{Word: "all " + withThousands(len(all)), Path: "/warnings", Here: here == ""}}, kinds...)
}

func (s fleetPages) fleetWarnings(ctx context.Context) ([]warningAt, error) {
	agents, err := s.agents(ctx)
	if errors.Is(err, errNoFleet) {
		return nil, nil
	}
	var all []warningAt
	newest := newest(agents)
	for _, a := range agents {
		path := "/hosts/" + url.PathEscape(a.Name)
		switch {
		case a.Trouble != "":
			all = append(all, warningAt{Kind: "trouble", What: a.Name, Path: path, Text: a.Trouble, At: a.Seen})
		case !a.Present && !a.Left:
			all = append(all, warningAt{Kind: "absent", What: a.Name, Path: path, Text: "went without a word",
				At: a.Seen})
		case a.Version != newest:
			all = append(all, warningAt{Kind: "version", What: a.Name, Path: path,
				Text: fmt.Sprintf("has %s, most have %s", a.Version, newest), At: a.Since})
		}
		if lately := reasons(a.RefusedLastHour); lately != "" {
			all = append(all, warningAt{Kind: "refused", What: a.Name, Path: path,
				Text: "in the last hour it refused messages: " + lately, At: a.Seen})
		}
	}
	return all, err
}

func (s fleetPages) dutyWarnings(ctx context.Context) (all []warningAt, unread []string, err error) {
	words, err := s.words(ctx)
	if errors.Is(err, errNoFleet) {
		return nil, nil, nil
	}
	for _, d := range inForce(words.All) {
		if note := s.dutyNote(&d); d.Paused != nil || d.Stale != "" || d.Late(s.Now()) || d.Later != nil &&
			len(d.Later.Expired) > 0 {
			all = append(all, warningAt{Kind: "duty", What: d.Name, Path: dutyPath(&d), Text: note, At: d.At})
		}
	}
	return all, append(keeperNotes(words.All), words.Warnings...), err
}

func (s fleetPages) runWarnings(entries []record.Entry) []warningAt {
	var all []warningAt
	for i := range entries {
		e := &entries[i]
		path := runPath(e.Head.Run)
		if e.State == record.Lost {
			all = append(all, warningAt{Kind: "lost", What: what(&e.Head), Path: path, Text: s.row(e).Note, At: e.Last})
		}
		if e.Foot != nil && e.Foot.Incomplete != "" {
			all = append(all, warningAt{Kind: "incomplete", What: what(&e.Head), Path: path, Text: e.Foot.Incomplete,
				At: e.Foot.At})
		}
		if e.Foot != nil && e.Foot.Error != "" {
			all = append(all, warningAt{Kind: "broken", What: what(&e.Head), Path: path, Text: e.Foot.Error,
				At: e.Foot.At})
		}
	}
	return all
}
