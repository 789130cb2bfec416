package admit

import (
	"fmt"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// MostVariables is how much may take in this process, in bytes, what one host has said: the variables that came of it,
// in the whole run, and results of calls whose steps are not done.
const MostVariables = 96 << 20

// tooMuch is what is wrong with a host that has said more.
func tooMuch(host string) error {
	return fmt.Errorf("what %s says takes more than %d MB", host, MostVariables>>20)
}

// accounts are how much in this process takes what hosts have said.
type accounts struct {
	totals map[string]int
	kept   map[string]charge       // by variable
	flying map[step]map[string]int // results of calls, by speaker
}

// charge is how much a variable takes, and which host said it.
type charge struct {
	who    string
	weight int
}

// step is a step of a host, for which calls are done.
type step struct {
	host string
	id   plan.ID
}

func newAccounts() accounts {
	return accounts{totals: map[string]int{}, kept: map[string]charge{}, flying: map[step]map[string]int{}}
}

func (a *accounts) total(host string) int { return a.totals[host] }

// fly notes a result of a call which a host has done for a step of another, or of itself. It is false if that is too
// much.
func (a *accounts) fly(who, host string, id plan.ID, weight int) bool {
	if a.totals[who]+weight > MostVariables {
		return false
	}
	at := step{host, id}
	if a.flying[at] == nil {
		a.flying[at] = map[string]int{}
	}
	a.flying[at][who] += weight
	a.totals[who] += weight
	return true
}

// spoke returns the host that has said most for a step, the step's own if none has said anything.
func (a *accounts) spoke(host string, id plan.ID) string {
	who, most := host, 0
	for speaker, weight := range a.flying[step{host, id}] {
		if weight > most || weight == most && speaker < who {
			who, most = speaker, weight
		}
	}
	return who
}

// done forgets the results of a step.
func (a *accounts) done(host string, id plan.ID) {
	at := step{host, id}
	for who, weight := range a.flying[at] {
		a.totals[who] -= weight
	}
	delete(a.flying, at)
}

// settle forgets the results of all steps: those of a play that is over.
func (a *accounts) settle() {
	for at := range a.flying {
		a.done(at.host, at.id)
	}
}

// keep notes that variables of a host take what another has said.
func (a *accounts) keep(who, owner string, e wire.Effect) {
	e.Vars.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		name = owner + "/" + e.Layer + "/" + name
		a.totals[a.kept[name].who] -= a.kept[name].weight
		weight := len(name) + weigh(v)
		a.kept[name] = charge{who, weight}
		a.totals[who] += weight
		return true
	})
}

// weigh is about how many bytes a value takes.
func weigh(v value.Value) int {
	const node = 32
	n := node
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			n += weigh(item)
		}
	case *value.Dict:
		for i := range v.Len() {
			k, item := v.Kept(i) // lines that nobody has read take nothing
			n += 2*node + weigh(k) + weigh(item)
		}
	case *value.Lines:
	default:
		text, _ := value.Text(v)
		n += len(text)
	}
	return n
}
