package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"
)

// Query is what `hark jobs` asks an agent.
type Query struct {
	// Op is list, show, tail, wait or cancel.
	Op string `json:"op"`
	// Pattern selects jobs by id, module, task or run, with * and ?; "" is all. Live leaves out those that have ended.
	Pattern string `json:"pattern,omitempty"`
	Live    bool   `json:"live,omitempty"`
	// ID is the job of show, tail, wait and cancel.
	ID string `json:"id,omitempty"`
	// Offsets are where tail begins in stdout and stderr; negative counts from the end.
	Offsets [2]int64 `json:"offsets,omitzero"`
	// Patience is how long wait waits for the end, and tail for something new.
	Patience time.Duration `json:"patience,omitempty"`
}

// Reply is the answer.
type Reply struct {
	Jobs []Info `json:"jobs,omitempty"`
	// Err says why there is none.
	Err string `json:"err,omitempty"`
	// Result is the job's, with show, wait and cancel, once it has ended.
	Result map[string]any `json:"result,omitempty"`
	// Output is what tail found in stdout and stderr; Offsets are where it ends.
	Output  [2][]byte `json:"output,omitzero"`
	Offsets [2]int64  `json:"offsets,omitzero"`
}

// Info is a job as lists show it.
type Info struct {
	ID     string        `json:"id"`
	Module string        `json:"module"`
	Task   string        `json:"task,omitempty"`
	Run    string        `json:"run,omitempty"`
	Host   string        `json:"host,omitempty"`
	User   string        `json:"user,omitempty"`
	State  State         `json:"state"`
	Why    string        `json:"why,omitempty"`
	Began  time.Time     `json:"began"`
	Ended  time.Time     `json:"ended,omitzero"`
	Limit  time.Duration `json:"limit,omitempty"`
	Pid    int           `json:"pid,omitempty"`
	Dir    string        `json:"dir,omitempty"`
	NoLog  bool          `json:"no_log,omitempty"`
}

func (j *job) info() Info {
	r := j.record()
	i := Info{
		ID: r.ID, Module: r.Module, Task: r.Task, Run: r.Run, Host: r.Host, User: r.User, State: r.State, Why: r.Why, Began: r.Began,
		Ended: r.Ended, Limit: r.Limit, Dir: j.dir, NoLog: r.NoLog,
	}
	if !r.State.Terminal() {
		i.Pid = r.Pid
	}
	return i
}

// List are all jobs, the oldest first.
func (s *Supervisor) List() []Info {
	var infos []Info
	for _, j := range s.all() {
		infos = append(infos, j.info())
	}
	return infos
}

// Manage answers a Query; args and answer are those as plain data.
func (s *Supervisor) Manage(ctx context.Context, args map[string]any) (map[string]any, error) {
	var q Query
	if err := convert(args, &q); err != nil {
		return nil, fmt.Errorf("cannot read the question about jobs: %w", err)
	}
	out := map[string]any{}
	return out, convert(s.reply(ctx, q), &out)
}

func convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}

func (s *Supervisor) reply(ctx context.Context, q Query) Reply {
	if q.Op == "list" {
		return Reply{Jobs: s.matching(q)}
	}
	j := s.job(q.ID)
	if j == nil {
		return Reply{Err: "could not find job " + q.ID}
	}
	var out Reply
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
		return Reply{Err: fmt.Sprintf("this agent knows nothing of %q", q.Op)}
	}
	info := j.info()
	out.Jobs = []Info{info}
	if info.State.Terminal() && q.Op != "tail" {
		if out.Result = j.outcome(j.record()); info.NoLog {
			out.Result = map[string]any{"censored": "the output has been hidden due to the fact that 'no_log: true' was specified for this result"}
		}
	}
	return out
}

func (s *Supervisor) matching(q Query) []Info {
	var found []Info
	for _, i := range s.List() {
		if (!q.Live || !i.State.Terminal()) && i.matches(q.Pattern) {
			found = append(found, i)
		}
	}
	return found
}

func (i Info) matches(pattern string) bool {
	if pattern == "" {
		return true
	}
	for _, text := range []string{i.ID, i.Module, i.Task, i.Run, string(i.State)} {
		if ok, _ := path.Match(pattern, text); ok || text == pattern {
			return true
		}
	}
	return false
}

// await waits for the end of a job, but not for longer than patience.
func (j *job) await(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-j.over:
	case <-ctx.Done():
	}
}

// tailPiece is how much of a stream one answer holds, tailEvery how often is looked for more.
const (
	tailPiece = 256 << 10
	tailEvery = 100 * time.Millisecond
)

// tail reads what a job has printed; if there is nothing it waits for it, as long as the job runs.
func (s *Supervisor) tail(ctx context.Context, j *job, q Query, out *Reply) {
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
			ended = true // there may be last words
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
