package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"hark/controller/internal/console/runcache"
	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/runs/record"
)

// differenceAt is a row of a comparison.
type differenceAt struct {
	Task     string `json:"task"`
	Path     string `json:"-"`
	Count    int    `json:"count"`
	Names    string `json:"hosts"`
	Then     sign   `json:"then"`
	Now      sign   `json:"now"`
	ThenText string `json:"then_text,omitempty"`
	NowText  string `json:"now_text,omitempty"`
}

// slowerAt is a task whose time differs.
type slowerAt struct {
	Task string `json:"task"`
	Path string `json:"-"`
	Then string `json:"then"`
	Now  string `json:"now"`
}

// compare is the page of the differences to another run.
func (s runPages) compare(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	var b struct {
		Head    runHead        `json:"head"`
		Choices []choice       `json:"-"`
		Told    string         `json:"told,omitempty"`
		Then    string         `json:"then"`
		Now     string         `json:"now"`
		Rows    []differenceAt `json:"differences"`
		Slower  []slowerAt     `json:"times"`
		Empty   empty          `json:"-"`
	}
	b.Head = s.head(t, "Compare")
	with, all, err := s.comparable(r.Context(), t, r.URL.Query().Get("with"))
	if err != nil {
		return err
	}
	b.Choices = all
	p := page{Title: "Compare · " + b.Head.What, Nav: "Runs"}
	if with == "" {
		b.Empty = empty{Big: "There is no other run to compare with"}
		p.Body = b
		return s.show(w, r, "compare", p)
	}
	then, back2, err := s.cache.Acquire(r.Context(), with)
	if err != nil {
		return err
	}
	defer back2()
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if !then.Read(ctx) || !t.Read(ctx) {
		return fmt.Errorf("the records are still being read: load the page again in a moment")
	}
	c := t.Model.Compare(then.Model)
	b.Then, b.Now = "then: "+short(with), "now: "+short(t.Entry.Head.Run)
	base := "/runs/" + t.Entry.Head.Run
	const most = 500
	for _, d := range c.Rows[:min(most, len(c.Rows))] {
		b.Rows = append(b.Rows, differenceOf(base, "/runs/"+with, d))
	}
	for _, x := range c.Times[:min(20, len(c.Times))] {
		b.Slower = append(b.Slower, slowerAt{x.Title, fmt.Sprintf("%s#t%d", base, x.Task), took(x.Then), took(x.Now)})
	}
	b.Told = fmt.Sprintf("%s came out the same, %s otherwise.", plural(c.Same, "host"), withThousands(c.Others))
	if len(c.Rows) == 0 {
		b.Empty = empty{Big: "All hosts came out of all tasks alike"}
	}
	p.Body = b
	return s.show(w, r, "compare", p)
}

func differenceOf(base, before string, d runmodel.Difference) differenceAt {
	x := differenceAt{Task: d.Title, Count: d.Count, Names: d.Names, ThenText: brief(d.ThenText),
		NowText: brief(d.NowText)}
	if d.Then != nil {
		x.Then, x.Path = hostSign(*d.Then), fmt.Sprintf("%s#t%d", before, d.ThenTask)
	}
	if d.Now != nil {
		x.Now = hostSign(*d.Now)
	}
	if d.NowTask > 0 {
		x.Path = fmt.Sprintf("%s#t%d", base, d.NowTask)
	}
	return x
}

// comparable returns the runs to compare with, and the chosen one: the wanted run, or else the last one before it of
// the same command.
func (s runPages) comparable(ctx context.Context, t *runcache.CachedRun,
	wanted string) (with string, all []choice, err error) {
	list, err := s.list(ctx, "", "", "", time.Time{})
	if err != nil {
		return "", nil, err
	}
	if wanted != "" {
		e, err := record.Choose(ctx, s.Store, wanted)
		if err != nil {
			return "", nil, err
		}
		with = e.Head.Run
	}
	const most = 30
	h := &t.Entry.Head
	for _, same := range []bool{true, false} {
		for _, e := range list.Entries {
			if e.Head.Run == h.Run || slices.Equal(e.Head.Line, h.Line) != same || len(all) >= most && e.Head.Run != with {
				continue
			}
			if with == "" && same && e.Head.At.Before(h.At) && e.State != record.Running {
				with = e.Head.Run
			}
			all = append(all,
				choice{Value: e.Head.Run, Word: fmt.Sprintf("%s  %s  %s", short(e.Head.Run), when(e.Head.At), what(&e.Head))})
		}
	}
	if with == "" && len(all) > 0 {
		with = all[0].Value
	}
	for i := range all {
		all[i].Here = all[i].Value == with
	}
	return with, all, nil
}
