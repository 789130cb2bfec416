package play

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"hark/playbook/plan"
)

// Checkpoint is where a run can go on whose hosts failed or were lost: what was done of its plays, and the variables of
// all hosts as they were in the end. It holds secrets. If anything is missing it says so, and nobody goes on with other
// variables.
type Checkpoint struct {
	// Why is what keeps the run from being resumed, "" for nothing.
	Why string `json:"why,omitempty"`
	// Extra is the digest of the extra variables.
	Extra string `json:"extra,omitempty"`
	// Batches are those that were begun, by their ID.
	Batches map[string]*BatchPoint `json:"batches,omitempty"`
	// Vars are the hosts' variables. Secrets are texts to hide, by the host that named them; "" stands for all.
	Vars    map[string]HostPoint `json:"vars,omitempty"`
	Secrets map[string][]string  `json:"secrets,omitempty"`
}

// BatchPoint is how far a batch of a play has come.
type BatchPoint struct {
	// Hosts took part. Failed are those of them that did not come to the end.
	Hosts  []string            `json:"hosts"`
	Failed map[string]Position `json:"failed,omitempty"`
	// Plan is the digest of the plan, "" if nobody failed. Gathered says that its first step gathers facts.
	Plan     string `json:"plan,omitempty"`
	Gathered bool   `json:"gathered,omitempty"`
	// Fragments are the IDs of what was included.
	Fragments map[string]plan.ID `json:"fragments,omitempty"`
}

// Position is where a host goes on: at a step, or with "" at the beginning of the play.
type Position struct {
	Step plan.ID `json:"step,omitempty"`
	// Task is the step as messages name it. Notified are the handlers that still have to run.
	Task     string   `json:"task,omitempty"`
	Notified []string `json:"notified,omitempty"`
}

// HostPoint are the variables of a host beside those of the inventory, and the digest of these.
type HostPoint struct {
	Inventory string    `json:"inventory"`
	Facts     plan.Dict `json:"facts,omitzero"`
	Include   plan.Dict `json:"include,omitzero"`
	Set       plan.Dict `json:"set,omitzero"`
}

// checkpoints notes how far the batches of a run have come. It is safe for concurrent use.
type checkpoints struct {
	mu      sync.Mutex
	why     string                 // guarded by mu
	batches map[string]*BatchPoint // guarded by mu
}

func newCheckpoints(in *Input) *checkpoints {
	c := &checkpoints{batches: map[string]*BatchPoint{}}
	if in.Resume != nil {
		for id, was := range in.Resume.Batches { // what this run does not come to stays as it was
			at := *was
			at.Failed = maps.Clone(was.Failed)
			c.batches[id] = &at
		}
	}
	switch {
	case in.StartAt != "":
		c.cannot("it began at a task (--start-at-task)")
	case in.Step:
		c.cannot("it asked before each task (--step)")
	case in.Stages != nil:
		c.cannot("it had stages")
	}
	return c
}

// cannot notes what keeps the run from being resumed. The first reason counts.
func (c *checkpoints) cannot(format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = cmp.Or(c.why, fmt.Sprintf(format, a...))
}

func (c *checkpoints) take(id string, p *BatchPoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches[id] = p
}

func (c *checkpoints) of(id string) *BatchPoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.batches[id]
}

// mostVariables is how many bytes of variables a checkpoint keeps: those of some 800 hosts with facts. It bounds what a
// run of a large fleet pays for its end when a host fails.
const mostVariables = 16 << 20

// checkpointOf returns where a run can go on.
func checkpointOf(r *runner) *Checkpoint {
	c := r.points
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != "" {
		return &Checkpoint{Why: c.why}
	}
	p := &Checkpoint{Extra: digestOf(plan.Dict{Dict: r.in.Extra}), Batches: c.batches, Vars: map[string]HostPoint{},
		Secrets: r.hidden.told()}
	size := 0
	for _, host := range r.mirror.Hosts() {
		v := r.mirror.Start(host)
		point := HostPoint{Inventory: digestOf(v.Inventory), Facts: v.Facts, Include: v.Include, Set: v.Set}
		text, err := json.Marshal(point)
		if err != nil {
			return &Checkpoint{Why: fmt.Sprintf("the variables of %s cannot be kept: %v", host, err)}
		}
		if size += len(text); size > mostVariables {
			return &Checkpoint{Why: fmt.Sprintf("the variables of its hosts take more than %d MB", mostVariables>>20)}
		}
		p.Vars[host] = point
	}
	return p
}

// digestOf returns the digest of something as JSON.
func digestOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // it equals nothing that can be compared
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// planDigest returns the digest of a plan, whatever its number in the run is, and whatever roles includes have added
// to those of its own steps.
func planDigest(p *plan.Plan) string {
	same := *p
	same.Play.ID = ""
	same.Roles = map[string]*plan.Role{}
	own := func(s *plan.Step) {
		if role := p.Roles[s.Role]; role != nil {
			same.Roles[s.Role] = role
		}
	}
	plan.Walk(p.Blocks, own)
	for i := range p.Handlers {
		own(p.Handlers[i].Step)
	}
	return digestOf(&same)
}

// note takes in how far the hosts have come that entered a batch. gathered says that its plan gathers facts.
func (p *playBatch) note(b *batchRun, entered []string, gathered bool) {
	id := p.id
	if p.was != nil {
		id = p.first
	}
	at := p.r.points.of(id)
	if at == nil {
		at = &BatchPoint{Gathered: gathered}
		p.r.points.take(id, at)
	}
	at.Fragments = b.included.All()
	for _, h := range entered {
		if !slices.Contains(at.Hosts, h) {
			at.Hosts = append(slices.Clone(at.Hosts), h)
		}
		delete(at.Failed, h)
		if !p.r.states.Out(h) {
			continue
		}
		where, why := position(b, h)
		if why != "" {
			p.r.points.cannot("%s", why)
			return
		}
		if at.Failed == nil {
			at.Failed = map[string]Position{}
		}
		at.Failed[h] = where
		if at.Plan == "" {
			at.Plan = planDigest(b.plan)
		}
	}
	if why := again(b, at, p.hosts); why != "" {
		p.r.points.cannot("%s", why)
	}
}

// position returns where a host that is out goes on, or why it cannot.
func position(b *batchRun, host string) (at Position, why string) {
	step, after := b.tracker.Fell(host)
	s := b.steps.Step(step)
	if s == nil {
		return at, "it is not known at which task " + host + " left the play"
	}
	at.Task = b.steps.Label(s)
	if s.Implicit && s.Kind == plan.Task {
		return at, "" // nothing was done yet
	}
	at.Step, at.Notified = step, b.tracker.Pending(host, step)
	for _, name := range at.Notified {
		if !answered(b.plan, name) {
			return at, fmt.Sprintf("the handler %q, which %s has notified, came with an include", name, host)
		}
	}
	if len(at.Notified) > 0 && len(after) > 0 {
		return at, "some of the handlers that " + host + " has notified were run already"
	}
	if why = b.brought.keeps(step, b.tracker.Included(host)); why != "" {
		return at, host + " " + why
	}
	if role := b.steps.Twice(step); role != "" {
		return at, fmt.Sprintf("the role %s comes more than once in the play, before and after the task of %s", role, host)
	}
	return at, ""
}

// again returns why hosts that go on would do something that was done for them: others of the batch were further.
func again(b *batchRun, at *BatchPoint, all []string) string {
	behind := func(h string) (plan.ID, bool) {
		if from, failed := at.Failed[h]; failed {
			return from.Step, true
		}
		return "", !slices.Contains(at.Hosts, h)
	}
	first, some, others := plan.ID(""), false, false
	for _, h := range all {
		from, is := behind(h)
		if others = others || !is; is && (!some || plan.Compare(from, first) < 0) {
			first, some = from, true
		}
	}
	if !some || !others {
		return ""
	}
	why := ""
	plan.Walk(b.plan.Blocks, func(s *plan.Step) {
		if why == "" && !s.RunOnce.IsZero() && plan.Compare(s.ID, first) >= 0 {
			why = fmt.Sprintf("another host may have done task [%s] for all (run_once)", b.steps.Label(s))
		}
	})
	return why
}

// answered reports whether a plan has a handler of a name, or one that listens to it.
func answered(p *plan.Plan, name string) bool {
	return slices.ContainsFunc(p.Handlers, func(h plan.Handler) bool {
		names := append([]string{h.Step.Name}, h.Listen...)
		if role := p.Roles[h.Step.Role]; role != nil {
			for _, n := range slices.Clone(names) {
				names = append(names, role.Name+" : "+n, role.FullName()+" : "+n)
			}
		}
		return h.Step.Name != "" && slices.Contains(names, name) || slices.Contains(h.Listen, name)
	})
}

// broughtIn are the fragments that includes of a batch have brought, with what lasts beyond them. It is safe for
// concurrent use.
type broughtIn struct {
	mu  sync.Mutex
	why map[plan.ID]string // by fragment, "" for nothing that lasts; guarded by mu
}

// note takes in a fragment of an include. once reports whether it has steps that one host does for all.
func (i *broughtIn) note(step plan.ID, f *plan.Fragment) (once bool) {
	plan.Walk(f.Blocks, func(s *plan.Step) { once = once || !s.RunOnce.IsZero() })
	why := ""
	switch {
	case len(f.Handlers) > 0:
		why = "has passed an include that brought handlers"
	case !f.RoleDefaults.IsZero() || !f.RoleVars.IsZero():
		why = "has passed an include that brought variables of a role (public)"
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.why == nil {
		i.why = map[plan.ID]string{}
	}
	i.why[step.Under(f.Index)] = why
	return once
}

// keeps returns what keeps a host from going on at a step: the fragments that it has included, and those before the
// step, since not every host says of each include what it has brought.
func (i *broughtIn) keeps(step plan.ID, included []plan.ID) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	for fragment, why := range i.why {
		passed := plan.Compare(fragment, step) < 0 || slices.Contains(included, fragment)
		if why != "" && passed && !step.Within(fragment) {
			return why
		}
	}
	return ""
}
