package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/console/runcache"
	"hark/controller/internal/console/runmodel"
	"hark/controller/internal/fleet/roster"
)

// jobAt is a job in the background.
type jobAt struct {
	ID    string    `json:"job"`
	Host  string    `json:"host"`
	Path  string    `json:"-"` // of the host
	Run   *link     `json:"run,omitempty"`
	Task  *link     `json:"task,omitempty"`
	State sign      `json:"state"`
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
}

// jobsPage is how many jobs one page lists.
const jobsPage = 200

// jobs is the page of the background jobs that agents had at their last heartbeats.
func (s fleetPages) jobs(w http.ResponseWriter, r *http.Request) error {
	var b struct {
		With  string  `json:"-"`
		Told  string  `json:"-"`
		Rows  []jobAt `json:"jobs"`
		Pager pager   `json:"-"`
		Empty empty   `json:"-"`
	}
	b.With = r.URL.Query().Get("with")
	p := page{Title: "Jobs", Nav: "Jobs", Refresh: 30}
	agents, err := s.agents(r.Context())
	switch {
	case errors.Is(err, errNoFleet):
		b.Empty = empty{
			Big: "Jobs of agents are not known here",
			Small: "What runs in the background on hosts with agents is shown here once this console may read at a broker. " +
				"Jobs that a run started are on the page of that run. " + noBroker, Command: "hark console use access.json",
		}
		p.Body = b
		return s.show(w, r, "jobs", p)
	case err != nil:
		return fmt.Errorf("the fleet cannot be shown: %w", err)
	}
	total, hosts, untold := 0, 0, 0
	var rows []jobAt
	for i := range agents {
		told, rest := jobsOf(&agents[i])
		total += len(told) + rest
		untold += rest
		if len(told) > 0 {
			hosts++
		}
		for _, j := range told {
			if word := strings.ToLower(b.With); strings.Contains(strings.ToLower(j.Host), word) ||
				strings.Contains(j.ID, word) || j.Run != nil && strings.HasPrefix(j.Run.Path, "/runs/"+word) {
				rows = append(rows, j)
			}
		}
	}
	slices.SortStableFunc(rows, func(x, y jobAt) int { return y.Began.Compare(x.Began) })
	at := min(from(r), len(rows))
	b.Rows, b.Pager = rows[at:min(at+jobsPage, len(rows))], paged(r.URL, at, jobsPage, len(rows), "jobs")
	b.Told = fmt.Sprintf("%s on %s, as agents said with their last heartbeat", plural(total, "job"), plural(hosts, "host"))
	if untold > 0 {
		b.Told += fmt.Sprintf("; %s of them are not named", withThousands(untold))
	}
	b.Empty = empty{Big: "No job runs in the background",
		Small: "Tasks with async, and what hark run -B starts, are shown here while they run. Agents say so with their " +
			"heartbeat, every 30 seconds."}
	if b.With != "" {
		b.Empty = empty{Big: "No job is like that"}
	}
	p.Body = b
	return s.show(w, r, "jobs", p)
}

// jobsOf returns the jobs that an agent named, and how many more it has.
func jobsOf(a *roster.Agent) (told []jobAt, rest int) {
	for _, j := range a.Jobs {
		x := jobAt{ID: j.ID, Host: a.Name, Path: "/hosts/" + url.PathEscape(a.Name), State: jobSign(j.State), Began: j.Began,
			Run: runLink(j.Run)}
		if x.Run != nil {
			x.Run.Path += "/jobs#" + url.PathEscape(j.ID)
		}
		if !a.Present {
			x.State = sign{"agent absent", "○", "absent"}
		}
		told = append(told, x)
	}
	return told, max(0, a.JobCount-len(told))
}

func jobSign(state string) sign {
	switch state {
	case "finished":
		return sign{state, "✓", "ok"}
	case "failed", "timedout", "lost", "cancelled":
		return sign{state, "✗", "failed"}
	case "left":
		return sign{"left running", "–", "skipped"}
	}
	return sign{state, "●", "running"}
}

// runJobs is the page of the jobs that a run started.
func (s runPages) runJobs(t *runcache.CachedRun, w http.ResponseWriter, r *http.Request) error {
	var b struct {
		Head  runHead `json:"head"`
		Rows  []jobAt `json:"jobs"`
		Pager pager   `json:"-"`
		Empty empty   `json:"-"`
	}
	base := runPath(t.Entry.Head.Run)
	b.Head, b.Empty = s.head(t, "Jobs"),
		empty{Big: "This run has started no jobs",
			Small: "Tasks with async are shown here, with what came of them as far as the run was told."}
	all, total := t.Model.Jobs(from(r), jobsPage)
	over := t.At().Over
	for _, j := range all {
		state := j.State
		if over && state == runmodel.JobRunning {
			state = "left" // the run does not know its end
		}
		b.Rows = append(b.Rows, jobAt{
			ID: j.ID, Host: j.Host, Path: base + "/hosts/" + url.PathEscape(j.Host),
			Task: &link{j.Title, fmt.Sprintf("%s#t%d", base, j.Task)}, State: jobSign(state), Began: j.Began, Ended: j.Ended,
		})
	}
	b.Pager = paged(r.URL, from(r), jobsPage, total, "jobs")
	p := page{Title: "Jobs · " + b.Head.What, Nav: "Runs", Body: b}
	if !over {
		p.Refresh = 5
	}
	return s.show(w, r, "runjobs", p)
}
