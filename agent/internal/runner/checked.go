package runner

import (
	"fmt"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
)

// In check mode jobs run inline. They have ids all the same, by which async_status finds what became of them: a play that starts jobs and
// looks after them later can be checked as a whole.

// checkedID begins the ids of jobs that check mode has run inline. No job has such a one.
const checkedID = "jcheck."

// noteChecked completes the result of such a job and keeps it for this play.
func (x *execution) noteChecked(res *result.Result) {
	if !x.f.check || x.f.async <= 0 {
		return
	}
	r := x.e.r
	id := fmt.Sprint(checkedID, len(r.checked))
	res.Set("started", value.Int(1))
	res.Set("finished", value.Int(1))
	res.Set("ansible_job_id", value.UnsafeStr(id))
	r.checked = append(r.checked, res.Copy())
}

// checkedStatus is what async_status says of such a job; nil for all other calls. That of an earlier play is skipped.
func (x *execution) checkedStatus(mod *modules.Module, args *value.Dict) *result.Result {
	id := modules.Str(modules.Argument(args, "jid"))
	if !mod.Has(modules.AsksForJobs) || !strings.HasPrefix(id, checkedID) {
		return nil
	}
	for _, res := range x.e.r.checked {
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
