package link

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"hark/agent/wire"
)

// elsewhere collects which hosts have the plays of other runs in hand, as their agents say. The zero value is ready.
type elsewhere struct {
	mu    sync.Mutex
	runs  map[string]wire.Other // by id; guarded by mu
	hosts map[string][]string   // by run; guarded by mu
}

func (e *elsewhere) add(host string, others []wire.Other) {
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

// namedHosts is how many hosts a sentence names.
const namedHosts = 3

// Elsewhere implements Link.
func (h *Hub) Elsewhere() []string {
	e := &h.elsewhere
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for id, o := range e.runs {
		hosts := e.hosts[id]
		slices.Sort(hosts)
		who := "operator " + o.Operator
		if h.cfg.Operator != nil && o.Operator == h.cfg.Operator.Key {
			who = "you"
		}
		named := strings.Join(hosts[:min(len(hosts), namedHosts)], ", ")
		if more := len(hosts) - namedHosts; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, fmt.Sprintf("%s: still at run %s of %s, since %s", named, id, who, o.Since.Local().Format("2006-01-02 15:04:05")))
	}
	slices.Sort(out)
	clear(e.runs)
	clear(e.hosts)
	return out
}
