package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/controller/internal/console/fold"
	"hark/controller/internal/record"
	"hark/controller/internal/roster"
)

// fleetCache keeps the roster for a moment.
type fleetCache struct {
	mu     sync.Mutex
	at     time.Time      // guarded by mu
	agents []roster.Agent // guarded by mu
}

// fleetFresh is how old the roster may be: the broker is asked no more often, however many pages are looked at.
const fleetFresh = 3 * time.Second

// errNoFleet says that there is no broker.
var errNoFleet = errors.New("no broker is on record")

// agents are those of the fleet by name.
func (s *Server) agents(ctx context.Context) ([]roster.Agent, error) {
	if s.Fleet == nil {
		return nil, errNoFleet
	}
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	if s.fleet.agents != nil && s.Now().Sub(s.fleet.at) < fleetFresh {
		return s.fleet.agents, nil
	}
	all, err := s.Fleet(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b roster.Agent) int {
		if fold.Before(a.Name, b.Name) {
			return -1
		}
		return 1
	})
	s.fleet.agents, s.fleet.at = all, s.Now()
	return all, nil
}

// hostList is the page of hosts.
type hostList struct {
	With   string    `json:"-"`
	State  string    `json:"-"`
	States []choice  `json:"-"`
	Cards  []card    `json:"fleet"`
	Rows   []hostRow `json:"hosts"`
	Pager  pager     `json:"-"`
	Empty  empty     `json:"-"`
}

type card struct {
	N     string `json:"n"`
	Word  string `json:"word"`
	Class string `json:"-"`
}

type hostRow struct {
	Name     string    `json:"name"`
	Path     string    `json:"-"`
	State    sign      `json:"state"`
	Seen     time.Time `json:"seen,omitzero"`
	Version  string    `json:"version,omitempty"`
	Old      bool      `json:"old,omitempty"`
	Platform string    `json:"platform,omitempty"`
	Trouble  string    `json:"trouble,omitempty"`
	Sessions int       `json:"sessions,omitempty"`
	History  []past    `json:"history,omitempty"`
}

// past is how a host came out of a run.
type past struct {
	Run   string `json:"run"`
	Path  string `json:"-"`
	State sign   `json:"state"`
	Title string `json:"-"`
}

func (s *Server) hosts(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	b := hostList{With: q.Get("with"), State: q.Get("state")}
	p := page{Title: "Hosts", Nav: "Hosts", Refresh: 30}
	agents, err := s.agents(r.Context())
	if errors.Is(err, errNoFleet) {
		b.Empty = empty{
			Big:     "There is no fleet to show",
			Small:   "Hosts with agents are shown here once this console knows a broker. Hosts that are reached over ssh are in the runs that touch them.",
			Command: "hark broker run",
		}
		p.Body = b
		return s.show(w, r, "hosts", p)
	}
	if err != nil {
		return fmt.Errorf("the fleet cannot be shown: %w", err)
	}
	newest := newest(agents)
	b.Cards, b.States = fleetCards(agents, newest), hostStates(q, b.State)
	word := strings.ToLower(b.With)
	var rows []hostRow
	for _, a := range agents {
		x := hostOf(a, newest)
		if !strings.Contains(strings.ToLower(x.Name), word) || !hostIs(x, a, b.State) {
			continue
		}
		rows = append(rows, x)
	}
	at := min(from(r), len(rows))
	b.Rows = rows[at:min(at+hostsPage, len(rows))]
	s.histories(r.Context(), b.Rows)
	b.Pager = paged(r.URL, at, hostsPage, len(rows), "hosts")
	b.Empty = empty{Big: "No host is like that"}
	if len(agents) == 0 {
		b.Empty = empty{Big: "No agent has been heard of yet", Small: "Put one on each host of an inventory:", Command: "hark bootstrap -i inventory"}
	}
	p.Body = b
	return s.show(w, r, "hosts", p)
}

// newest is the version that most agents have: others are told apart from it. Versions are not in an order that could be compared.
func newest(agents []roster.Agent) string {
	n := map[string]int{}
	best := ""
	for _, a := range agents {
		if n[a.Version]++; n[a.Version] > n[best] || n[a.Version] == n[best] && a.Version > best {
			best = a.Version
		}
	}
	return best
}

func hostOf(a roster.Agent, newest string) hostRow {
	x := hostRow{
		Name: a.Name, Path: "/hosts/" + url.PathEscape(a.Name), State: presence(a), Seen: a.Seen, Version: a.Version, Old: a.Version != newest,
		Platform: strings.Trim(a.OS+"/"+a.Arch, "/"), Trouble: a.Trouble, Sessions: len(a.Runs),
	}
	return x
}

func presence(a roster.Agent) sign {
	if a.Present {
		return sign{"present", "●", "present"}
	}
	return sign{"absent", "○", "absent"}
}

func hostIs(x hostRow, a roster.Agent, state string) bool {
	switch state {
	case "present":
		return a.Present
	case "absent":
		return !a.Present
	case "other":
		return x.Old
	case "trouble":
		return a.Trouble != ""
	case "busy":
		return len(a.Runs) > 0
	}
	return true
}

func hostStates(q url.Values, state string) []choice {
	var all []choice
	for _, c := range []choice{{Word: "All"}, {Word: "Present", Value: "present"}, {Word: "Absent", Value: "absent"}, {Word: "In a run", Value: "busy"}, {Word: "Other version", Value: "other"}, {Word: "In trouble", Value: "trouble"}} {
		to := url.Values{}
		if with := q.Get("with"); with != "" {
			to.Set("with", with)
		}
		if c.Value != "" {
			to.Set("state", c.Value)
		}
		c.Path, c.Here = (&url.URL{Path: "/hosts", RawQuery: to.Encode()}).String(), c.Value == state
		all = append(all, c)
	}
	return all
}

func fleetCards(agents []roster.Agent, newest string) []card {
	present, other, trouble := 0, 0, 0
	for _, a := range agents {
		if a.Present {
			present++
		}
		if a.Version != newest {
			other++
		}
		if a.Trouble != "" {
			trouble++
		}
	}
	cards := []card{{number(present), "present", ""}, {number(len(agents) - present), "absent", ""}}
	if absent := len(agents) - present; absent > 0 {
		cards[1].Class = "changed"
	}
	if other > 0 {
		cards = append(cards, card{number(other), "of another version than " + newest, "changed"})
	} else if newest != "" {
		cards = append(cards, card{newest, "on every host", ""})
	}
	if trouble > 0 {
		cards = append(cards, card{number(trouble), "in trouble", "failed"})
	}
	return cards
}

// How many of the last runs the pages of hosts look at.
const (
	pastRuns  = 30
	pastShown = 10
)

// histories fills in how hosts came out of the last runs.
func (s *Server) histories(ctx context.Context, rows []hostRow) {
	list, err := s.list(ctx, "", "", "", time.Time{})
	if err != nil {
		return // it is shown without
	}
	at := map[string]*hostRow{}
	for i := range rows {
		at[rows[i].Name] = &rows[i]
	}
	for i := range list.Entries[:min(pastRuns, len(list.Entries))] {
		e := &list.Entries[i]
		if e.Foot == nil {
			continue
		}
		for _, fate := range []record.Fate{record.FateFailed, record.FateUnreachable, record.FateChanged, record.FateOK} {
			for _, name := range e.Foot.Names(fate) {
				if x := at[name]; x != nil && len(x.History) < pastShown {
					x.History = append(x.History, pastOf(e, fate, name))
				}
			}
		}
	}
}

func pastOf(e *record.Entry, fate record.Fate, host string) past {
	state := sign{string(fate), "✓", string(fate)}
	if fate == record.FateFailed || fate == record.FateUnreachable {
		state.Sign = "✗"
	}
	return past{e.Head.Run, "/runs/" + e.Head.Run + "/hosts/" + url.PathEscape(host), state, fmt.Sprintf("%s, %s: %s", when(e.Head.At), what(&e.Head), fate)}
}

// host is the page of one host: what its agent says, and the runs that touched it.
func (s *Server) host(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("host")
	var b struct {
		Name    string   `json:"name"`
		State   sign     `json:"state"`
		Trouble string   `json:"trouble,omitempty"`
		Facts   []fact   `json:"facts"`
		Runs    []link   `json:"in_runs,omitempty"`
		Rows    []runRow `json:"runs"`
		Empty   empty    `json:"-"`
	}
	b.Name = name
	agents, fleetErr := s.agents(r.Context())
	known := false
	for _, a := range agents {
		if a.Name == name {
			known = true
			b.State, b.Trouble, b.Facts = presence(a), a.Trouble, agentFacts(a)
			for _, run := range a.Runs {
				b.Runs = append(b.Runs, link{short(run), "/runs/" + url.PathEscape(run)})
			}
		}
	}
	list, err := s.list(r.Context(), name, "", "", time.Time{})
	if err != nil {
		return err
	}
	const most = 50
	for i := range list.Entries[:min(most, len(list.Entries))] {
		x := s.row(&list.Entries[i])
		x.Note = ""
		for _, fate := range []record.Fate{record.FateFailed, record.FateUnreachable, record.FateChanged, record.FateOK} {
			if f := list.Entries[i].Foot; f != nil && slices.Contains(f.Names(fate), name) {
				x.State = pastOf(&list.Entries[i], fate, name).State
			}
		}
		b.Rows = append(b.Rows, x)
	}
	if !known && len(b.Rows) == 0 {
		return &noPageError{fmt.Sprintf("There is no host %q: no agent has that name, and no run on record touched it.", name)}
	}
	p := page{Title: name, Nav: "Hosts", Body: b}
	if fleetErr != nil && !errors.Is(fleetErr, errNoFleet) {
		p.Warnings = []string{"The fleet cannot be shown: " + fleetErr.Error()}
	}
	b.Empty = empty{Big: "No run on record touched this host"}
	p.Body = b
	return s.show(w, r, "host", p)
}

func agentFacts(a roster.Agent) []fact {
	var all []fact
	put := func(name, text string, code bool) {
		if text != "" {
			all = append(all, fact{Name: name, Text: text, Code: code})
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			all = append(all, fact{Name: name, Time: &t})
		}
	}
	at("last heard of", a.Seen)
	at("connected since", a.Since)
	at("agent started", a.Started)
	put("agent", a.Version, false)
	put("platform", strings.Trim(a.OS+"/"+a.Arch, "/"), false)
	put("id", a.ID, true)
	put("key", a.Key, true)
	return all
}

// warnings is the page of what is wrong in the fleet and in the last runs.
func (s *Server) warnings(w http.ResponseWriter, r *http.Request) error {
	type row struct {
		Kind string    `json:"kind"`
		What string    `json:"what"`
		Path string    `json:"-"`
		Text string    `json:"text"`
		At   time.Time `json:"at,omitzero"`
	}
	var b struct {
		Rows  []row `json:"warnings"`
		Empty empty `json:"-"`
	}
	p := page{Title: "Warnings", Nav: "Warnings", Refresh: 30}
	agents, err := s.agents(r.Context())
	if err != nil && !errors.Is(err, errNoFleet) {
		p.Warnings = append(p.Warnings, "The fleet cannot be shown: "+err.Error())
	}
	newest := newest(agents)
	const most = 200
	for _, a := range agents {
		path := "/hosts/" + url.PathEscape(a.Name)
		switch {
		case a.Trouble != "":
			b.Rows = append(b.Rows, row{"trouble", a.Name, path, a.Trouble, a.Seen})
		case !a.Present && !a.Left:
			b.Rows = append(b.Rows, row{"absent", a.Name, path, "went without a word", a.Seen})
		case a.Version != newest:
			b.Rows = append(b.Rows, row{"version", a.Name, path, fmt.Sprintf("has %s, most have %s", a.Version, newest), a.Since})
		}
	}
	list, err := s.list(r.Context(), "", "", "", s.Now().Add(-7*24*time.Hour).Truncate(time.Minute))
	if err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, list.Warnings...)
	for i := range list.Entries {
		e := &list.Entries[i]
		path := "/runs/" + e.Head.Run
		if e.State == record.Lost {
			b.Rows = append(b.Rows, row{"lost", what(&e.Head), path, s.row(e).Note, e.Last})
		}
		if e.Foot != nil && e.Foot.Incomplete != "" {
			b.Rows = append(b.Rows, row{"incomplete", what(&e.Head), path, e.Foot.Incomplete, e.Foot.At})
		}
		if e.Foot != nil && e.Foot.Error != "" {
			b.Rows = append(b.Rows, row{"broken", what(&e.Head), path, e.Foot.Error, e.Foot.At})
		}
	}
	if len(b.Rows) > most {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s more are not shown.", number(len(b.Rows)-most)))
		b.Rows = b.Rows[:most]
	}
	b.Empty = empty{Big: "Nothing is wrong", Small: "Hosts in trouble, absent without a word or of another version, and runs of the last week that were lost or broken, are shown here."}
	p.Body = b
	return s.show(w, r, "warnings", p)
}
