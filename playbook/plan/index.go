package plan

import (
	"slices"
	"sort"
	"strings"
	"sync"
)

// Section is the part of a block in which a step stands.
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

	// guarded by mu
	at       map[ID]place
	sorted   []ID
	handlers map[ID]*Step
	ends     []roleEnd
}

// roleEnd is a block that marks the end of a role, by the key of that.
type roleEnd struct {
	block ID
	role  string
}

// place is where a step stands: the blocks around it, innermost first, as far as they belong to the same fragment.
type place struct {
	step   *Step
	around *frame
}

// frame is one block around a step, and in which section of it the step or the inner block stands.
type frame struct {
	block   *Block
	section Section
	outer   *frame
}

// NewIndex indexes a plan.
func NewIndex(p *Plan) *Index {
	x := &Index{at: map[ID]place{}, handlers: map[ID]*Step{}}
	x.add(p.Blocks, p.Handlers)
	return x
}

// Add indexes a fragment. Adding one twice changes nothing.
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

// Step finds a step, a handler or the run of a handler under a flush; nil if there is none.
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

// flush is the flush that id is or that runs it, "" if there is none. Callers hold mu.
func (x *Index) flush(id ID) ID {
	for id != "" {
		if p, ok := x.at[id]; ok && p.step.Kind == Meta {
			return id
		}
		id = id[:max(0, strings.LastIndexByte(string(id), '.'))]
	}
	return ""
}

// Section is the section of its innermost block in which a step stands; runs of handlers stand in no block's rescue.
func (x *Index) Section(id ID) Section {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if f := x.at[id].around; f != nil {
		return f.section
	}
	return InBody
}

// Included reports whether a step is of a fragment.
func (x *Index) Included(id ID) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	_, _, ok := x.includer(id)
	return ok
}

// Standing returns where a step, or the run of a handler, stands: whether a rescue takes a failure of it, as Ansible
// counts it, and whether it is within an always section.
func (x *Index) Standing(id ID) (rescuing, lasting bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	frames, handler := x.around(id)
	for i, f := range frames {
		lasting = lasting || f.Section == InAlways
		// While handlers run, the outermost block is in that state and not in its body.
		if f.Section == InBody && len(f.Block.Rescue) > 0 && !(handler && i == len(frames)-1) {
			rescuing = true
		}
	}
	return rescuing, lasting
}

// Place is a section of a block.
type Place struct {
	Block   *Block
	Section Section
}

// Around are the sections in which a step stands, or the flush that runs a handler, innermost first, those around its
// include too. handler reports whether it is the run of a handler.
func (x *Index) Around(id ID) (places []Place, handler bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.around(id)
}

// around is Around. Callers hold mu.
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

// Steps are those that are known, runs of handlers apart, after a and before b in play order; with b "" all after a.
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

// RoleEnd is where a role ends whose step comes before: the first such block after that step of a role that is meant,
// "" if there is none.
func (x *Index) RoleEnd(step ID, meant func(role string) bool) ID {
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

// Refuge is the section to which a host goes whose step fails: a rescue or an always around it. It is false
// for a step whose failure takes the host out of the play.
func (x *Index) Refuge(id ID) (Section, bool) {
	section, nodes := x.refuge(id)
	return section, nodes != nil
}

// Shelter reports whether a host whose step fails stands in a rescue or always section then, and not already in
// the body of a block within: Ansible spares only the former when a failure of another host is fatal for all.
func (x *Index) Shelter(id ID) bool {
	_, nodes := x.refuge(id)
	return nodes != nil && nodes[0].Step != nil
}

func (x *Index) refuge(id ID) (Section, []Node) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if flush := x.flush(id); flush != "" && flush != id {
		return x.handlerRefuge(flush)
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

// handlerRefuge is where a host goes whose handler fails: of the blocks around the flush only the outermost counts,
// and in its rescue the host just goes on. Callers hold mu.
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
	case f.section == InBody && len(f.block.Always) > 0:
		return InAlways, f.block.Always
	}
	return InBody, nil
}

// includer is the step whose fragment holds id: the nearest known ID above it. Callers hold mu.
func (x *Index) includer(id ID) (ID, place, bool) {
	cut := strings.LastIndexByte(string(id), '.')
	for ; cut > 0; cut = strings.LastIndexByte(string(id[:cut]), '.') {
		if p, ok := x.at[id[:cut]]; ok && p.step.Kind == Include {
			return id[:cut], p, true
		}
	}
	return "", place{}, false
}

// Between reports whether a step that is known, or the run of a handler, lies after a and before b in play order.
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
