package agent

import (
	"context"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// longestName is how many bytes of the name of a play or task the audit log keeps.
const longestName = 200

// auditLog writes to the host's own log which operator ran what here, as which user, and how it ended. There is a
// line for the beginning and the end of a play, and one for each task or delegated call that changed something or
// failed here. It logs neither arguments nor results. Of a no_log task it logs only that it ran.
type auditLog struct {
	log zerolog.Logger

	mu     sync.Mutex
	kept   string              // name of the current task, as the log shows it; guarded by mu
	ran    ran                 // what the current task has run; guarded by mu
	counts map[wire.Status]int // of tasks; guarded by mu
}

// ran is what the calls of a task did, according to their modules: changed_when does not hide a change.
type ran struct {
	module, user, job      string // of the last call
	begun, ended           int
	changed, failed, noLog bool
}

// newAuditLog returns the log of an operator's plays for a host of a run.
func newAuditLog(l *controllerLink, play string) *auditLog {
	log := l.agent.cfg.Logger
	if l.agent.cfg.Controller { // its user sees the run, and it is recorded
		log = zerolog.Nop()
	}
	log = log.With().Str("run", l.run).Str("operator", l.issuer).Str("host", l.host).Str("play", play).Logger()
	return &auditLog{log: log, counts: map[wire.Status]int{}}
}

// changes reports whether a call may change the host.
func changes(inv runner.Invocation) bool { return !inv.Call.Check && !inv.Module.Facts }

// watch returns a config that reports all calls here to the log.
func (t *auditLog) watch(c runner.Config) runner.Config {
	call, start := c.Call, c.Jobs.Start
	c.Call = func(ctx context.Context, inv runner.Invocation) modules.Result {
		if !changes(inv) {
			return call(ctx, inv)
		}
		t.begin(inv)
		r := call(ctx, inv)
		t.end(r.Changed, r.Failed, "")
		return r
	}
	if start != nil {
		c.Jobs.Start = func(ctx context.Context, inv runner.Invocation) (*value.Dict, error) {
			t.begin(inv)
			status, err := start(ctx, inv)
			failed := err != nil || status.True("failed")
			t.end(!failed, failed, status.Text("ansible_job_id"))
			return status, err
		}
	}
	return c
}

func (t *auditLog) begin(inv runner.Invocation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ran.begun++
	t.ran.module, t.ran.user = inv.Module.Name, userName(inv.Call.User.User)
	if inv.Module.Foreign {
		t.ran.module = inv.Call.Name // what it stands for
	}
	t.ran.noLog = t.ran.noLog || inv.Call.NoLog
}

func (t *auditLog) end(changed, failed bool, job string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ran.ended++
	t.ran.changed, t.ran.failed = t.ran.changed || changed, t.ran.failed || failed
	if job != "" {
		t.ran.job = job
	}
}

// playing logs that a play begins.
func (t *auditLog) playing(p *plan.Play) {
	t.log.Info().Str("name", short(p.Name)).Bool("check", p.Check).Msg("play began")
}

// take logs an event that ends a task or the play.
func (t *auditLog) take(e wire.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.Kind == wire.Started:
		t.kept = e.Kept
	case e.Kind == wire.Done && e.Outcome != nil && !e.Adopted:
		t.counts[e.Outcome.Status]++
		r, name := t.ran, short(t.kept)
		t.ran, t.kept = ran{}, ""
		r.noLog = r.noLog || e.Outcome.NoLog
		switch s := e.Outcome.Status; {
		case r.begun == 0:
		case s == wire.StatusFailed || s == wire.StatusUnreachable:
			t.tell("task", r, e.Step, name, string(s))
		case s == wire.Changed || r.changed:
			t.tell("task", r, e.Step, name, string(wire.Changed))
		}
	case e.Kind == wire.Ended:
		end := t.log.Info().Str("state", string(e.State))
		for _, s := range []wire.Status{wire.OK, wire.Changed, wire.StatusFailed, wire.StatusUnreachable, wire.Skipped} {
			end.Int(string(s), t.counts[s])
		}
		end.Msg("play ended")
	}
}

// called logs the result of a delegated call.
func (t *auditLog) called(step plan.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch r := t.ran; {
	case r.failed:
		t.tell("call", r, step, "", string(wire.StatusFailed))
	case r.changed:
		t.tell("call", r, step, "", string(wire.Changed))
	case r.ended < r.begun:
		t.tell("call", r, step, "", "unknown") // it was left behind
	}
}

// tell writes the line of a task or call. It assumes mu held.
func (t *auditLog) tell(what string, r ran, step plan.ID, name, outcome string) {
	e := t.log.Info().Str("step", string(step))
	if r.noLog {
		e.Bool("no_log", true).Msg(what + " ran")
		return
	}
	if name != "" {
		e.Str("name", name)
	}
	if r.job != "" {
		e.Str("job", r.job)
	}
	e.Str("module", r.module).Str("user", r.user).Str("outcome", outcome).Msg(what + " " + outcome)
}

func short(name string) string {
	if len(name) > longestName {
		return strings.ToValidUTF8(name[:longestName], "") + "..."
	}
	return name
}
