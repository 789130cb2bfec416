package console

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hark/controller/internal/console/ansihtml"
	"hark/controller/internal/console/runcache"
	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/runs/record"
)

// How much of a task the page of a run shows; its own page shows all.
const (
	pageGroups = 8
	groupLines = 12
	lineBytes  = 2 << 10
)

// runPage is the page of one run: its plays and tasks.
type runPage struct {
	Head    runHead  `json:"head"`
	Summary summary  `json:"summary"`
	Plays   []playAt `json:"plays"`
	Reading string   `json:"reading,omitempty"`
	Empty   empty    `json:"-"`
}

// summary is the states of the hosts so far.
type summary struct {
	Counts   []count   `json:"hosts"`
	Share    []segment `json:"-"`
	Progress string    `json:"progress,omitempty"`
	Stages   []stageAt `json:"stages,omitempty"`
	Bad      []badRow  `json:"bad,omitempty"`
	Commands []string  `json:"-"`
}

// stageAt is a stage that has begun, with the states of its hosts so far.
type stageAt struct {
	N      int       `json:"n"`
	Of     int       `json:"of"`
	Name   string    `json:"up_to"`
	Counts []count   `json:"hosts"`
	Share  []segment `json:"-"`
}

// badRow names the hosts that failed, or were unreachable.
type badRow struct {
	Class string `json:"state"`
	Word  string `json:"-"`
	Count string `json:"-"`
	Hosts []link `json:"hosts"`
	More  *more  `json:"more,omitempty"`
}

type link struct {
	Name string `json:"name"`
	Path string `json:"-"`
}

type more struct {
	N    string `json:"n,omitempty"`
	Text string `json:"text,omitempty"`
	Path string `json:"-"`
}

type playAt struct {
	N     int      `json:"n"`
	Name  string   `json:"name"`
	Path  string   `json:"path"`
	Stage string   `json:"stage,omitempty"`
	Tasks []taskAt `json:"tasks"`
}

type taskAt struct {
	N        int       `json:"n"`
	Title    string    `json:"title"`
	Action   string    `json:"action"`
	Handler  bool      `json:"handler,omitempty"`
	Bad      bool      `json:"bad"`
	Counts   []count   `json:"counts"`
	Extra    string    `json:"extra,omitempty"`
	Took     string    `json:"took"`
	Seconds  float64   `json:"seconds"`
	Width    int       `json:"-"` // of its bar, of barSteps
	Groups   []groupAt `json:"groups"`
	More     *more     `json:"more,omitempty"`
	Place    string    `json:"place"`
	Path     string    `json:"-"`
	Where    string    `json:"-"`
	Included []string  `json:"included,omitempty"`
}

type groupAt struct {
	ID    string          `json:"id"`
	Class string          `json:"-"`
	Word  string          `json:"state"`
	Count string          `json:"count"`
	Names string          `json:"hosts"`
	More  string          `json:"more,omitempty"`
	Text  string          `json:"text,omitempty"`
	Short template.HTML   `json:"-"`
	Lines []template.HTML `json:"-"`
	Rest  string          `json:"-"`
	Bad   bool            `json:"-"`
	Path  string          `json:"-"`
}

func (s runPages) run(w http.ResponseWriter, r *http.Request) error {
	t, reading, back, err := s.take(r)
	if err != nil {
		return err
	}
	defer back()
	seen := t.Model.See(pageGroups)
	b := runPage{Head: s.head(t, "Tasks"), Reading: reading, Summary: s.summary(t, seen)}
	for _, p := range seen.Plays {
		b.Plays = append(b.Plays, s.play(t, p, seen))
	}
	b.Empty = empty{Big: "Nothing has been told of this run yet",
		Small: "Its plays and tasks are shown here as they begin."}
	p := page{Title: b.Head.What, Nav: "Runs", Body: b}
	if !t.Entry.Body {
		b.Empty = empty{Big: "Only the head of this run is kept", Small: "Its lines were old, and were let go."}
		p.Body = b
	}
	if !t.At().Over {
		p.Live, p.Refresh = fmt.Sprintf("/runs/%s/live?after=%d", b.Head.ID, seen.Line), 5
	}
	return s.show(w, r, "run", p)
}

func (s runPages) play(t *runcache.CachedRun, p runmodel.PlaySeen, seen runmodel.Seen) playAt {
	x := playAt{N: p.N, Name: p.Name, Path: p.Path}
	if p.Stage > 0 {
		at := seen.Stages[p.Stage-1]
		x.Stage = fmt.Sprintf("stage %d of %d", at.N, at.Of)
	}
	for _, task := range p.Tasks {
		x.Tasks = append(x.Tasks, taskOf(t.Entry.Head.Run, task, seen))
	}
	return x
}

// barSteps is how many lengths the bars of tasks may have: the style sheet has a class for each.
const barSteps = 20

// taskOf returns a task as pages show it.
func taskOf(run string, t runmodel.TaskSeen, seen runmodel.Seen) taskAt {
	base := fmt.Sprintf("/runs/%s/tasks/%d", run, t.N)
	x := taskAt{
		N: t.N, Title: t.Title, Action: t.Action, Handler: t.Handler, Bad: t.Bad(), Took: took(t.Took()),
		Seconds: t.Took().Seconds(),
		Place:   t.Place, Path: base, Counts: counts(t.Counts), Included: t.Included,
	}
	if x.Place == "" {
		x.Place = t.Action
	}
	if seen.Longest > 0 {
		x.Width = int(math.Ceil(barSteps * t.Took().Seconds() / seen.Longest.Seconds()))
	}
	var extra []string
	if t.Items > 0 {
		extra = append(extra, plural(t.Items, "item"))
	}
	if t.Retries > 0 {
		extra = append(extra, plural(t.Retries, "try")+" more")
	}
	x.Extra = strings.ReplaceAll(strings.Join(extra, ", "), "trys", "tries")
	for _, g := range t.Groups {
		x.Groups = append(x.Groups, groupOf(base, t.N, g, groupLines))
	}
	if t.More > 0 {
		x.More = &more{Text: fmt.Sprintf("%s more with other results", plural(t.More, "group")), Path: base}
	}
	return x
}

// groupOf returns a group with at most lines lines of its text.
func groupOf(base string, task int, g runmodel.GroupSeen, lines int) groupAt {
	x := groupAt{
		ID: fmt.Sprintf("t%d.g%d", task, g.N), Class: g.State.String(), Word: g.State.String(),
		Count: plural(g.Count, "host"), Names: g.Names, Text: g.Text,
		Path: fmt.Sprintf("%s/g/%d", base, g.N),
	}
	if x.Bad = g.State.Bad(); x.Bad {
		x.Word = strings.ToUpper(x.Word)
	}
	if g.More > 0 {
		x.More = fmt.Sprintf("and %s more", withThousands(g.More))
	}
	if g.Short() {
		x.Short = ansihtml.Line(g.Text, lineBytes)
		return x
	}
	all := strings.Split(g.Text, "\n")
	for i, line := range all {
		if i == lines {
			x.Rest = plural(len(all)-lines, "line") + " more"
			break
		}
		x.Lines = append(x.Lines, ansihtml.Line(line, lineBytes))
	}
	if x.Rest == "" && g.Whole > len(g.Text) {
		x.Rest = withThousands(g.Whole-len(g.Text)) + " bytes more"
	}
	return x
}

// counts returns the states that occur, the bad ones first.
func counts(c runmodel.Counts) []count {
	var all []count
	for s := runmodel.State(0); s < runmodel.States; s++ {
		if c[s] > 0 {
			all = append(all, count{c[s], s.String(), s.String()})
		}
	}
	return all
}

// summary returns the states of the hosts: of a finished run from its foot, of a running one as far as it was read.
func (s runPages) summary(t *runcache.CachedRun, seen runmodel.Seen) summary {
	e := now(t)
	x := summary{Counts: counts(seen.Counts)}
	total := max(e.Head.Hosts, seen.Hosts)
	if e.Foot != nil && len(e.Counts) > 0 {
		x.Counts, _ = hostCounts(&e)
	}
	x.Share = share(x.Counts, total)
	x.Progress = plural(total, "host") + ", " + plural(seen.Results, "result")
	for _, at := range seen.Stages {
		all := counts(at.Counts)
		x.Stages = append(x.Stages, stageAt{N: at.N, Of: at.Of, Name: at.Name, Counts: all,
			Share: share(all, at.Counts.Total())})
	}
	for _, state := range []runmodel.State{runmodel.Failed, runmodel.Unreachable} {
		if row := badHosts(t, state); row != nil {
			x.Bad = append(x.Bad, *row)
		}
	}
	if len(x.Bad) > 0 && e.State != record.Running {
		x.Commands = []string{"hark runs retry " + short(e.Head.Run), "hark runs show " + short(e.Head.Run) + " --failed"}
	}
	if e.State == record.Running {
		x.Commands = []string{"hark runs tail " + short(e.Head.Run)}
	}
	return x
}

// badHosts returns a row of the hosts whose worst state is the given one.
func badHosts(t *runcache.CachedRun, state runmodel.State) *badRow {
	const most = 30
	names, total := t.Model.Worst(state, most)
	if total == 0 {
		return nil
	}
	base := "/runs/" + t.Entry.Head.Run + "/hosts"
	row := &badRow{Class: state.String(), Word: state.String(), Count: withThousands(total)}
	for _, name := range names {
		row.Hosts = append(row.Hosts, link{name, base + "/" + url.PathEscape(name)})
	}
	if rest := total - len(names); rest > 0 {
		row.More = &more{N: withThousands(rest), Path: base}
	}
	return row
}

// numberIn returns a number in an address.
func numberIn(r *http.Request, name string) (int, error) {
	n, err := strconv.Atoi(r.PathValue(name))
	if err != nil || n < 1 {
		return 0, &noPageError{fmt.Sprintf("There is no %s %q in this run.", name, r.PathValue(name))}
	}
	return n, nil
}
