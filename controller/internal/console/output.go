package console

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hark/controller/internal/console/ansihtml"
	"hark/controller/internal/console/runcache"
	"hark/controller/internal/console/scrollback"
	"hark/controller/internal/runs/record"
)

// How much of a line the output shows: the whole page stays within about two megabytes, however long the lines are.
const (
	outputLine  = 8 << 10
	outputBytes = 1 << 20
	outputShort = 200
)

// lineAt is a line of the output.
type lineAt struct {
	N    int           `json:"n"` // from 1 on
	HTML template.HTML `json:"-"`
	Text string        `json:"text"`
	Path string        `json:"-"`
}

// output is the page of what the run showed on its screen.
func (s runPages) output(w http.ResponseWriter, r *http.Request) error {
	t, reading, back, err := s.take(r)
	if err != nil {
		return err
	}
	defer back()
	var b struct {
		Head    runHead  `json:"head"`
		Told    string   `json:"-"`
		Total   int      `json:"total"`
		Reading string   `json:"reading,omitempty"`
		Lines   []lineAt `json:"lines"`
		Pager   pager    `json:"-"`
	}
	over := t.At().Over
	b.Head, b.Total, b.Reading = s.head(t, "Output"), t.Output.Page(), reading
	pages := max(1, (b.Total+scrollback.PageLines-1)/scrollback.PageLines)
	n := s.pageOf(r, pages, over)
	if n < 1 || n > pages {
		return &noPageError{fmt.Sprintf("The output has %s: there is no page %d.", plural(pages, "page"), n)}
	}
	if b.Lines, err = outputLines(t, (n-1)*scrollback.PageLines, min(n*scrollback.PageLines, b.Total)); err != nil {
		return err
	}
	b.Told = plural(b.Total, "line") + ", " + size(t.Output.Size())
	b.Pager = outputPager(r.URL.Path, n, pages)
	p := page{Title: "Output · " + b.Head.What, Nav: "Runs", Body: b}
	if n == pages && !over {
		p.Live, p.Refresh = fmt.Sprintf("%s/live?after=%d", r.URL.Path, b.Total), 5
	}
	return s.show(w, r, "output", p)
}

// pageOf returns the page of an address: by number, by a line, or the end of a running run.
func (s runPages) pageOf(r *http.Request, pages int, over bool) int {
	q := r.URL.Query()
	if line, err := strconv.Atoi(q.Get("line")); err == nil {
		return (max(1, line)-1)/scrollback.PageLines + 1
	}
	if n, err := strconv.Atoi(q.Get("page")); err == nil {
		return n
	}
	if over {
		return 1
	}
	return pages
}

func outputPager(path string, n, pages int) pager {
	var p pager
	if pages == 1 {
		return p
	}
	to := func(n int) string { return fmt.Sprintf("%s?page=%d", path, n) }
	if n > 1 {
		p.First, p.Prev = to(1), to(n-1)
	}
	if n < pages {
		p.Next, p.Last = to(n+1), to(pages)
	}
	p.Text = fmt.Sprintf("page %s of %s", withThousands(n), withThousands(pages))
	return p
}

// outputLines returns the lines from one on (0 is the first) to before another.
func outputLines(t *runcache.CachedRun, from, to int) ([]lineAt, error) {
	var all []lineAt
	left := outputBytes
	err := t.Output.Each(from, outputLine, func(n int, line []byte, length int) bool {
		if n >= to {
			return false
		}
		most := outputLine
		if left <= 0 {
			most = outputShort
		}
		text := string(line)
		x := lineAt{N: n + 1, HTML: cutLine(text, most, length), Text: ansihtml.Plain(text)}
		left -= len(x.HTML)
		all = append(all, x)
		return true
	})
	return all, err
}

// cutLine renders the beginning of a line, and its length.
func cutLine(text string, most, length int) template.HTML {
	if length > len(text) && len(text) <= most {
		return ansihtml.Begin(text, length)
	}
	return ansihtml.Line(text, most)
}

func size(n int64) string {
	switch {
	case n < 10_000:
		return withThousands(int(n)) + " bytes"
	case n < 10_000_000:
		return withThousands(int(n/1000)) + " kB"
	}
	return withThousands(int(n/1_000_000)) + " MB"
}

// download is the output as a file, without colours.
func (s runPages) download(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	if !t.At().Over && !t.Read(r.Context()) {
		return r.Context().Err()
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "hark-"+short(t.Entry.Head.Run)+".txt"))
	_, err := t.Output.WriteTo(&plainWriter{w: w})
	return err
}

// plainWriter removes colours from text. A sequence that is cut by the end of a write waits for the next.
type plainWriter struct {
	w    io.Writer
	held []byte
}

func (p *plainWriter) Write(text []byte) (int, error) {
	all := append(p.held, text...)
	p.held = nil
	if i := bytes.LastIndexByte(all, 0x1b); i >= 0 && len(all)-i < 64 && !bytes.ContainsRune(all[i:], 'm') &&
		!bytes.ContainsRune(all[i:], '\n') {
		all, p.held = all[:i], append([]byte(nil), all[i:]...)
	}
	if _, err := io.WriteString(p.w, ansihtml.Plain(string(all))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// searchPage is how many lines one page of a search shows.
const searchPage = 200

// search finds a text in the whole output of a run, and counts all matches.
func (s runPages) search(w http.ResponseWriter, r *http.Request) error {
	t, reading, back, err := s.take(r)
	if err != nil {
		return err
	}
	defer back()
	type hit struct {
		Text string `json:"text"`
		Path string `json:"-"`
	}
	var b struct {
		Head  runHead  `json:"head"`
		Told  string   `json:"told"`
		Total int      `json:"lines_found"`
		Hits  int      `json:"times_found"`
		Tasks []hit    `json:"tasks,omitempty"`
		Lines []lineAt `json:"lines"`
		Pager pager    `json:"-"`
		Empty empty    `json:"-"`
	}
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	b.Head = s.head(t, "Search")
	b.Head.Searched = q
	p := page{Title: "Search · " + b.Head.What, Nav: "Runs"}
	if q == "" {
		b.Empty = empty{Big: "What is to be looked for?",
			Small: "All that the run showed is searched; capitals do not matter."}
		p.Body = b
		return s.show(w, r, "search", p)
	}
	base := "/runs/" + t.Entry.Head.Run
	for _, x := range t.Model.Find(q, 20) {
		b.Tasks = append(b.Tasks, hit{x.Text, base + x.Path})
	}
	began, skip := time.Now(), from(r)
	b.Hits, b.Total, err = t.Output.Find(r.Context(), q, ansihtml.Plain, func(at, n int, line string) {
		if at >= skip && at < skip+searchPage {
			b.Lines = append(b.Lines, lineAt{N: n + 1, HTML: ansihtml.Marked(line, q, outputLine), Text: line,
				Path: fmt.Sprintf("%s/output?line=%d#L%d", base, n+1, n+1)})
		}
	})
	if err != nil {
		return err
	}
	b.Told = fmt.Sprintf("%s in %s of %s, found in %s", plural(b.Hits, "place"), plural(b.Total, "line"),
		withThousands(t.Output.Page()), took(time.Since(began)))
	if reading != "" {
		b.Told += "; the record is still being read, so there may be more"
	}
	b.Pager = paged(r.URL, skip, searchPage, b.Total, "lines")
	if b.Total == 0 && len(b.Tasks) == 0 {
		b.Empty = empty{Big: "Nothing that this run showed has that in it"}
	}
	p.Body = b
	return s.show(w, r, "search", p)
}

// find redirects to what a word may mean: a run, a host, or runs with it.
func (s fleetPages) find(w http.ResponseWriter, r *http.Request) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if q == "" {
		http.Redirect(w, r, "/runs", http.StatusSeeOther)
		return nil
	}
	if len(q) >= 4 && !strings.ContainsAny(q, "/ *?") {
		if e, err := record.Choose(r.Context(), s.Store, q); err == nil {
			http.Redirect(w, r, "/runs/"+e.Head.Run, http.StatusSeeOther)
			return nil
		}
	}
	all, err := s.list(r.Context(), "", "", "", time.Time{})
	if err != nil {
		return err
	}
	b := findPage{Query: q}
	word := strings.ToLower(q)
	for i := range all.Entries {
		e := &all.Entries[i]
		if text := what(&e.Head) + " " + by(&e.Head) + " " + e.Head.Duty + " " +
			e.Head.Commit; strings.Contains(strings.ToLower(text), word) {
			if b.Total++; len(b.Rows) < runsPage {
				b.Rows = append(b.Rows, s.row(e))
			}
		}
	}
	agents, _ := s.agents(r.Context()) // runs are found without the fleet too
	for _, a := range agents {
		const most = 50
		if strings.Contains(strings.ToLower(a.Name), word) && len(b.Hosts) < most {
			b.Hosts = append(b.Hosts, link{a.Name, "/hosts/" + url.PathEscape(a.Name)})
		}
	}
	byTask, err := s.list(r.Context(), "", pattern(q), "", time.Time{})
	if err != nil {
		return err
	}
	const mostTasks = 20
	for i := range byTask.Entries[:min(mostTasks, len(byTask.Entries))] {
		b.Tasks = append(b.Tasks, s.row(&byTask.Entries[i]))
	}
	b.TasksTold = plural(len(byTask.Entries), "run") + " with a task of this name"
	b.Told = plural(b.Total, "run") + " with this in the command, the person, the duty or the commit"
	b.ByHost = (&url.URL{Path: "/runs", RawQuery: url.Values{"host": {q}}.Encode()}).String()
	b.ByTask = (&url.URL{Path: "/runs", RawQuery: url.Values{"task": {q}}.Encode()}).String()
	return s.show(w, r, "find", page{Title: "Find", Query: q, Body: b})
}

type findPage struct {
	Query  string   `json:"query"`
	Told   string   `json:"-"`
	Total  int      `json:"total"`
	Hosts  []link   `json:"hosts,omitempty"`
	Rows   []runRow `json:"runs"`
	Tasks  []runRow `json:"runs_with_task,omitempty"`
	ByHost string   `json:"-"`
	// TasksTold says how many runs have such a task.
	TasksTold string `json:"-"`
	ByTask    string `json:"-"`
}
