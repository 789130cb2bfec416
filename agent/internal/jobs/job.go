package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"hark/agent/atomicfile"
	"hark/modules/py/value"
)

// adopt takes a job over from its directory. It returns nil if there is none.
func (s *Supervisor) adopt(id string) *job {
	j := &job{dir: filepath.Join(s.dir, id), over: make(chan struct{})}
	rec, err := readRecord(j.dir)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		rec = record{ID: id, State: Lost, Why: err.Error(), Ended: time.Now()} // it is left as it is
	}
	if rec.Why == jobText && rec.Boot != bootID() {
		rec.Why = restartedText
	}
	j.rec = rec
	s.mu.Lock()
	if other := s.jobs[id]; other != nil {
		s.mu.Unlock()
		return other
	}
	s.jobs[id] = j
	s.mu.Unlock()
	switch {
	case rec.State.Terminal():
		close(j.over)
	case !held(j.dir):
		j.reap()
	default:
		go j.watch() // as long as the job lives: it may outlive this process
	}
	return j
}

// watch waits for the end of a process that is not our child.
func (j *job) watch() {
	rec := j.record()
	guard := j.guard()
	awaitEnd(rec.Pid, rec.Ticks)
	j.reap()
	guard.Stop()
}

// overtime is how much longer than its limit or a cancellation a job's process may take to end by itself.
const overtime = grace + resistance + patience + resistance + 3*time.Second

// guard ends the job if its process does not keep the limit: it was stopped, or hangs.
func (j *job) guard() *time.Timer {
	rec := j.record()
	if rec.Limit <= 0 {
		return time.NewTimer(0)
	}
	return time.AfterFunc(rec.Limit-rec.age()+overtime, j.kill)
}

// cancel asks the job's process to end what it runs; the process writes the state itself.
func (j *job) cancel() {
	rec := j.record()
	if rec.State.Terminal() || atomicfile.WriteLoose(filepath.Join(j.dir, cancelFile), nil) != nil {
		return
	}
	if current, err := readRecord(j.dir); err == nil && current.Pid > 0 {
		rec = current
	}
	if rec.Pid > 0 && ticksOf(rec.Pid) == rec.Ticks {
		_ = syscall.Kill(rec.Pid, syscall.SIGTERM)
	}
	late := time.AfterFunc(overtime, j.kill)
	go func() {
		<-j.over
		late.Stop()
	}()
}

// kill kills the job's process; reap ends what it leaves.
func (j *job) kill() {
	if rec := j.record(); rec.Pid > 0 && ticksOf(rec.Pid) == rec.Ticks {
		_ = syscall.Kill(rec.Pid, syscall.SIGKILL)
	}
}

// reap waits for the end of a job's process and reads what it leaves. If the process ended without writing a final
// state, reap ends what lives of the job and records why.
func (j *job) reap() {
	release := inherit(j.dir)
	defer release()
	rec, err := readRecord(j.dir)
	if err != nil {
		rec = j.record()
	}
	if !rec.State.Terminal() {
		end(func() []stat { return append(members(rec.Group), marked(rec.ID)...) }, rec.Group, 0)
		rec.State, rec.Why = j.verdict(rec)
		rec.Ended = time.Now()
		if _, err := os.Stat(j.dir); err == nil {
			_ = rec.seal(j.dir) // if it cannot be written, the next supervisor finds it lost again
		}
	}
	dissolve(rec.Group)
	unprovide(j.dir)
	j.mu.Lock()
	j.rec = rec
	j.mu.Unlock()
	close(j.over)
}

// verdict returns the state of a job whose process ended without a final state, and why.
func (j *job) verdict(rec record) (State, string) {
	switch {
	case rec.Boot != bootID():
		return Lost, restartedText
	case cancelled(j.dir):
		return Cancelled, cancelledText
	case rec.overdue():
		return TimedOut, timedOutText
	}
	return Lost, "the job was lost: its process went away without a result"
}

const (
	timedOutText  = "Timeout exceeded"
	cancelledText = "the job was cancelled"
	restartedText = "the job was lost: the host was restarted while it ran"
	jobText       = "the job was lost: it was told to end from outside, as when the host shuts down"
)

// collect notes that the waiting task has received the result.
func (j *job) collect() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rec.Collected, j.result = true, nil
	_ = j.rec.write(j.dir)   // else it is kept for longer than needed
	_ = removeResults(j.rec) // the same
}

func (j *job) record() record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rec
}

// answer returns what async_status returns. A job that reached its limit counts as ended only if ended says so: a task
// that waits for it words that itself.
func (j *job) answer(ended bool) *value.Dict {
	rec := j.record()
	finished := rec.State.Terminal() && ended
	out := value.DictOf("started", int64(1), "finished", int64(0), "ansible_job_id", rec.ID, "results_file", rec.Results)
	if finished {
		out.Put("finished", int64(1))
		result := j.outcome(rec)
		for i := range result.Len() {
			k, v := result.Kept(i)
			if name, _ := value.Text(k); !out.Has(name) { // those are the agent's
				out.SetKey(k, v)
			}
		}
	}
	return out
}

// outcome returns the result of a job that has ended.
func (j *job) outcome(rec record) *value.Dict {
	j.mu.Lock()
	raw := j.result
	j.mu.Unlock()
	out := value.NewDict()
	var err error
	if raw == nil {
		raw, err = os.ReadFile(filepath.Join(j.dir, resultFile))
	}
	if err == nil {
		out = decode(raw)
	} else if rec.Stripped {
		out.Put("failed", rec.State == Failed)
		out.Put("msg", fmt.Sprintf("the result of the job is gone: the oldest are dropped when all take more than %d MB",
			retainedBytes>>20))
	} else if rec.State == Finished || rec.State == Failed {
		out = unreadable(err)
	}
	if rec.State != Finished && rec.State != Failed {
		out.Put("failed", true)
		out.Put(string(rec.State), true)
		if rec.Why != "" {
			out.Put("msg", rec.Why)
		}
	}
	return out
}

func decode(raw []byte) *value.Dict {
	v, err := value.ParseJSON(strings.ToValidUTF8(string(raw), "\ufffd"), value.KindUnsafe)
	out, ok := v.(*value.Dict)
	if err == nil && !ok {
		err = errors.New("it is no object")
	}
	if err != nil {
		return unreadable(err)
	}
	return out
}

func unreadable(err error) *value.Dict {
	return value.DictOf("failed", true, "msg", "the result of the job cannot be read: "+err.Error())
}

// all returns the jobs, the oldest first.
func (s *Supervisor) all() []*job {
	s.mu.Lock()
	all := make([]*job, 0, len(s.jobs))
	for _, j := range s.jobs {
		all = append(all, j)
	}
	s.mu.Unlock()
	sort.Slice(all, func(i, k int) bool { return all[i].record().Began.Before(all[k].record().Began) })
	return all
}
