package runner

import (
	"slices"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// frame is a block around the current step and the section that runs.
type frame struct {
	block   *plan.Block
	section plan.Section
	// failed says that the body failed and no rescue has succeeded since. A meta clear_host_errors forgets it.
	failed bool
	// rescued says that the rescue section was begun.
	rescued bool
	// byHandler: a handler of a flush has failed, and no rescue that came to its end has mended that.
	byHandler bool
}

// position is where a walk stands.
type position struct {
	// frames are the blocks around the current step, outermost first.
	frames []frame
	// flushing is the flush whose handlers run now, "" outside; within is how many frames stand around it.
	flushing plan.ID
	within   int
	// failsAsTask: a handler that fails is a failure of its flush, like that of any task (dialect.FlushFailures).
	failsAsTask bool
	// last are the frames around the step that was done last, as they were then. It is nil behind a step that failed,
	// and where the place of a flush does not count.
	last []frame
}

// enter enters a block and returns its depth; leave leaves the innermost one.
func (p *position) enter(b *plan.Block) int {
	p.frames = append(p.frames, frame{block: b, section: plan.InBody})
	return len(p.frames) - 1
}

func (p *position) leave() { p.frames = p.frames[:len(p.frames)-1] }

// mended returns the flow out of a block whose always section has ended. A failure that was forgotten meanwhile no
// longer counts; one of a handler that always itself ran counts now.
func (p *position) mended(at int, f flow) flow {
	switch {
	case f == abandoned:
		return f
	case p.frames[at].failed:
		return failed
	}
	return onward
}

// caught reports whether the current block may handle the failure: any block its own, only the outermost one that of a
// handler.
func (p *position) caught(f flow) bool {
	return f == failed || f == handlerFailed && len(p.frames) == 1
}

// rescuing reports whether a rescue will handle a failure of the current step, as Ansible counts it.
func (p *position) rescuing() bool {
	frames := p.frames
	if p.flushing != "" {
		frames = frames[:p.within] // what handlers include has no sections
	}
	for i, f := range frames {
		inBody := f.section == plan.InBody
		if p.flushing != "" && i == 0 { // while handlers run, the outermost block is in that state
			inBody = p.failsAsTask
		}
		if inBody && len(f.block.Rescue) > 0 {
			return true
		}
	}
	return false
}

// failing reports whether the host has failed and no rescue has succeeded, as far as Ansible looks when a host ends: at
// the outermost block.
func (p *position) failing() bool { return len(p.frames) > 0 && p.frames[0].failed }

// forget forgets all failures.
func (p *position) forget() {
	for i := range p.frames {
		p.frames[i].failed, p.frames[i].byHandler = false, false
	}
}

// lost reports whether a flush ends the plan for the host: Ansible, before dialect.FlushFailures, runs no handlers
// where one has failed already.
func (p *position) lost() bool { return len(p.frames) > 0 && p.frames[0].byHandler }

// failure returns the flow of a step that failed here: in a handler it is the flush that failed.
func (p *position) failure() flow {
	if p.flushing != "" && !p.failsAsTask {
		return handlerFailed
	}
	return failed
}

// keep keeps the place of a step that is done. Up to failsAsTask handlers run in no block's state.
func (p *position) keep(o *wire.Outcome) {
	ill := o.Status == wire.StatusFailed || o.Status == wire.StatusUnreachable
	switch {
	case ill && !o.Ignored, p.flushing != "" && !p.failsAsTask:
		p.last = nil
	case p.flushing != "":
		p.last = slices.Clone(p.frames[:p.within])
	default:
		p.last = append([]frame{}, p.frames...)
	}
}

// strayed reports whether the host has come into or out of blocks, or to another section, since its last step.
func (p *position) strayed() bool {
	return p.last != nil && p.flushing == "" && (len(p.last) != len(p.frames) || p.common() < len(p.last))
}

// common returns how many of the frames the current step and the last one share.
func (p *position) common() int {
	n := 0
	for n < min(len(p.last), len(p.frames)) && p.last[n].block == p.frames[n].block &&
		p.last[n].section == p.frames[n].section {
		n++
	}
	return n
}

// wasIn reports whether the last step was in a block of the section where the walk is now.
func (p *position) wasIn(b *plan.Block) bool {
	return len(p.last) > len(p.frames) && p.last[len(p.frames)].block == b
}
