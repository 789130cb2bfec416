package strategy

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hark/playbook/plan"
)

// world is hosts that walk a plan as sessions do, and the machine that they obey. What they tell arrives late, and
// they are lost, at random.
type world struct {
	rand  *rand.Rand
	plan  plan.Plan
	index *plan.Index
	rules map[plan.ID]Rule
	m     *Machine
	c     Config
	hosts map[string]*walker
	trace []string
}

// TestNobodyIsForgotten plays random plans on hosts that come out at random, and holds what must be true whatever
// happens: a host does a step once and only when it was let go, no more than may do it at a time, one where one does
// it for all; nobody waits for ever; each leaves once.
func TestNobodyIsForgotten(t *testing.T) {
	for seed := range uint64(2000) {
		w := newWorld(seed)
		if fault := w.play(); fault != "" {
			t.Fatalf("seed %d: %s\n%s", seed, fault, strings.Join(w.trace, "\n"))
		}
	}
}

func newWorld(seed uint64) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 13)), rules: map[plan.ID]Rule{}, hosts: map[string]*walker{}}
	steps := 0
	w.plan.Blocks = []plan.Block{w.block(&steps, 2)}
	w.index = plan.NewIndex(&w.plan)
	w.c = Config{Gated: true, Free: w.one(4), Tagged: w.one(2), Blocks: w.index, States: NewHostStates()}
	if w.one(3) {
		most := float64(w.rand.IntN(101))
		w.c.MaxFail = &most
	}
	for i := range 1 + w.rand.IntN(5) {
		w.c.Hosts = append(w.c.Hosts, string(rune('a'+i)))
	}
	for i := range steps {
		switch id := plan.ID(fmt.Sprint(i + 1)); w.rand.IntN(5) {
		case 0:
			w.rules[id] = Rule{Once: true, Shares: w.one(2)}
		case 1:
			w.rules[id] = Rule{Limit: 1 + w.rand.IntN(3)}
		case 2:
			w.rules[id] = Rule{Passing: slices.DeleteFunc(slices.Clone(w.c.Hosts), func(string) bool { return w.one(2) })}
		}
	}
	w.m = New(w.c)
	return w
}

func (w *world) one(of int) bool { return w.rand.IntN(of) == 0 }

func (w *world) block(steps *int, depth int) plan.Block {
	nodes := func(least int) []plan.Node {
		var list []plan.Node
		for range least + w.rand.IntN(3) {
			if depth > 0 && w.one(3) {
				b := w.block(steps, depth-1)
				list = append(list, plan.Node{Block: &b})
				continue
			}
			*steps++
			gate := !w.one(4)
			list = append(list,
				plan.Node{Step: &plan.Step{ID: plan.ID(fmt.Sprint(*steps)), Kind: plan.Task, Gate: gate, Ahead: gate && w.one(3)}})
		}
		return list
	}
	b := plan.Block{Body: nodes(1)}
	if w.one(2) {
		b.Rescue = nodes(0)
	}
	if w.one(2) {
		b.Always = nodes(0)
	}
	return b
}

// play runs the world until nothing can happen any more. It gives what is wrong.
func (w *world) play() string {
	for _, name := range w.c.Hosts {
		h := &walker{w: w, name: name, did: map[plan.ID]bool{}}
		w.hosts[name] = h
		w.m.Enter(name)
	}
	ahead := w.ahead()
	for _, name := range w.c.Hosts {
		h := w.hosts[name]
		if !w.one(4) { // else its agent is of an earlier version
			h.ahead = ahead
		}
		next, stop := iter.Pull(h.walk())
		defer stop()
		h.next = next
		h.goOn(doStep)
	}
	for range 10_000 {
		h := w.talker()
		switch {
		case h == nil:
		case w.one(60):
			h.lose()
		default:
			told := h.mail[0]
			h.mail = h.mail[1:]
			told()
		}
		if h != nil && w.one(3) {
			continue // more comes before anybody looks
		}
		if fault := w.obey(w.m.Proceed()); fault != "" {
			return fault
		}
		if h == nil && w.talker() == nil {
			return w.settled()
		}
	}
	return "it does not come to an end"
}

// ahead lets the hosts go for the first step before they come to it, where its rule is none, in half of the worlds.
func (w *world) ahead() plan.ID {
	b := &w.plan.Blocks[0]
	for b.Body[0].Block != nil {
		b = b.Body[0].Block
	}
	first := b.Body[0].Step
	_, ruled := w.rules[first.ID]
	if ruled || w.c.Free || !first.Gate || w.one(2) {
		return ""
	}
	w.m.Ahead(first.ID)
	return first.ID
}

// talker is a host of which something is to arrive, nil if there is none.
func (w *world) talker() *walker {
	talkers := slices.DeleteFunc(slices.Clone(w.c.Hosts), func(h string) bool { return len(w.hosts[h].mail) == 0 })
	if len(talkers) == 0 {
		return nil
	}
	return w.hosts[talkers[w.rand.IntN(len(talkers))]]
}

// settled holds what is true when nothing is under way.
func (w *world) settled() string {
	for _, h := range w.hosts {
		switch {
		case !h.over:
			return fmt.Sprintf("%s waits at %s for ever", h.name, h.at)
		case h.ends != 1:
			return fmt.Sprintf("%s has left %d times", h.name, h.ends)
		}
	}
	if !w.m.Empty() {
		return "the machine waits for hosts that have left"
	}
	for h := range w.m.tally {
		if w.m.Over(); !w.c.States.Failed(h) {
			return h + " counts as failed and is not"
		}
	}
	return ""
}

// obey has the hosts do what was decided.
func (w *world) obey(decisions []Decision) string {
	for _, d := range decisions {
		w.trace = append(w.trace, "\t"+d.String())
		orders := map[Kind]order{Release: doStep, Pass: passStep, Fail: failHere, Drop: leaveNow}
		switch d.Kind {
		case Turn:
			rule := w.rules[d.Step]
			rule.Passing = slices.DeleteFunc(slices.Clone(rule.Passing),
				func(h string) bool { return !slices.Contains(d.Hosts, h) })
			if fault := w.obey(w.m.Answer(rule)); fault != "" {
				return fault
			}
		case EndPlay:
			for _, h := range w.hosts {
				if h.at != "" {
					h.goOn(leaveNow)
				}
			}
		case Adopt:
			o := takeOver
			if !d.Blank && w.hosts[d.From].failedAt(d.Step) {
				o = takeFailure
			}
			for _, h := range d.Hosts {
				w.hosts[h].goOn(o)
			}
		case Release, Pass, Fail, Drop:
			if fault := w.lawful(d); fault != "" {
				return fault
			}
			for _, h := range d.Hosts {
				w.hosts[h].goOn(orders[d.Kind])
			}
		}
	}
	return ""
}

// lawful returns what is wrong with letting hosts go.
func (w *world) lawful(d Decision) string {
	if d.Kind != Release {
		return ""
	}
	rule := w.rules[d.Step]
	for _, name := range d.Hosts {
		h := w.hosts[name]
		switch {
		case h.at != d.Step && !h.over:
			return fmt.Sprintf("%s is let go for %s and stands at %q", name, d.Step, h.at)
		case h.did[d.Step]:
			return fmt.Sprintf("%s is let go for %s twice", name, d.Step)
		case !w.m.LetGo(name, d.Step):
			return fmt.Sprintf("%s is let go for %s, and the machine denies it", name, d.Step)
		}
	}
	doing := 0
	for _, h := range w.c.Hosts {
		if w.m.LetGo(h, d.Step) {
			doing++
		}
	}
	if rule.Limit > 0 && doing > rule.Limit {
		return fmt.Sprintf("%d do step %s, and %d may", doing, d.Step, rule.Limit)
	}
	if rule.Once && !w.c.Free && doing != 1 {
		return fmt.Sprintf("%d do step %s for all", doing, d.Step)
	}
	if w.c.Free {
		return ""
	}
	for _, name := range w.m.UnderWay() { // those who pass it by are on their way to a later one
		if h := w.hosts[name]; h.at != "" && plan.Compare(h.at, d.Step) < 0 {
			return fmt.Sprintf("step %s begins, and %s stands at %s still", d.Step, name, h.at)
		}
	}
	return ""
}
