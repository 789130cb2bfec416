package runner

import "hark/playbook/plan"

// frame is a block around the current step and the section of it that runs.
type frame struct {
	block   *plan.Block
	section plan.Section
	// failed: the body failed and no rescue has mended that. A meta clear_host_errors forgets it.
	failed bool
	// rescued: the rescue section was begun.
	rescued bool
}

// position is where a walk stands.
type position struct {
	// frames are the blocks around the current step, outermost first.
	frames []frame
	// flushing is the flush whose handlers run now, "" outside.
	flushing plan.ID
}

// enter goes into a block and gives its depth; leave goes out of the innermost one.
func (p *position) enter(b *plan.Block) int {
	p.frames = append(p.frames, frame{block: b, section: plan.InBody})
	return len(p.frames) - 1
}

func (p *position) leave() { p.frames = p.frames[:len(p.frames)-1] }

// mended is the flow out of a block whose always section has come to its end: of a failure that was forgotten meanwhile
// nothing is left, one of a handler that always itself ran counts now.
func (p *position) mended(at int, f flow) flow {
	switch {
	case f == abandoned:
		return f
	case p.frames[at].failed:
		return failed
	}
	return onward
}

// caught reports whether the current block may deal with the failure: any block with its own, only the outermost one
// with that of a handler.
func (p *position) caught(f flow) bool {
	return f == failed || f == handlerFailed && len(p.frames) == 1
}

// rescuing reports whether a rescue will take a failure of the current step, as Ansible counts it.
func (p *position) rescuing() bool {
	frames := p.frames
	if p.flushing != "" && len(frames) > 0 {
		// While handlers run, the outermost block is in that state and not in its body.
		frames = frames[1:]
	}
	for _, f := range frames {
		if f.section == plan.InBody && len(f.block.Rescue) > 0 {
			return true
		}
	}
	return false
}

// failing reports whether the host has failed and no rescue has mended that, as far as Ansible looks when a host
// ends: at the outermost block.
func (p *position) failing() bool { return len(p.frames) > 0 && p.frames[0].failed }

// forget forgets all failures.
func (p *position) forget() {
	for i := range p.frames {
		p.frames[i].failed = false
	}
}

// failure is the flow of a step that failed here: in a handler it is the flush that failed.
func (p *position) failure() flow {
	if p.flushing != "" {
		return handlerFailed
	}
	return failed
}
