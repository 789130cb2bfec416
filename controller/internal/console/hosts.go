package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/runs/record"
)

// errNoFleet says that there is no broker.
var errNoFleet = errors.New("no broker is on record")

// noBroker says how to give a console access to a broker.
const noBroker = "`hark broker admit --read-only`, with the key that `hark console key` prints, makes the access to it."

// agents returns those of the fleet by name.
func (s fleetPages) agents(ctx context.Context) ([]roster.Agent, error) {
	if s.Fleet == nil {
		return nil, errNoFleet
	}
	return s.fleet.get(s.Now, func() ([]roster.Agent, error) {
		all, err := s.Fleet(ctx)
		slices.SortFunc(all, func(a, b roster.Agent) int { return natural(a.Name, b.Name) })
		return all, err
	})
}

// hostList is the page of hosts.
type hostList struct {
	With   string    `json:"-"`
	State  string    `json:"-"`
	Group  string    `json:"-"`
	States []choice  `json:"-"`
	Groups []choice  `json:"-"`
	Cards  []card    `json:"fleet"`
	Rows   []hostRow `json:"hosts"`
	Pager  pager     `json:"-"`
	Empty  empty     `json:"-"`
}

type card struct {
	N     string `json:"n"`
	Word  string `json:"word"`
	Class string `json:"-"`
	Path  string `json:"-"`
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
	Refused  string    `json:"refused_lately,omitempty"`
	Sessions int       `json:"sessions,omitempty"`
	Jobs     int       `json:"jobs,omitempty"`
	Held     bool      `json:"held,omitempty"`
	History  []past    `json:"history,omitempty"`
}

// past is how a run ended for a host.
type past struct {
	Run   string `json:"run"`
	Path  string `json:"-"`
	State sign   `json:"state"`
	Title string `json:"-"`
}

// noAgent is the state of a host that runs touched and that has no agent at this broker.
var noAgent = sign{"no agent", "·", "skipped"}

func (s fleetPages) hosts(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	b := hostList{With: q.Get("with"), State: q.Get("state"), Group: q.Get("group")}
	p := page{Title: "Hosts", Nav: "Hosts", Refresh: 30}
	agents, err := s.agents(r.Context())
	if err != nil && !errors.Is(err, errNoFleet) {
		p.Warnings = append(p.Warnings, "The fleet cannot be shown: "+err.Error())
	}
	list, err := s.list(r.Context(), "", "", "", time.Time{})
	if err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, list.Warnings...)
	groups := groupings(list.Entries)
	b.Groups = groupChoices(groups, b.Group)
	all := allHosts(agents, list.Entries)
	newest := newest(agents)
	b.Cards, b.States = hostCards(agents, len(all), newest), hostStates(q, b.State, s.Fleet != nil)
	rows := slices.DeleteFunc(all, func(x hostRow) bool {
		return !strings.Contains(strings.ToLower(x.Name+" "+x.Platform), strings.ToLower(b.With)) || !hostIs(x, b.State) ||
			b.Group != "" && !groups[b.Group][x.Name]
	})
	at := min(from(r), len(rows))
	b.Rows = rows[at:min(at+hostsPage, len(rows))]
	histories(list.Entries, b.Rows)
	for i := range b.Rows {
		s.knownSystem(r.Context(), &b.Rows[i])
	}
	b.Pager = paged(r.URL, at, hostsPage, len(rows), "hosts")
	b.Empty = s.noHosts(agents)
	p.Body = b
	return s.show(w, r, "hosts", p)
}

// noHosts returns the text of an empty list of hosts.
func (s fleetPages) noHosts(agents []roster.Agent) empty {
	switch {
	case s.Fleet == nil:
		return empty{Big: "No host is like that, or none was touched by a run yet",
			Small: "Hosts that runs touch are shown here, and those with agents once this console may read at a broker. " +
				noBroker, Command: "hark console use access.json"}
	case len(agents) == 0:
		return empty{Big: "No agent has been heard of yet", Small: "Put one on each host of an inventory:",
			Command: "hark bootstrap -i inventory"}
	}
	return empty{Big: "No host is like that", Small: "Another filter may find more."}
}

// allHosts returns the agents, and the hosts of the last runs that have none, in natural order.
func allHosts(agents []roster.Agent, entries []record.Entry) []hostRow {
	newest := newest(agents)
	rows := make([]hostRow, 0, len(agents))
	known := make(map[string]bool, len(agents))
	for _, a := range agents {
		known[a.Name] = true
		rows = append(rows, hostOf(a, newest))
	}
	for i := range entries[:min(pastRuns, len(entries))] {
		e := &entries[i]
		if e.Foot == nil {
			continue
		}
		for _, hostState := range worstFirst() {
			for _, name := range e.Foot.Names(hostState) {
				if !known[name] {
					known[name] = true
					rows = append(rows, hostRow{Name: name, Path: "/hosts/" + url.PathEscape(name), State: noAgent, Seen: e.Foot.At})
				}
			}
		}
	}
	slices.SortFunc(rows, func(a, b hostRow) int { return natural(a.Name, b.Name) })
	return rows
}

// knownSystem takes the system of a host from its facts, if they are known: it says more than the agent's platform.
func (s fleetPages) knownSystem(ctx context.Context, x *hostRow) {
	if s.Facts == nil {
		return
	}
	facts, _, ok := s.Facts(ctx, x.Name)
	if !ok {
		return
	}
	for _, f := range knownFacts(facts) {
		if f.Name == "system" {
			x.Platform = f.Text
		}
	}
}

func groupChoices(groups map[string]map[string]bool, here string) []choice {
	if len(groups) == 0 {
		return nil
	}
	all := []choice{{Word: "any", Here: here == ""}}
	for _, name := range slices.SortedFunc(maps.Keys(groups), natural) {
		all = append(all, choice{Word: fmt.Sprintf("%s (%s)", name, withThousands(len(groups[name]))), Value: name,
			Here: name == here})
	}
	return all
}

// newest returns the version that most agents have, so that others stand out. Versions cannot be compared.
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
	return hostRow{
		Name: a.Name, Path: "/hosts/" + url.PathEscape(a.Name), State: presence(a), Seen: a.Seen, Version: a.Version,
		Old: a.Version != newest,
		Platform: strings.Trim(a.OS+"/"+a.Arch,
			"/"), Trouble: a.Trouble, Refused: reasons(a.RefusedLastHour), Sessions: len(a.Runs),
		Jobs: a.JobCount, Held: a.Hold != nil,
	}
}

func presence(a roster.Agent) sign {
	if a.Present {
		return sign{"present", "●", "present"}
	}
	return sign{"absent", "○", "absent"}
}

func hostIs(x hostRow, state string) bool {
	switch state {
	case "present", "absent":
		return x.State.Word == state
	case "none":
		return x.State == noAgent
	case "other":
		return x.Old
	case "trouble":
		return x.Trouble != "" || x.Refused != ""
	case "busy":
		return x.Sessions+x.Jobs > 0
	}
	return true
}

// hostStates returns the choices of the filter; without a fleet there are none.
func hostStates(q url.Values, state string, fleet bool) []choice {
	if !fleet {
		return nil
	}
	var all []choice
	for _, c := range []choice{{Word: "All"}, {Word: "Present", Value: "present"}, {Word: "Absent", Value: "absent"},
		{Word: "Busy", Value: "busy"}, {Word: "In trouble", Value: "trouble"},
		{Word: "Other version", Value: "other"}, {Word: "No agent", Value: "none"}} {
		to := url.Values{}
		for _, name := range []string{"with", "group"} {
			if v := q.Get(name); v != "" {
				to.Set(name, v)
			}
		}
		if c.Value != "" {
			to.Set("state", c.Value)
		}
		c.Path, c.Here = (&url.URL{Path: "/hosts", RawQuery: to.Encode()}).String(), c.Value == state
		all = append(all, c)
	}
	return all
}

// hostCards returns the cards about the hosts as a whole.
func hostCards(agents []roster.Agent, hosts int, newest string) []card {
	if len(agents) == 0 {
		return nil
	}
	present, other, trouble, refused := 0, 0, 0, 0
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
		if len(a.RefusedLastHour) > 0 {
			refused++
		}
	}
	cards := []card{{withThousands(present), "present", "", "/hosts?state=present"},
		{withThousands(len(agents) - present), "absent", "", "/hosts?state=absent"}}
	if present < len(agents) {
		cards[1].Class = "changed"
	}
	if n := hosts - len(agents); n > 0 {
		cards = append(cards, card{withThousands(n), "without an agent", "", "/hosts?state=none"})
	}
	if other > 0 {
		cards = append(cards, card{withThousands(other), "of another version than " + newest, "changed",
			"/hosts?state=other"})
	} else {
		cards = append(cards, card{newest, "on every host", "", ""})
	}
	if trouble > 0 {
		cards = append(cards, card{withThousands(trouble), "in trouble", "failed", "/hosts?state=trouble"})
	}
	if refused > 0 {
		cards = append(cards, card{withThousands(refused), "refused messages lately", "changed", "/hosts?state=trouble"})
	}
	return cards
}

// How many of the last runs the pages of hosts look at.
const (
	pastRuns  = 30
	pastShown = 10
)

// histories fills in how the last runs ended for hosts.
func histories(entries []record.Entry, rows []hostRow) {
	at := map[string]*hostRow{}
	for i := range rows {
		at[rows[i].Name] = &rows[i]
	}
	for i := range entries[:min(pastRuns, len(entries))] {
		e := &entries[i]
		if e.Foot == nil {
			continue
		}
		for _, hostState := range worstFirst() {
			for _, name := range e.Foot.Names(hostState) {
				if x := at[name]; x != nil && len(x.History) < pastShown {
					x.History = append(x.History, pastOf(e, hostState, name))
				}
			}
		}
	}
}

func pastOf(e *record.Entry, hostState record.HostState, host string) past {
	state := sign{string(hostState), "✓", string(hostState)}
	if hostState == record.StateFailed || hostState == record.StateUnreachable {
		state.Sign = "✗"
	}
	return past{e.Head.Run, "/runs/" + e.Head.Run + "/hosts/" + url.PathEscape(host), state,
		fmt.Sprintf("%s, %s: %s", when(e.Head.At), what(&e.Head), hostState)}
}
