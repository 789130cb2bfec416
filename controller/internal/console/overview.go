package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/runs/record"
)

// Ending is something that ends and has to be renewed by somebody.
type Ending struct {
	What string
	At   time.Time
}

// The kinds of what needs somebody, in the order of the front page. They are labels of a metric too.
const (
	needsFailed   = "failed"
	needsDrifted  = "drifted"
	needsPaused   = "paused"
	needsStale    = "stale"
	needsSilent   = "silent"
	needsExpired  = "expired"
	needsAbsent   = "absent"
	needsTrouble  = "trouble"
	needsRuns     = "failed_runs"
	needsLost     = "lost_runs"
	needsExpiring = "expiring"
	needsUnread   = "unread"
)

// needKinds returns all kinds, in order.
func needKinds() []string {
	return []string{
		needsFailed, needsDrifted, needsPaused, needsStale, needsSilent, needsExpired, needsAbsent, needsTrouble, needsRuns,
		needsLost, needsExpiring, needsUnread,
	}
}

// need is something that somebody has to look at.
type need struct {
	Kind  string `json:"kind"`
	N     int    `json:"n"` // how many hosts, duties, runs
	State sign   `json:"-"`
	Word  string `json:"-"`
	What  string `json:"what"`
	Path  string `json:"-"`
	Why   string `json:"why,omitempty"`
	// Since is when it began, if that is known.
	Since time.Time `json:"since,omitzero"`
}

// overview is the front page: whether everything is fine, and what is not.
type overview struct {
	// Fine says that nothing is wrong in what is known; Whole says that nothing is missing that is needed to know it.
	Fine  bool   `json:"fine"`
	Whole bool   `json:"whole"`
	Big   string `json:"says"`
	Small string `json:"-"`
	State sign   `json:"-"`
	// Figures are how many there are of each kind, zeros too.
	Figures map[string]int `json:"figures"`
	Needs   []need         `json:"needs"`
	Cards   []card         `json:"-"`
	Recent  []runRow       `json:"-"`
}

// How long a run that failed counts, unless a later one of the same command did well; and how long before its end
// something is told of.
const (
	failedFor = 24 * time.Hour
	endsSoon  = 30 * 24 * time.Hour
)

// look gathers what needs somebody. What cannot be read is a need itself.
func (s fleetPages) look(ctx context.Context) overview {
	b := overview{Whole: true, Figures: map[string]int{}}
	for _, kind := range needKinds() {
		b.Figures[kind] = 0
	}
	agents, err := s.agents(ctx)
	b.unread("agents", err)
	b.Needs = append(b.Needs, agentNeeds(agents)...)
	words, err := s.words(ctx)
	b.unread("duties", err)
	duties := inForce(words.All)
	for i := range duties {
		b.Needs = append(b.Needs, s.dutyNeeds(&duties[i])...)
	}
	b.Needs = append(b.Needs, s.keeperNeeds(words)...)
	for _, text := range append(keeperNotes(words.All), words.Warnings...) {
		b.Whole = false
		b.Needs = append(b.Needs, need{Kind: needsUnread, N: 1, What: "duties", Path: "/duties", Why: brief(text)})
	}
	list, err := s.list(ctx, "", "", "", s.Now().Add(-failedFor).Truncate(time.Minute)) // what is older counts for nothing
	b.unread("runs", err)
	b.Needs = append(b.Needs, s.runNeeds(list.Entries)...)
	b.Needs = append(b.Needs, s.endingNeeds()...)
	b.conclude(s, agents, duties, list.Entries)
	return b
}

// unread notes what cannot be read. That there is no broker is no fault: then only runs are known.
func (b *overview) unread(what string, err error) {
	if err == nil {
		return
	}
	b.Whole = false
	if errors.Is(err, errNoFleet) {
		return
	}
	b.Needs = append(b.Needs, need{Kind: needsUnread, N: 1, What: what, Path: "/warnings", Why: brief(err.Error())})
}

func agentNeeds(agents []roster.Agent) []need {
	var absent []string
	var since time.Time
	var all []need
	for _, a := range agents {
		if !a.Present {
			absent = append(absent, a.Name)
			if since.IsZero() || a.Seen.Before(since) {
				since = a.Seen
			}
		}
		if a.Trouble != "" {
			all = append(all, need{Kind: needsTrouble, N: 1, What: a.Name, Path: "/hosts/" + url.PathEscape(a.Name),
				Why: brief(a.Trouble), Since: a.Seen})
		}
	}
	if len(absent) > 0 {
		all = append(all, need{Kind: needsAbsent, N: len(absent), What: hostNames(absent), Path: "/hosts?state=absent",
			Since: since})
	}
	return all
}

// hostNames are some names, and how many more there are.
func hostNames(names []string) string {
	const most = 8
	text := strings.Join(names[:min(most, len(names))], " ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %s more", withThousands(more))
	}
	return text
}

// dutyNeeds returns what is wrong with a duty and with its hosts.
func (s fleetPages) dutyNeeds(d *dutyAt) []need {
	var all []need
	add := func(kind string, n int, why string, since time.Time) {
		all = append(all, need{Kind: kind, N: n, What: d.Name, Path: dutyPath(d), Why: brief(why), Since: since})
	}
	for kind, state := range map[string]dutystate.Kind{needsFailed: dutystate.Failed,
		needsDrifted: dutystate.Drifted} {
		if hosts, why, since := hostsInState(d, state); len(hosts) > 0 {
			all = append(all, need{Kind: kind, N: len(hosts), What: d.Name + ": " + hostNames(hosts),
				Path: dutyPath(d) + "&state=" + string(state), Why: brief(why), Since: since})
		}
	}
	if d.Paused != nil {
		add(needsPaused, 1, d.Paused.Why, d.Paused.At)
	}
	if d.Stale != "" {
		add(needsStale, 1, d.Stale, time.Time{})
	}
	if d.Late(s.Now()) {
		add(needsSilent, 1, "its keeper has said nothing: is it running?", d.At)
	}
	if d.Later != nil && len(d.Later.Expired) > 0 {
		add(needsExpired, len(d.Later.Expired),
			"was put off, and these hosts did not come back in time: "+hostNames(d.Later.Expired), d.Later.Ended)
	}
	return all
}

// idleFor is how long nobody may run a keeper until that is told: one that is started again waits for its own lock.
const idleFor = 2 * time.Minute

// keeperNeeds returns the keepers that have duties and that nobody runs. A keeper that is dead cannot say so itself,
// and its duties are late only when their time has come.
func (s fleetPages) keeperNeeds(words Words) []need {
	var all []need
	for _, w := range words.All {
		since, idle := words.Idle[w.Keeper]
		due := slices.ContainsFunc(w.Definitions, func(d dutystate.Definition) bool {
			return !d.Gone && d.Paused == nil && !d.Late(s.Now()) && (d.Later == nil || d.Later.Ended.IsZero())
		})
		if !idle || !due || s.Now().Sub(since) < idleFor {
			continue
		}
		what := "the keeper " + w.Keeper
		if w.Report != nil && w.Report.Project != "" {
			what = "the keeper of " + w.Report.Project
		}
		all = append(all, need{Kind: needsSilent, N: 1, What: what, Path: "/duties", Since: since,
			Why: "nobody runs it: its duties are not seen to"})
	}
	return all
}

// hostsInState returns the hosts of a duty that stand in one way, the commonest reason, and since when the first of
// them does.
func hostsInState(d *dutyAt, k dutystate.Kind) (hosts []string, why string, since time.Time) {
	reasons := map[string]int{}
	for i := range d.states {
		st := &d.states[i]
		if st.Kind != k {
			continue
		}
		hosts = append(hosts, st.Host)
		if since.IsZero() || st.Since.Before(since) {
			since = st.Since
		}
		said := st.Why
		if said == "" && len(st.Drift) > 0 {
			said = st.Drift[0].Task
		}
		if reasons[said]++; said != "" && (why == "" || reasons[said] > reasons[why]) {
			why = said
		}
	}
	slices.SortFunc(hosts, natural)
	return hosts, why, since
}

// runNeeds returns the runs of persons that were lost or failed, and after which the same command has not done well.
func (s fleetPages) runNeeds(entries []record.Entry) []need {
	var all []need
	since := s.Now().Add(-failedFor)
	done := map[string]bool{}
	for i := range entries { // the newest first
		e := &entries[i]
		if e.Head.Duty != "" || e.State == record.Running || e.Head.At.Before(since) {
			continue
		}
		if key := e.Head.From + "\x00" + e.Head.Dir + "\x00" + strings.Join(e.Head.Line, "\x00"); done[key] {
			continue
		} else {
			done[key] = true
		}
		kind := ""
		switch {
		case e.State == record.Lost:
			kind = needsLost
		case e.Foot != nil && e.State == record.Ended && e.Foot.Status != record.OK:
			kind = needsRuns
		}
		if kind != "" {
			row := s.row(e)
			all = append(all, need{Kind: kind, N: 1, What: row.What, Path: runPath(e.Head.Run),
				Why: strings.TrimPrefix(row.Note+", by "+row.By, ", "), Since: e.Head.At})
		}
	}
	return all
}

// endingNeeds returns what ends soon.
func (s fleetPages) endingNeeds() []need {
	if s.Endings == nil {
		return nil
	}
	var all []need
	for _, x := range s.Endings() {
		if x.At.IsZero() || x.At.Sub(s.Now()) > endsSoon {
			continue
		}
		why := "ends on " + x.At.UTC().Format(time.DateOnly)
		if !x.At.After(s.Now()) {
			why = "has ended on " + x.At.UTC().Format(time.DateOnly)
		}
		all = append(all, need{Kind: needsExpiring, N: 1, What: x.What, Path: "/warnings", Why: why})
	}
	return all
}

// needSigns returns how kinds are shown: a sign, and the word behind a number.
func needSigns(kind string, n int) (sign, string) {
	one := func(word string) string {
		if n == 1 {
			return word
		}
		return word + "s"
	}
	switch kind {
	case needsFailed:
		return sign{"failed", "✗", "failed"}, one("host") + " failed"
	case needsDrifted:
		return sign{"drifted", "≠", "changed"}, one("host") + " drifted"
	case needsPaused:
		return sign{"paused", "‖", "changed"}, "paused"
	case needsStale:
		return sign{"stale", "!", "changed"}, "stale"
	case needsSilent:
		return sign{"silent", "?", "lost"}, "silent"
	case needsExpired:
		return sign{"expired", "?", "lost"}, one("host") + " too late"
	case needsAbsent:
		return sign{"absent", "○", "absent"}, one("host") + " absent"
	case needsTrouble:
		return sign{"trouble", "!", "failed"}, "in trouble"
	case needsRuns:
		return sign{"failed", "✗", "failed"}, one("run") + " failed"
	case needsLost:
		return sign{"lost", "?", "lost"}, one("run") + " lost"
	case needsExpiring:
		return sign{"expiring", "⌛", "changed"}, "expiring"
	}
	return sign{"unread", "?", "lost"}, "not known"
}

// conclude sorts the needs, counts them, and says what they come to.
func (b *overview) conclude(s fleetPages, agents []roster.Agent, duties []dutyAt, entries []record.Entry) {
	order := needKinds()
	slices.SortStableFunc(b.Needs, func(x, y need) int {
		return cmp.Or(cmp.Compare(slices.Index(order, x.Kind), slices.Index(order, y.Kind)), cmp.Compare(y.N, x.N),
			natural(x.What, y.What))
	})
	for i := range b.Needs {
		x := &b.Needs[i]
		b.Figures[x.Kind] += x.N
		x.State, x.Word = needSigns(x.Kind, x.N)
	}
	b.Fine = len(b.Needs) == 0
	switch {
	case !b.Fine:
		b.State, b.Big = sign{"not fine", "✗", "failed"}, plural(len(b.Needs), "thing")+" to look at"
		if len(b.Needs) == 1 {
			b.Big = "1 thing to look at"
		}
	case !b.Whole:
		b.State, b.Big, b.Small = sign{"not known", "–",
			"skipped"}, "No run failed. Of the fleet nothing is known here", noBroker
	default:
		b.State, b.Big = sign{"fine", "✓", "ok"}, "Everything is fine"
	}
	b.Cards = b.cards(agents, duties)
	const recent = 5
	for i := range entries[:min(recent, len(entries))] {
		b.Recent = append(b.Recent, s.row(&entries[i]))
	}
}

// cards returns the figures of what is right as well.
func (b *overview) cards(agents []roster.Agent, duties []dutyAt) []card {
	var all []card
	if len(agents) > 0 {
		present := 0
		for _, a := range agents {
			if a.Present {
				present++
			}
		}
		x := card{fmt.Sprintf("%s of %s", withThousands(present), withThousands(len(agents))), "agents present", "",
			"/hosts"}
		if present < len(agents) {
			x.Class = "changed"
		}
		all = append(all, x)
	}
	if len(duties) > 0 {
		kept, hosts := 0, 0
		for i := range duties {
			n := dutystate.Count(duties[i].states, duties[i].Name)
			kept += n[dutystate.Kept] + n[dutystate.Mended]
			hosts += duties[i].Count
		}
		x := card{fmt.Sprintf("%s of %s", withThousands(kept), withThousands(hosts)),
			fmt.Sprintf("hosts kept by %s", dutiesOf(len(duties))), "", "/duties"}
		if kept < hosts {
			x.Class = "changed"
		}
		all = append(all, x)
	}
	return all
}

func dutiesOf(n int) string {
	if n == 1 {
		return "1 duty"
	}
	return withThousands(n) + " duties"
}

// first is the front page.
func (s fleetPages) first(w http.ResponseWriter, r *http.Request) error {
	return s.show(w, r, "overview", page{Title: "Overview", Nav: "Overview", Live: "/live", Refresh: 30,
		Body: s.look(r.Context())})
}

// firstLive sends the front page anew when it has changed.
func (s fleetPages) firstLive(w http.ResponseWriter, r *http.Request) error {
	return s.watch(w, r, func() ([]piece, error) {
		html, err := s.part("overview", "now", s.look(r.Context()))
		return []piece{{ID: "now", Inner: true, HTML: html}}, err
	})
}

// watch sends pieces of a page when they have changed, until whoever watches is gone.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, now func() ([]piece, error)) error {
	st := open(w)
	if st.write("retry: 1000\n\n") != nil {
		return nil
	}
	last, n := "", after(r)
	for {
		pieces, err := now()
		if err != nil {
			return err
		}
		data, err := json.Marshal(pieces)
		if err != nil {
			return err
		}
		if string(data) != last {
			n++
			if st.send("pieces", n, data) != nil {
				return nil
			}
			last = string(data)
		}
		tick := make(chan struct{})
		timer := time.AfterFunc(listEvery, func() { close(tick) })
		if !s.wait(r.Context(), st, tick) {
			timer.Stop()
			return nil
		}
	}
}

// badges returns the counts on the entries of the menu: what needs somebody there.
func (s *Server) badges(ctx context.Context) map[string]int {
	f := fleetPages{s}.look(ctx).Figures
	return map[string]int{
		"Runs":   f[needsRuns] + f[needsLost],
		"Hosts":  f[needsAbsent] + f[needsTrouble],
		"Duties": f[needsFailed] + f[needsDrifted] + f[needsPaused] + f[needsStale] + f[needsSilent] + f[needsExpired],
	}
}
