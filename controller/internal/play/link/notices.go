package link

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"hark/agent/wire"
)

// notices collects what agents say that is no part of the plays: which hosts have the plays of other active runs, and
// what a host did that was given up before it reported. The zero value is ready.
type notices struct {
	mu    sync.Mutex
	runs  map[string]wire.Other // by id; guarded by mu
	hosts map[string][]string   // by run; guarded by mu
	texts []string              // guarded by mu
}

// late notes what a host that was given up had done when it came back: the tasks that ended after seq.
func (e *notices) late(host string, seq uint64, events []wire.Event) {
	var done []string
	for _, ev := range events {
		if ev.Kind == wire.Done && ev.Seq > seq && ev.Outcome != nil && ev.Outcome.Status != wire.Skipped {
			done = append(done, fmt.Sprintf("%q (%s)", ev.Name, ev.Outcome.Status))
		}
	}
	if len(done) == 0 {
		return
	}
	named := strings.Join(done[:min(len(done), namedTasks)], ", ")
	if more := len(done) - namedTasks; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	text := fmt.Sprintf("%s: is back, and had done more than it could tell before it was given up: %s", host, named)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.texts, text) {
		e.texts = append(e.texts, text)
	}
}

func (e *notices) add(host string, others []wire.Other) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range others {
		if e.runs == nil {
			e.runs, e.hosts = map[string]wire.Other{}, map[string][]string{}
		}
		if first, ok := e.runs[o.Run]; !ok || o.Since.Before(first.Since) {
			e.runs[o.Run] = o
		}
		if !slices.Contains(e.hosts[o.Run], host) {
			e.hosts[o.Run] = append(e.hosts[o.Run], host)
		}
	}
}

// namedHosts is how many hosts a sentence names, namedTasks how many tasks.
const (
	namedHosts = 3
	namedTasks = 5
)

// Notices implements Link.
func (h *Hub) Notices() []string {
	h.members.mu.Lock()
	self := h.cfg.Operator
	h.members.mu.Unlock()
	e := &h.notices
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.texts
	e.texts = nil
	for id, o := range e.runs {
		hosts := e.hosts[id]
		slices.Sort(hosts)
		who := "operator " + o.Operator
		if self != nil && o.Operator == self.Key {
			who = "you"
		}
		named := strings.Join(hosts[:min(len(hosts), namedHosts)], ", ")
		if more := len(hosts) - namedHosts; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		out = append(out,
			fmt.Sprintf("%s: still at run %s of %s, since %s", named, id, who, o.Since.Local().Format("2006-01-02 15:04:05")))
	}
	slices.Sort(out)
	clear(e.runs)
	clear(e.hosts)
	return out
}
