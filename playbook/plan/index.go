package plan

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"hark/modules/dialect"
)

// Section is the part of a block that contains a step.
type Section int

// The sections of a block.
const (
	InBody Section = iota
	InRescue
	InAlways
)

// Index finds the steps of a plan by ID, those of fragments too. It is safe for concurrent use.
type Index struct {
	mu sync.RWMutex
	// failsAsTask: a handler that fails is a failure of its flush, like that of any task.
	failsAsTask bool

	// guarded by mu
	at       map[ID]place
	sorted   []ID
	handlers map[ID]*Step
	ends     []roleEnd
}

// roleEnd is a block that marks the end of the role with a key.
type roleEnd struct {
	block ID
	role  string
}

// place is the position of a step: the blocks around it, innermost first, as far as they belong to the same fragment.
type place struct {
	step   *Step
	around *frame
}

// frame is one block around a step, and the section of it that contains the step or the inner block.
type frame struct {
	block   *Block
	section Section
	outer   *frame
}

// NewIndex returns the index of a plan.
func NewIndex(p *Plan) *Index {
	x := &Index{
		at: map[ID]place{}, handlers: map[ID]*Step{}, failsAsTask: p.Play.Level.Has(dialect.FlushFailures),
	}
	x.add(p.Blocks, p.Handlers)
	return x
}

// Add adds a fragment. Adding one twice changes nothing.
func (x *Index) Add(f *Fragment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.add(f.Blocks, f.Handlers)
}

func (x *Index) add(blocks []Block, handlers []Handler) {
	for i := range blocks {
		x.addBlock(&blocks[i], nil)
	}
	for _, h := range handlers {
		x.handlers[h.Step.ID] = h.Step
	}
	sort.Slice(x.sorted, func(i, j int) bool { return Compare(x.sorted[i], x.sorted[j]) < 0 })
}

func (x *Index) addBlock(b *Block, outer *frame) {
	if end := (roleEnd{b.ID, b.RoleEnd}); b.RoleEnd != "" && !slices.Contains(x.ends, end) {
		x.ends = append(x.ends, end)
	}
	for section, nodes := range [][]Node{b.Body, b.Rescue, b.Always} {
		f := &frame{b, Section(section), outer}
		for _, n := range nodes {
			if n.Block != nil {
				x.addBlock(n.Block, f)
			}
			if n.Step == nil {
				continue
			}
			if _, twice := x.at[n.Step.ID]; !twice {
				x.sorted = append(x.sorted, n.Step.ID)
			}
			x.at[n.Step.ID] = place{n.Step, f}
		}
	}
}

// Step returns a step, a handler or the run of a handler under a flush; nil if there is none.
func (x *Index) Step(id ID) *Step {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if p, ok := x.at[id]; ok {
		return p.step
	}
	if h, ok := x.handlers[id]; ok {
		return h
	}
	cut := strings.LastIndexByte(string(id), '.')
	for ; cut > 0; cut = strings.LastIndexByte(string(id[:cut]), '.') {
		if flush, ok := x.at[id[:cut]]; ok && flush.step.Kind == Meta {
			return x.handlers[id[cut+1:]]
		}
	}
	return nil
}

// flush returns the flush that id is or that runs it, "" if there is none. Callers hold mu.
func (x *Index) flush(id ID) ID {
	for id != "" {
		if p, ok := x.at[id]; ok && p.step.Kind == Meta {
			return id
		}
		id = id[:max(0, strings.LastIndexByte(string(id), '.'))]
	}
	return ""
}

// Section returns the section of its innermost block that contains a step. Runs of handlers are in no block's rescue.
func (x *Index) Section(id ID) Section {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if f := x.at[id].around; f != nil {
		return f.section
	}
	return InBody
}

// Included reports whether a step belongs to a fragment.
func (x *Index) Included(id ID) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	_, _, ok := x.includer(id)
	return ok
}

// Handled reports, for a step or the run of a handler, whether a rescue handles its failure, as Ansible counts it, and
// whether it is within an always section.
func (x *Index) Handled(id ID) (rescuing, lasting bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	frames, handler := x.around(id)
	for i, f := range frames {
		lasting = lasting || f.Section == InAlways
		inBody := f.Section == InBody
		if handler && i == len(frames)-1 { // while handlers run, the outermost block is in that state
			inBody = x.failsAsTask
		}
		rescuing = rescuing || inBody && len(f.Block.Rescue) > 0
	}
	return rescuing, lasting
}

// Place is a section of a block.
type Place struct {
	Block   *Block
	Section Section
}

// Around returns the sections in which a step stands, or the flush that runs a handler, innermost first, those around
// its include too. handler reports whether it is the run of a handler that only the outermost block deals with.
func (x *Index) Around(id ID) (places []Place, handler bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	places, handler = x.around(id)
	return places, handler && !x.failsAsTask
}

// around is Around, and reports of every run of a handler that it is one. Callers hold mu.
func (x *Index) around(id ID) (places []Place, handler bool) {
	flush := x.flush(id)
	if handler = flush != "" && flush != id; handler {
		id = flush
	}
	for p, ok := x.at[id]; ok; id, p, ok = x.includer(id) {
		for f := p.around; f != nil; f = f.outer {
			places = append(places, Place{f.block, f.section})
		}
	}
	return places, handler
}

// Steps returns the known steps, without runs of handlers, after a and before b in play order; with b "" all after a.
func (x *Index) Steps(a, b ID) []ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	from := sort.Search(len(x.sorted), func(i int) bool { return Compare(x.sorted[i], a) > 0 })
	if b == "" {
		return slices.Clone(x.sorted[from:])
	}
	to := sort.Search(len(x.sorted), func(i int) bool { return Compare(x.sorted[i], b) >= 0 })
	return slices.Clone(x.sorted[from:max(from, to)])
}

// NextRoleEnd returns the end of a role with a step before it: the first such block after that step whose role meant
// accepts, "" if there is none.
func (x *Index) NextRoleEnd(step ID, meant func(role string) bool) ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var first ID
	for _, e := range x.ends {
		if Compare(e.block, step) > 0 && (first == "" || Compare(e.block, first) < 0) && meant(e.role) {
			first = e.block
		}
	}
	return first
}

// Refuge returns the section to which a host goes whose step fails: a rescue or an always around it. It returns false
// for a step whose failure takes the host out of the play.
func (x *Index) Refuge(id ID) (Section, bool) {
	section, nodes := x.refuge(id)
	return section, nodes != nil
}

// Fails returns the step whose blocks a host fails in, when it is failed from outside while it waits at a step: the one
// that it has done last ("" if that does not count), as in Ansible's iterator, which enters and leaves blocks only when
// it comes to the next task. While handlers run, it is the one at which it waits.
func (x *Index) Fails(done, at ID) ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	runs := func(id ID) bool { flush := x.flush(id); return flush != "" && flush != id }
	if done == "" || runs(at) || runs(done) && !x.failsAsTask {
		return at
	}
	return done
}

// Shelter reports whether a host whose step fails then stands in a rescue or always section, and not in the body of a
// block within it: Ansible spares only the former when a failure of another host is fatal for all.
func (x *Index) Shelter(id ID) bool {
	_, nodes := x.refuge(id)
	return nodes != nil && nodes[0].Step != nil
}

// OnlyFlush reports whether a host whose step fails goes to nothing but the flush of force_handlers.
func (x *Index) OnlyFlush(id ID) bool {
	section, nodes := x.refuge(id)
	if section != InAlways || len(nodes) != 1 || nodes[0].Block == nil || len(nodes[0].Block.Body) != 1 {
		return false
	}
	s := nodes[0].Block.Body[0].Step
	return s != nil && s.Implicit && s.Kind == Meta
}

func (x *Index) refuge(id ID) (Section, []Node) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if flush := x.flush(id); flush != "" && flush != id {
		if !x.failsAsTask {
			return x.handlerRefuge(flush)
		}
		id = flush
	}
	p, ok := x.at[id]
	for ok {
		for f := p.around; f != nil; f = f.outer {
			if f.section == InBody && len(f.block.Rescue) > 0 {
				return InRescue, f.block.Rescue
			}
			if f.section != InAlways && len(f.block.Always) > 0 {
				return InAlways, f.block.Always
			}
		}
		id, p, ok = x.includer(id)
	}
	return InBody, nil
}

// handlerRefuge returns where a host goes whose handler fails: of the blocks around the flush only the outermost
// counts, and in its rescue the host just goes on. Callers hold mu.
func (x *Index) handlerRefuge(flush ID) (Section, []Node) {
	p := x.at[flush]
	for id, outer, ok := x.includer(flush); ok; id, outer, ok = x.includer(id) {
		p = outer
	}
	f := p.around
	for f != nil && f.outer != nil {
		f = f.outer
	}
	switch {
	case f == nil:
	case f.section != InAlways && len(f.block.Rescue) > 0:
		return InRescue, f.block.Rescue
	case f.section == InBody && len(f.block.Always) > 0, f.section == InAlways && len(f.block.Rescue) > 0:
		return InAlways, f.block.Always
	}
	return InBody, nil
}

// includer returns the step whose fragment holds id: the nearest known ID above it. Callers hold mu.
func (x *Index) includer(id ID) (ID, place, bool) {
	cut := strings.LastIndexByte(string(id), '.')
	for ; cut > 0; cut = strings.LastIndexByte(string(id[:cut]), '.') {
		if p, ok := x.at[id[:cut]]; ok && p.step.Kind == Include {
			return id[:cut], p, true
		}
	}
	return "", place{}, false
}

// Between reports whether a known step, or the run of a handler, is after a and before b in play order.
func (x *Index) Between(a, b ID) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, flush := range []ID{x.flush(a), x.flush(b)} {
		for h := range x.handlers {
			if run := flush + "." + h; flush != "" && Compare(run, a) > 0 && Compare(run, b) < 0 {
				return true
			}
		}
	}
	i := sort.Search(len(x.sorted), func(i int) bool { return Compare(x.sorted[i], a) > 0 })
	return i < len(x.sorted) && Compare(x.sorted[i], b) < 0
}
