package play

import (
	"fmt"
	"strings"
	"time"

	"hark/playbook/plan"
)

// vigil notices that a run stands: nothing comes of any host. It says once for a step whom the run waits for, so that nobody has to
// guess. It belongs to the goroutine of the batch.
type vigil struct {
	limit time.Duration
	now   func() time.Time
	moved time.Time // when something came last
	// looked: since then it was looked whom the run waits for.
	looked bool
	told   map[plan.ID]bool
}

// stillness is for how long nothing may come before it is said whom the run waits for.
const stillness = 30 * time.Second

func newVigil() *vigil {
	return &vigil{limit: stillness, now: time.Now, moved: time.Now(), told: map[plan.ID]bool{}}
}

func (v *vigil) stir() { v.moved, v.looked = v.now(), false }

// awaited are the hosts that the batch waits for, and the step at which the first of them is.
func (b *batchRun) awaited() (hosts []string, step plan.ID) {
	if hosts = b.machine.UnderWay(); len(hosts) > 0 {
		step = b.current[hosts[0]]
	}
	return hosts, step
}

// stillness is how long until it is to be looked whom the run waits for; false if it was looked since something came.
func (b *batchRun) stillness() (time.Duration, bool) {
	return max(0, b.vigil.limit-b.vigil.now().Sub(b.vigil.moved)), !b.vigil.looked
}

// namedHosts is how many hosts a message names.
const namedHosts = 3

// wakeUp says whom the run waits for, if it is time.
func (b *batchRun) wakeUp() {
	left, yes := b.stillness()
	if !yes || left > 0 {
		return
	}
	b.vigil.looked = true
	hosts, step := b.awaited()
	if len(hosts) == 0 || b.vigil.told[step] {
		return
	}
	b.vigil.told[step] = true
	named := strings.Join(hosts[:min(len(hosts), namedHosts)], ", ")
	if more := len(hosts) - namedHosts; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	where := "their beginning"
	if step != "" {
		where = "task [" + b.stepLabel(step) + "]"
	}
	b.r.messages.Warn(fmt.Sprintf("nothing has come for %s: the run waits for %s at %s", b.vigil.limit, named, where))
}
