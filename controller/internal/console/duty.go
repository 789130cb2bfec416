package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/console/ansihtml"
	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/runs/record"
)

// duty finds the duty of an address.
func (s fleetPages) duty(r *http.Request) (*dutyAt, Words, error) {
	all, err := s.words(r.Context())
	if errors.Is(err, errNoFleet) {
		return nil, all, &noPageError{"This console may read at no broker, so it knows no duties."}
	}
	if err != nil {
		return nil, all, fmt.Errorf("the duties cannot be shown: %w", err)
	}
	name, keeper := r.PathValue("duty"), r.URL.Query().Get("keeper")
	for _, d := range inForce(all.All) {
		if d.Name == name && strings.HasPrefix(d.Keeper, keeper) {
			return &d, all, nil
		}
	}
	return nil, all, &noPageError{fmt.Sprintf("There is no duty %q: it may have been taken out of its project, or its "+
		"keeper is not believed here.", name)}
}

// dutyHead is the head of the pages of one duty.
type dutyHead struct {
	Name  string  `json:"duty"`
	Path  string  `json:"-"`
	State sign    `json:"state"`
	Mode  string  `json:"mode"`
	Facts []fact  `json:"facts"`
	Notes string  `json:"note,omitempty"`
	Sums  []count `json:"hosts"`
	Share []segment
}

func (s fleetPages) dutyHead(d *dutyAt) dutyHead {
	x := dutyHead{Name: d.Name, Path: dutyPath(d), State: s.dutySign(d), Mode: string(d.Mode), Notes: s.dutyNote(d)}
	x.Sums, x.Share = stateCounts(d)
	put := func(name, text string, code bool) {
		if text = brief(text); text != "" {
			x.Facts = append(x.Facts, fact{Name: name, Text: text, Code: code})
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			x.Facts = append(x.Facts, fact{Name: name, Time: &t})
		}
	}
	put("play", d.Play, true)
	put("hosts", d.Hosts, true)
	put("every", d.Every, false)
	put("commit", d.Commit, true)
	if d.Paused == nil {
		at("next turn", d.Next)
	}
	at("heard of", d.At)
	put("keeper", d.Keeper[:min(len(d.Keeper), 12)]+"…", true)
	return x
}

// driftAt are hosts with the same drift at a task.
type driftAt struct {
	Task  string          `json:"task"`
	Count string          `json:"count"`
	Names string          `json:"hosts"`
	More  string          `json:"more,omitempty"`
	Since time.Time       `json:"since"`
	Diff  string          `json:"diff,omitempty"`
	Lines []template.HTML `json:"-"`
}

// openDrift is a drift as it is shown: open or closed.
type openDrift struct {
	Drift driftAt
	Open  bool
}

// standAt is a host under a duty.
type standAt struct {
	Host   string    `json:"host"`
	Path   string    `json:"-"`
	Duty   string    `json:"duty"`
	State  sign      `json:"state"`
	Since  time.Time `json:"since,omitzero"`
	At     time.Time `json:"at,omitzero"`
	Commit string    `json:"commit,omitempty"`
	Run    *link     `json:"run,omitempty"`
	Why    string    `json:"why,omitempty"`
	Past   []past    `json:"past,omitempty"`
}

func (s fleetPages) dutyPage(w http.ResponseWriter, r *http.Request) error {
	d, all, err := s.duty(r)
	if err != nil {
		return err
	}
	var b struct {
		Head   dutyHead  `json:"head"`
		Drift  []driftAt `json:"drift"`
		More   string    `json:"-"`
		Blind  []string  `json:"blind,omitempty"`
		BlindN string    `json:"-"`
		Noise  []string  `json:"noise,omitempty"`
		With   string    `json:"-"`
		State  string    `json:"-"`
		Keeper string    `json:"-"`
		States []choice  `json:"-"`
		Rows   []standAt `json:"hosts"`
		Pager  pager     `json:"-"`
		Empty  empty     `json:"-"`
	}
	q := r.URL.Query()
	b.Head, b.With, b.State, b.Keeper = s.dutyHead(d), q.Get("with"), q.Get("state"), q.Get("keeper")
	const most = 50
	const few = 3 // differences of one task
	groups := dutystate.ByTask(dutystate.Drifts(d.states, func(*dutystate.State) bool { return true }), few)
	for _, g := range groups[:min(most, len(groups))] {
		b.Drift = append(b.Drift, driftOf(g))
	}
	if len(groups) > most {
		b.More = plural(len(groups)-most, "other drift") + " of fewer hosts: hark duties drift " + d.Name + " shows all"
	}
	blind, of, names := dutystate.Blindness(d.states, d.Name)
	b.Blind, b.BlindN, b.Noise = names, fmt.Sprintf("%d of %s", blind, plural(of, "task")), noise(d)
	b.States = stateChoices(r.URL, b.State, b.Head.Sums)
	rows := slices.DeleteFunc(slices.Clone(d.states), func(st dutystate.State) bool {
		return b.State != "" && string(st.Kind) != b.State ||
			!strings.Contains(strings.ToLower(st.Host), strings.ToLower(b.With))
	})
	slices.SortStableFunc(rows, func(a, b dutystate.State) int {
		if x, y := gravity(a.Kind), gravity(b.Kind); x != y {
			return x - y
		}
		return natural(a.Host, b.Host)
	})
	at := min(from(r), len(rows))
	for i := range rows[at:min(at+hostsPage, len(rows))] {
		b.Rows = append(b.Rows, standOf(d, &rows[at+i]))
	}
	b.Pager = paged(r.URL, at, hostsPage, len(rows), "hosts")
	b.Empty = empty{Big: "No host stands so"}
	return s.show(w, r, "duty", page{Title: d.Name, Nav: "Duties", Refresh: 30, Warnings: all.Warnings, Body: b})
}

// gravity orders states, those that need a person's attention first.
func gravity(k dutystate.Kind) int {
	return slices.Index([]dutystate.Kind{dutystate.Failed, dutystate.Drifted, dutystate.Absent, dutystate.Held,
		dutystate.Never, dutystate.Mended, dutystate.Kept}, k)
}

func stateChoices(at *url.URL, state string, counts []count) []choice {
	to := func(value string) string {
		q := at.Query()
		q.Del("from")
		q.Del("state")
		if value != "" {
			q.Set("state", value)
		}
		return (&url.URL{Path: at.Path, RawQuery: q.Encode()}).String()
	}
	all := []choice{{Word: "All", Path: to(""), Here: state == ""}}
	for _, c := range counts {
		all = append(all, choice{Word: c.Word, Value: c.Word, Path: to(c.Word), Here: state == c.Word})
	}
	return all
}

// noise returns the tasks that change hosts each time, by the commit in force.
func noise(d *dutyAt) []string {
	var all []string
	for _, st := range d.states {
		for _, task := range st.Noise {
			if st.NoiseCommit == d.Commit && !slices.Contains(all, task) {
				all = append(all, task)
			}
		}
	}
	return all
}

func driftOf(g dutystate.Group) driftAt {
	x := driftAt{Task: g.Task, Count: plural(len(g.Hosts), "host"), Since: g.Since, Diff: g.Diff, Lines: diffLines(g.Diff)}
	const named = 8
	slices.SortFunc(g.Hosts, natural)
	names := record.Fold(g.Hosts)
	if len(names) > named {
		x.More = "and others"
	}
	x.Names = strings.Join(names[:min(named, len(names))], " ")
	if g.Merged > 0 {
		x.Lines = []template.HTML{template.HTML(plural(g.Merged, "other difference"))}
	}
	return x
}

// diffLines returns the lines of a difference, with added and removed lines marked.
func diffLines(text string) []template.HTML {
	const most = 200
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	lines := make([]template.HTML, 0, min(most, len(all))+1)
	for i, line := range all {
		if i == most {
			lines = append(lines, template.HTML(`<i class="cut">… and `+plural(len(all)-most, "line")+` more</i>`))
			break
		}
		html := ansihtml.Line(line, lineBytes)
		switch {
		case strings.HasPrefix(line, "+"):
			html = `<span class="add">` + html + `</span>`
		case strings.HasPrefix(line, "-"):
			html = `<span class="del">` + html + `</span>`
		}
		lines = append(lines, html)
	}
	return lines
}

// standOf returns a host under a duty as lists show it.
func standOf(d *dutyAt, st *dutystate.State) standAt {
	at, _ := url.Parse(dutyPath(d)) // made here
	at = at.JoinPath("hosts", url.PathEscape(st.Host))
	x := standAt{Host: st.Host, Path: at.String(), Duty: d.Name, State: stateSign(st.Kind), Since: st.Since,
		At: st.At, Commit: st.Commit, Run: runLink(st.Run), Why: whyOf(st)}
	for _, p := range st.Past[:min(pastShown, len(st.Past))] {
		state := stateSign(p.Kind)
		x.Past = append(x.Past, past{Run: p.Run, Path: runPath(p.Run), State: state,
			Title: fmt.Sprintf("%s to %s: %s", when(p.From), when(p.To), state.Word)})
	}
	return x
}

func runPath(run string) string {
	if run == "" {
		return ""
	}
	return "/runs/" + url.PathEscape(run)
}

func runLink(run string) *link {
	if run == "" {
		return nil
	}
	return &link{short(run), runPath(run)}
}

// whyOf returns what a person should know of a host's state.
func whyOf(st *dutystate.State) string {
	text := st.Why
	if text == "" && st.Kind != dutystate.Kept && len(st.Drift) > 0 {
		text = st.Drift[0].Task
		if n := len(st.Drift) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
	}
	if !st.Until.IsZero() {
		text += ", until " + when(st.Until)
	}
	if st.Missed > 0 {
		text += "; " + plural(st.Missed, "turn") + " missed"
	}
	return brief(strings.TrimLeft(text, ",; "))
}

// dutyHost is the page of one host under a duty, with its turns.
func (s fleetPages) dutyHost(w http.ResponseWriter, r *http.Request) error {
	d, all, err := s.duty(r)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(d.states, func(st dutystate.State) bool { return st.Host == r.PathValue("host") })
	if i < 0 {
		return &noPageError{fmt.Sprintf("The duty %q has no host %q.", d.Name, r.PathValue("host"))}
	}
	st := &d.states[i]
	type turns struct {
		From  time.Time `json:"from"`
		To    time.Time `json:"to"`
		Times int       `json:"times"`
		State sign      `json:"state"`
		Run   *link     `json:"run,omitempty"`
		Tasks string    `json:"tasks,omitempty"`
	}
	var b struct {
		Head  dutyHead  `json:"head"`
		Stand standAt   `json:"host"`
		Host  string    `json:"-"`
		Drift []driftAt `json:"drift,omitempty"`
		Blind []string  `json:"blind,omitempty"`
		Noise []string  `json:"noise,omitempty"`
		Turns []turns   `json:"turns"`
		Empty empty     `json:"-"`
	}
	b.Head, b.Stand, b.Blind, b.Noise = s.dutyHead(d), standOf(d, st), st.Blind, st.Noise
	b.Host = "/hosts/" + url.PathEscape(st.Host)
	for _, c := range st.Drift {
		b.Drift = append(b.Drift, driftAt{Task: c.Task, Since: c.Since, Diff: c.Diff, Lines: diffLines(c.Diff)})
	}
	for _, p := range st.Past {
		b.Turns = append(b.Turns, turns{p.From, p.To, p.Times, stateSign(p.Kind), runLink(p.Run),
			brief(strings.Join(p.Tasks, ", "))})
	}
	b.Empty = empty{Big: "It had no turn yet"}
	return s.show(w, r, "dutyhost", page{Title: st.Host + " · " + d.Name, Nav: "Duties", Refresh: 30,
		Warnings: all.Warnings, Body: b})
}

// natural compares names as people do.
func natural(a, b string) int {
	switch {
	case a == b:
		return 0
	case runmodel.Before(a, b):
		return -1
	}
	return 1
}
