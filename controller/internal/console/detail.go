package console

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hark/controller/internal/console/ansihtml"
	"hark/controller/internal/console/runcache"
	"hark/controller/internal/console/runmodel"
)

// hostsPage is how many hosts one page lists, groupsPage how many groups.
const (
	hostsPage  = 200
	groupsPage = 100
)

func from(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("from"))
	return max(0, n)
}

// task is the page of one task with all its groups.
func (s runPages) task(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "task")
	if err != nil {
		return err
	}
	seen, ok := t.Model.Task(n, from(r), groupsPage)
	if !ok {
		return &noPageError{fmt.Sprintf("There is no task %d in this run.", n)}
	}
	var b struct {
		Head  runHead `json:"head"`
		Task  taskAt  `json:"task"`
		Pager pager   `json:"-"`
	}
	b.Head, b.Task = s.head(t, "Tasks"), taskOf(t.Entry.Head.Run, seen, runmodel.Seen{})
	b.Task.Where = seen.Place
	b.Pager = paged(r.URL, from(r), groupsPage, from(r)+len(seen.Groups)+seen.More, "groups")
	return s.show(w, r, "task", page{Title: seen.Title + " · " + b.Head.What, Nav: "Runs", Body: b})
}

// group is the page of one group: its text as far as it is kept, and its hosts.
func (s runPages) group(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "task")
	if err != nil {
		return err
	}
	m, err := numberIn(r, "group")
	if err != nil {
		return err
	}
	seen, _ := t.Model.Task(n, 0, 0)
	g, names, ok := t.Model.Group(n, m, from(r), hostsPage)
	if !ok {
		return &noPageError{fmt.Sprintf("There is no group %d of task %d in this run.", m, n)}
	}
	var b struct {
		Head     runHead         `json:"head"`
		Title    string          `json:"task"`
		TaskPath string          `json:"-"`
		Word     string          `json:"state"`
		Class    string          `json:"-"`
		Count    string          `json:"count"`
		Text     string          `json:"text"`
		Lines    []template.HTML `json:"-"`
		Hosts    []link          `json:"hosts"`
		Pager    pager           `json:"-"`
	}
	b.Head, b.Title, b.TaskPath = s.head(t, "Tasks"), seen.Title, fmt.Sprintf("/runs/%s/tasks/%d", t.Entry.Head.Run, n)
	b.Word, b.Class, b.Count, b.Text = g.State.String(), g.State.String(), plural(g.Count, "host"), g.Text
	if b.Text != "" {
		b.Lines = textLines(g)
	}
	for _, name := range names {
		b.Hosts = append(b.Hosts, link{name, "/runs/" + t.Entry.Head.Run + "/hosts/" + url.PathEscape(name)})
	}
	b.Pager = paged(r.URL, from(r), hostsPage, g.Count, "hosts")
	return s.show(w, r, "group", page{Title: seen.Title + " · " + b.Head.What, Nav: "Runs", Body: b})
}

// textLines returns the lines that are kept of a group's text.
func textLines(g runmodel.GroupSeen) []template.HTML {
	var all []template.HTML
	for line := range strings.SplitSeq(g.Text, "\n") {
		all = append(all, ansihtml.Line(line, lineBytes))
	}
	if g.Whole > len(g.Text) {
		all = append(all,
			template.HTML(fmt.Sprintf(`<i class="cut">… and %s bytes more: they are in the output</i>`,
				withThousands(g.Whole-len(g.Text)))))
	}
	return all
}

// runHosts is the page of a run's hosts, the bad ones first.
func (s runPages) runHosts(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	type row struct {
		Name   string  `json:"name"`
		Path   string  `json:"-"`
		State  sign    `json:"state"`
		Counts []count `json:"tasks"`
		Last   *more   `json:"last,omitempty"`
	}
	var b struct {
		Head  runHead `json:"head"`
		With  string  `json:"-"`
		Told  string  `json:"-"`
		Rows  []row   `json:"hosts"`
		Pager pager   `json:"-"`
		Empty empty   `json:"-"`
	}
	base := "/runs/" + t.Entry.Head.Run
	b.Head, b.With = s.head(t, "Hosts"), r.URL.Query().Get("with")
	all := t.Model.Hosts(b.With)
	b.Told = plural(len(all), "host")
	for _, h := range all[min(from(r), len(all)):min(from(r)+hostsPage, len(all))] {
		x := row{Name: h.Name, Path: base + "/hosts/" + url.PathEscape(h.Name), State: hostSign(h.Worst()),
			Counts: counts(h.Counts)}
		if last, ok := t.Model.Task(h.Last, 0, 0); ok {
			x.Last = &more{Text: last.Title, Path: fmt.Sprintf("%s#t%d", base, last.N)}
		}
		b.Rows = append(b.Rows, x)
	}
	b.Pager = paged(r.URL, from(r), hostsPage, len(all), "hosts")
	b.Empty = empty{Big: "No host of this run has that in its name"}
	if b.With == "" {
		b.Empty.Big = "No host has told anything yet"
	}
	return s.show(w, r, "runhosts", page{Title: "Hosts · " + b.Head.What, Nav: "Runs", Body: b})
}

func hostSign(state runmodel.State) sign {
	c := state.String()
	switch {
	case state.Bad():
		return sign{c, "✗", c}
	case state == runmodel.Skipped:
		return sign{c, "–", c}
	}
	return sign{c, "✓", c}
}

// runHost is the page of one host's results in a run.
func (s runPages) runHost(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("host")
	came, ok := t.Model.Host(name)
	if !ok {
		return &noPageError{fmt.Sprintf("Host %q is not in this run, or has told nothing yet.", name)}
	}
	type row struct {
		Title string `json:"task"`
		groupAt
	}
	var b struct {
		Head runHead `json:"head"`
		Host string  `json:"host"`
		Path string  `json:"-"`
		Came []row   `json:"came"`
	}
	b.Head, b.Host, b.Path = s.head(t, "Hosts"), name, "/hosts/"+url.PathEscape(name)
	for _, c := range came {
		base := fmt.Sprintf("/runs/%s/tasks/%d", t.Entry.Head.Run, c.Task.N)
		x := row{c.Task.Title, groupOf(base, c.Task.N, c.Group, groupLines)}
		b.Came = append(b.Came, x)
	}
	return s.show(w, r, "runhost", page{Title: name + " · " + b.Head.What, Nav: "Runs", Body: b})
}

// notices is the page of warnings and other texts that belong to no result.
func (s runPages) notices(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	type row struct {
		Kind  string          `json:"kind"`
		Text  string          `json:"text"`
		Lines []template.HTML `json:"-"`
	}
	var b struct {
		Head    runHead `json:"head"`
		Notices []row   `json:"notices"`
		Empty   empty   `json:"-"`
	}
	b.Head, b.Empty = s.head(t, "Warnings"), empty{Big: "This run has given no warnings"}
	for _, n := range t.Model.Notices() {
		x := row{Kind: n.Kind, Text: n.Text}
		for line := range strings.SplitSeq(strings.TrimRight(n.Text, "\n"), "\n") {
			x.Lines = append(x.Lines, ansihtml.Line(line, lineBytes))
		}
		b.Notices = append(b.Notices, x)
	}
	return s.show(w, r, "notices", page{Title: "Warnings · " + b.Head.What, Nav: "Runs", Body: b})
}
