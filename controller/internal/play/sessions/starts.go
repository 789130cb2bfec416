package sessions

import (
	"context"
	"encoding/json"
	"time"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// Starts tells the hosts of a batch what to begin with: all there is if a session is in this process, else the host's handout. It is safe for concurrent use.
type Starts struct {
	// Base is what all sessions begin with. ResumeAt, if there is one, holds the step at which each host begins.
	Base     wire.Start
	ResumeAt map[string]plan.ID
	// Body is the plan, Digest its name.
	Digest string
	Body   []byte
	// Handouts cut plan and variables for agents; nil hands all out.
	Handouts Handouts
	// Vars are a host's own variables.
	Vars func(host string) wire.HostVars
	// Here tells that a host is this process, Named that it is said how it is reached.
	Here, Named func(host string) bool
	// MayRestart tells whether the plan may restart its hosts; nil: it does not.
	MayRestart func() bool
	// NoAgents, Reach and Ways are those of the run.
	NoAgents    bool
	Reach, Ways []string
}

// Handouts are what agents are given of the plan: handout.Handouts.
type Handouts interface {
	// Make cuts plan and variables for the agent of a host. Forget is for a host whose session begins in this process.
	Make(ctx context.Context, host string) (digest string, body []byte, vars wire.HostVars, err error)
	Forget(host string)
}

// inlinePlan is up to which size in bytes a plan travels in the message that starts it.
const inlinePlan = 16 << 10

// At is the step at which a host begins, "" for the first.
func (s *Starts) At(host string) plan.ID {
	if at, ok := s.ResumeAt[host]; ok {
		return at
	}
	return s.Base.Resume
}

// Of is what the session of a host begins with, without plan and variables.
func (s *Starts) Of(host string) wire.Start {
	start := s.Base
	start.Host, start.Resume = host, s.At(host)
	return start
}

// OfDesk is what a session begins with in which the controller does steps for a host that has an agent.
func (s *Starts) OfDesk(host string) wire.Start {
	start := s.Of(host)
	start.Remote, start.Reach, start.Ways, start.Resident = true, s.Reach, s.Ways, true
	return start
}

// For is all that a host is told.
func (s *Starts) For(ctx context.Context, w Want) (wire.Start, error) {
	start, body := s.Of(w.Host), s.Body
	start.Absent, start.Digest, start.Go = w.Absent, s.Digest, w.Go
	local := s.Handouts != nil && s.Here(w.Host)
	start.Remote = s.MayRestart != nil && s.MayRestart() && !local
	if s.NoAgents || len(s.Reach) > 0 && (w.Stranger || s.Named(w.Host)) {
		start.Remote = true
	}
	if start.Remote {
		start.Reach, start.Ways, start.Resident = s.Reach, s.Ways, !s.NoAgents && !w.Stranger
	}
	if s.Handouts != nil {
		s.Handouts.Forget(w.Host)
	}
	if s.Handouts == nil || local || start.Remote || w.Absent != "" {
		start.Vars = s.Vars(w.Host)
	} else {
		digest, cut, vars, err := s.Handouts.Make(ctx, w.Host)
		if err != nil {
			return start, err
		}
		start.Vars, start.Digest, body = vars, digest, cut
	}
	if len(body) <= inlinePlan {
		start.Plan = json.RawMessage(body)
	}
	return start, nil
}

// mostFresh is the largest Fresh.
const mostFresh = 30 * time.Second

// Fresh is how old the controller's last answer to a session may be when something begins on its host (wire.Start), 0 for as much as is usual: with many
// hosts a step takes all of them longer than that, and those who come first would have to ask anew before the next one.
func Fresh(hosts int) time.Duration {
	if fresh := time.Duration(hosts) * 2 * time.Millisecond; fresh > wire.Fresh {
		return min(fresh, mostFresh)
	}
	return 0
}

// Window is how many bytes of events an agent has on their way at a time: less with many hosts, since they all answer at once.
func Window(hosts int) int {
	return max(2<<10, min(256<<10, 64<<20/max(1, hosts)))
}
