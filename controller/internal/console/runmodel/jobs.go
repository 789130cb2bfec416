package runmodel

import (
	"time"

	"hark/controller/internal/ui/view"
	"hark/modules/result"
)

// The states of jobs as a run knows them.
const (
	JobRunning  = "running"
	JobFinished = "finished"
	JobFailed   = "failed"
)

// Job is a background job that a task started.
type Job struct {
	ID, Host string
	Task     int // that started it
	Title    string
	State    string
	Began    time.Time
	Ended    time.Time // zero if the run does not know its end
}

// mostJobs is how many jobs of a run are kept.
const mostJobs = 20_000

// jobKey identifies a job: ids are unique on their host.
type jobKey struct{ host, id string }

// Progress implements view.View.
func (r *Run) Progress(res view.Result) { r.await(res) }

// AsyncDone implements view.View.
func (r *Run) AsyncDone(res view.Result) { r.await(res) }

func (r *Run) await(res view.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.job(res)
}

// job records what a result says of a job. It assumes mu held.
func (r *Run) job(res view.Result) {
	if res.Outcome == nil || !result.Raw(res.Outcome.Result).Has("ansible_job_id") {
		return
	}
	said := res.Outcome.Said()
	id := said.Job()
	if id == "" {
		return
	}
	x := r.task(res.Task)
	line, at := r.At()
	key := jobKey{res.Host, id}
	n, known := r.jobAt[key]
	if !known {
		if len(r.jobs) == mostJobs {
			return
		}
		n = len(r.jobs)
		r.jobAt[key] = n
		r.jobs = append(r.jobs, Job{ID: id, Host: res.Host, Task: x.N, Title: x.Title, State: JobRunning, Began: at})
	}
	r.line = line
	if r.jobs[n].Ended.IsZero() && said.True("finished") {
		r.jobs[n].Ended, r.jobs[n].State = at, JobFinished
		if said.Failed() {
			r.jobs[n].State = JobFailed
		}
	}
}

// Jobs returns the jobs that the run started from number from on, at most most, and how many there are.
func (r *Run) Jobs(from, most int) ([]Job, int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	from = min(from, len(r.jobs))
	return append([]Job(nil), r.jobs[from:min(from+most, len(r.jobs))]...), len(r.jobs)
}
