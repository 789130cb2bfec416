package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"hark/controller/internal/runs/record"
)

// warningAt is something that is wrong.
type warningAt struct {
	Kind string    `json:"kind"`
	What string    `json:"what"`
	Path string    `json:"-"`
	Text string    `json:"text"`
	At   time.Time `json:"at,omitzero"`
}

// mostWarnings is how many are shown.
const mostWarnings = 200

// warnings is the page of what is wrong in the fleet, with the duties and in the last runs.
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
	if len(all) > mostWarnings {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s more are not shown.", withThousands(len(all)-mostWarnings)))
	}
	b.Rows = all[:min(mostWarnings, len(all))]
	b.Empty = empty{Big: "Nothing is wrong", Small: "Hosts in trouble, absent without a word, of another version or that refused messages in the last hour, duties that are paused or silent, and runs of the last week that were lost or broken, are shown here."}
	p.Body = b
	return s.show(w, r, "warnings", p)
}

// warningKinds are the choices of the filter, with how many there are of each.
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
			all = append(all, warningAt{"trouble", a.Name, path, a.Trouble, a.Seen})
		case !a.Present && !a.Left:
			all = append(all, warningAt{"absent", a.Name, path, "went without a word", a.Seen})
		case a.Version != newest:
			all = append(all, warningAt{"version", a.Name, path, fmt.Sprintf("has %s, most have %s", a.Version, newest), a.Since})
		}
		if lately := reasons(a.Lately); lately != "" {
			all = append(all, warningAt{"refused", a.Name, path, "in the last hour it refused messages: " + lately, a.Seen})
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
		if note := s.dutyNote(&d); d.Paused != nil || d.Stale != "" || d.Late(s.Now()) || d.Later != nil && len(d.Later.Expired) > 0 {
			all = append(all, warningAt{"duty", d.Name, dutyPath(&d), note, d.At})
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
			all = append(all, warningAt{"lost", what(&e.Head), path, s.row(e).Note, e.Last})
		}
		if e.Foot != nil && e.Foot.Incomplete != "" {
			all = append(all, warningAt{"incomplete", what(&e.Head), path, e.Foot.Incomplete, e.Foot.At})
		}
		if e.Foot != nil && e.Foot.Error != "" {
			all = append(all, warningAt{"broken", what(&e.Head), path, e.Foot.Error, e.Foot.At})
		}
	}
	return all
}
