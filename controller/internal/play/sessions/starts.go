package sessions

import (
	"context"
	"encoding/json"
	"time"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// Starts returns what the hosts of a batch begin with: all there is if a session is in this process, else the host's
// handout. It is safe for concurrent use.
type Starts struct {
	// Base is what all sessions begin with. ResumeAt, if there is one, holds the step at which each host begins.
	Base     wire.Start
	ResumeAt map[string]plan.ID
	// Notified are the handlers that hosts had notified before that.
	Notified map[string][]string
	// Whole is the plan and its digest, for sessions that get all of it.
	Whole func() (digest string, body []byte, err error)
	// Tasks cut plan and variables for agents; nil hands all out.
	Tasks Tasks
	// Vars are a host's own variables.
	Vars func(host string) wire.HostVars
	// Here reports whether a host is this process, Named that it is said how it is reached.
	Here, Named func(host string) bool
	// MayRestart reports whether the plan may restart its hosts; nil: it does not.
	MayRestart func() bool
	// NoAgents, Reach and Ways are those of the run.
	NoAgents    bool
	Reach, Ways []string
	// Login is the one way to reach a host in the whole play, nil if there may be others; Settle has a
	// session be possible there (link.Link).
	Login  func(host string) *wire.Login
	Settle func(ctx context.Context, host string, login *wire.Login) bool
}

// Tasks are what agents are given of the plan: handout.Tasks.
type Tasks interface {
	// Make cuts plan and variables for the agent of a host. Forget is for a host whose session begins in this process.
	Make(ctx context.Context, host string) (digest string, body []byte, vars wire.HostVars, err error)
	Forget(host string)
}

// inlinePlan is up to which size in bytes a plan may travel in the message that starts it, which it does if it is
// small enough when packed (wire.SharedPlans).
const inlinePlan = 256 << 10

// At returns the step at which a host begins, "" for the first.
func (s *Starts) At(host string) plan.ID {
	if at, ok := s.ResumeAt[host]; ok {
		return at
	}
	return s.Base.Resume
}

// Of returns what the session of a host begins with, without plan and variables.
func (s *Starts) Of(host string) wire.Start {
	start := s.Base
	start.Host, start.Resume = host, s.At(host)
	if start.Resume != "" {
		start.Notified = s.Notified[host]
	}
	return start
}

// OfExecutor returns what a session begins with in which the controller does steps for a host that has an agent.
func (s *Starts) OfExecutor(host string) wire.Start {
	start := s.Of(host)
	start.Remote, start.Reach, start.Ways, start.Resident = true, s.Reach, s.Ways, true
	return start
}

// For returns all that a host begins with.
func (s *Starts) For(ctx context.Context, w Want) (wire.Start, error) {
	start := s.Of(w.Host)
	start.Absent, start.Go = w.Absent, w.Go
	local := s.Tasks != nil && s.Here(w.Host)
	start.Remote = s.MayRestart != nil && s.MayRestart() && !local
	if s.NoAgents || len(s.Reach) > 0 && (w.Stranger || s.Named(w.Host)) {
		if !start.Remote && !local && w.Absent == "" {
			start.Login = s.settled(ctx, w.Host)
		}
		start.Remote = start.Login == nil
	}
	if start.Remote {
		start.Reach, start.Ways, start.Resident = s.Reach, s.Ways, !s.NoAgents && !w.Stranger
	}
	if s.Tasks != nil {
		s.Tasks.Forget(w.Host)
	}
	var body []byte
	var err error
	if s.Tasks == nil || local || start.Remote || w.Absent != "" {
		start.Vars = s.Vars(w.Host)
		start.Digest, body, err = s.Whole()
	} else {
		start.Digest, body, start.Vars, err = s.Tasks.Make(ctx, w.Host)
	}
	if err != nil {
		return start, err
	}
	if len(body) <= inlinePlan {
		start.Plan = json.RawMessage(body)
	}
	return start, nil
}

// settled returns the login that brought in an agent for a session on the host, nil if there is none.
func (s *Starts) settled(ctx context.Context, host string) *wire.Login {
	if s.Login == nil || s.Tasks == nil {
		return nil
	}
	login := s.Login(host)
	if login == nil || !s.Settle(ctx, host, login) {
		return nil
	}
	return login
}

// mostFresh is the largest Fresh.
const mostFresh = 30 * time.Second

// Fresh returns how old the controller's last answer to a session may be when something begins on its host
// (wire.Start), 0 for as much as is usual: with many hosts a step takes all of them longer than that, and those who
// come first would have to ask anew before the next one.
func Fresh(hosts int) time.Duration {
	if fresh := time.Duration(hosts) * 2 * time.Millisecond; fresh > wire.Fresh {
		return min(fresh, mostFresh)
	}
	return 0
}

// Window returns how many bytes of events an agent has on their way at a time: less with many hosts, since they all
// answer at once.
func Window(hosts int) int {
	return max(2<<10, min(256<<10, 64<<20/max(1, hosts)))
}
