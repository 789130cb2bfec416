package progress

import (
	"fmt"

	"hark/agent/wire"
	"hark/controller/internal/play/steps"
	"hark/playbook/plan"
)

// Fault is what is wrong with an agent's events.
type Fault struct {
	// At is the step at which that is shown, "" for the current one.
	At plan.ID
	// Doubt is why the agent is not believed. Where it is "" the agent has left its host unreachable, for the reason
	// Lost.
	Doubt, Lost string
}

// Judge compares an agent's events with those that it should have sent before; nil means that nothing is wrong. doing
// says that its host is amid a step.
func (c *Tracker) Judge(e wire.Event, doing bool) *Fault {
	switch e.Kind {
	case wire.Warning, wire.Notified, wire.Output:
		return nil
	case wire.Ended:
		return c.mayEnd(e, doing)
	case wire.AtGate:
		return c.Comes(e.Host, e.Next)
	}
	return c.Comes(e.Host, e.Step)
}

// Comes returns what is wrong if a host comes to a step, or with "" to the end, after the events that it has sent.
func (c *Tracker) Comes(host string, to plan.ID) *Fault {
	missed := c.Missed(host, to)
	if missed == nil {
		return nil
	}
	return &Fault{At: missed.ID, Doubt: "it leaves out task [" + c.steps.Label(missed) + "]"}
}

// mayEnd returns what is wrong with leaving the play where a host does.
func (c *Tracker) mayEnd(e wire.Event, doing bool) *Fault {
	if c.Out(e.Host) || e.State == wire.Failed && e.Text != "" { // it is known why, or sent with the end
		return nil
	}
	var f Fault
	if next := c.Missed(e.Host, ""); next != nil && !doing {
		f.At = next.ID
	}
	switch e.State {
	case wire.Unreachable:
		f.Lost = "the agent of " + e.Host + " has left the play"
		if e.Text != "" {
			f.Lost += ": " + e.Text
		}
	case wire.Failed:
		f.Doubt = "it says that it has failed, and not at what"
	default:
		return c.Comes(e.Host, "")
	}
	return &f
}

// Admit takes of an agent's event what it may say: how its own host fared at a step that the host evaluates. What
// follows for others the controller concludes itself. handed says that the host has handed the step over. doubt is
// what an agent cannot know, "" for nothing.
func Admit(e *wire.Event, s *plan.Step, handed bool) (doubt string) {
	switch e.Kind {
	case wire.AtGate, wire.Ended, wire.Warning:
		e.Outcome = nil
		return ""
	}
	if s == nil || e.Kind == wire.Done && e.Outcome == nil {
		return fmt.Sprintf("it tells of step %q, which its plan does not have", e.Step)
	}
	if o := e.Outcome; o != nil {
		o.FailAll, o.Included, o.Shown, o.Delegated = false, nil, false, ""
		if s.Kind != plan.Meta || o.Meta != steps.RawText(s, "_raw_params") {
			o.Meta = ""
		}
		if e.Adopted {
			o.Effects, o.Notify = nil, nil
		}
	}
	if e.Kind == wire.Notified {
		return ""
	}
	mine := s.Evaluator == plan.Controller || handed
	skipped := s.Guard && e.Kind == wire.Done && e.Outcome.Status == wire.Skipped
	lost := e.Kind == wire.Done && e.Outcome.Status == wire.StatusUnreachable // its agent was restarted
	cancelled := e.Kind == wire.Done && e.Outcome.Cancelled
	if mine && !e.Adopted && !skipped && !lost && !cancelled {
		return fmt.Sprintf("it tells of step %s, which the controller does", e.Step)
	}
	return ""
}
