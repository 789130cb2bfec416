package runner

import (
	"fmt"
	"strings"

	"hark/modules/py/value"
	"hark/modules/result"
)

// checkedJobs are the results of jobs that check mode has run inline. They have ids like other jobs, by which
// async_status finds them, so a play that starts jobs and looks after them later can be checked as a whole.
type checkedJobs struct {
	results []*result.Result
}

// checkedID begins their ids. No other job's id begins so.
const checkedID = "jcheck."

// note completes the result of such a job and keeps it for this play.
func (c *checkedJobs) note(res *result.Result) {
	id := fmt.Sprint(checkedID, len(c.results))
	res.Set("started", value.Int(1))
	res.Set("finished", value.Int(1))
	res.Set("ansible_job_id", value.UnsafeStr(id))
	c.results = append(c.results, res.Copy())
}

// status returns what async_status says of such a job, nil for all others. A job of an earlier play is skipped.
func (c *checkedJobs) status(id string) *result.Result {
	if !strings.HasPrefix(id, checkedID) {
		return nil
	}
	for _, res := range c.results {
		if res.Job() == id {
			return res.Copy()
		}
	}
	res := result.New()
	res.Set("ansible_job_id", value.UnsafeStr(id))
	res.Set("started", value.Int(1))
	res.Set("finished", value.Int(1))
	res.Set("skipped", value.Bool(true))
	res.Set("msg", value.Str("the job was run in check mode by an earlier play"))
	return res
}
