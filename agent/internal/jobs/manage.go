package jobs

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/modules/result"
)

func (j *job) info() wire.Job {
	r := j.record()
	i := wire.Job{
		ID: r.ID, Module: r.Module, Task: r.Task, Run: r.Run, Host: r.Host, User: r.User, State: string(r.State),
		Over: r.State.Terminal(), Why: r.Why, Began: r.Began,
		Ended: r.Ended, Limit: r.Limit, Dir: j.dir, NoLog: r.NoLog,
	}
	if !r.State.Terminal() {
		i.Pid = r.Pid
	}
	return i
}

// List returns all jobs, the oldest first.
func (s *Supervisor) List() []wire.Job {
	var infos []wire.Job
	for _, j := range s.all() {
		infos = append(infos, j.info())
	}
	return infos
}

// Afoot returns the jobs that have not ended, the oldest first.
func (s *Supervisor) Afoot() []wire.Job { return s.matching(wire.JobsQuery{Live: true}) }

// Manage answers `hark jobs`. The reply says what it cannot answer.
func (s *Supervisor) Manage(ctx context.Context, q wire.JobsQuery) (wire.JobsReply, error) {
	return s.reply(ctx, q), nil
}

func (s *Supervisor) reply(ctx context.Context, q wire.JobsQuery) wire.JobsReply {
	if q.Op == "list" {
		return wire.JobsReply{Jobs: s.matching(q)}
	}
	j := s.job(q.ID)
	if j == nil {
		return wire.JobsReply{Err: "could not find job " + q.ID}
	}
	var out wire.JobsReply
	switch q.Op {
	case "show":
	case "tail":
		s.tail(ctx, j, q, &out)
	case "wait":
		j.await(ctx, q.Patience)
	case "cancel":
		j.cancel()
		j.await(ctx, overtime+grace)
	default:
		return wire.JobsReply{Err: fmt.Sprintf("this agent knows nothing of %q", q.Op)}
	}
	info := j.info()
	out.Jobs = []wire.Job{info}
	if info.Over && q.Op != "tail" {
		said, _ := value.ToGo(shown(j.outcome(j.record()))) // it came from JSON
		if out.Result, _ = said.(map[string]any); info.NoLog {
			out.Result = map[string]any{"censored": result.Hidden}
		}
	}
	return out
}

// shown returns a result without the secrets that it names.
func shown(res *value.Dict) value.Value {
	r := result.Of(res)
	var secret mask.Masker
	secret.Add(r.Secrets...)
	return secret.Value(r.Dict)
}

func (s *Supervisor) matching(q wire.JobsQuery) []wire.Job {
	var found []wire.Job
	for _, i := range s.List() {
		if (!q.Live || !i.Over) && matches(i, q.Pattern) {
			found = append(found, i)
		}
	}
	return found
}

func matches(i wire.Job, pattern string) bool {
	if pattern == "" {
		return true
	}
	short := i.Module[strings.LastIndex(i.Module, ".")+1:]
	for _, text := range []string{i.ID, i.Module, short, i.Task, i.Run, i.State} {
		if ok, _ := path.Match(pattern, text); ok || text == pattern {
			return true
		}
	}
	return false
}

// await waits for the end of a job, but no longer than patience.
func (j *job) await(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-j.over:
	case <-ctx.Done():
	}
}

// tailPiece is how many bytes of a stream one answer holds at most, tailEvery how often tail looks for more.
const (
	tailPiece = 256 << 10
	tailEvery = 100 * time.Millisecond
)

// tail reads what a job has printed. If there is nothing it waits, as long as the job runs.
func (s *Supervisor) tail(ctx context.Context, j *job, q wire.JobsQuery, out *wire.JobsReply) {
	ctx, cancel := context.WithTimeout(ctx, q.Patience)
	defer cancel()
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for ended := false; ; {
		for i, stderr := range []bool{false, true} {
			text, from := readOutput(j.dir, streamName(stderr), q.Offsets[i], tailPiece)
			out.Output[i], out.Offsets[i] = text, from+int64(len(text))
		}
		if len(out.Output[0])+len(out.Output[1]) > 0 || ended {
			return
		}
		select {
		case <-j.over:
			ended = true // there may be more output
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
