package modules

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed order.txt
var orderText string

var orders = sync.OnceValue(func() map[string]map[string]int {
	all := map[string]map[string]int{}
	for line := range strings.Lines(orderText) {
		name, keys, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		rank := map[string]int{}
		for i, key := range strings.Fields(keys) {
			rank[key] = i
		}
		at, tells := rank["msg"]
		if _, ok := rank["failed"]; tells && !ok {
			rank["failed"] = at // and before msg, by their names: so a module puts them when it fails
		}
		all[name] = rank
	}
	return all
})

// KeyOrder ranks the keys of a module's result as they come in Ansible, where a result is printed or looped over as a mapping;
// nil if they come sorted. Keys that have no rank come after those that have.
func KeyOrder(module string) map[string]int { return orders()[module] }

// ArgOrder ranks the arguments of a module as its specification in Ansible has them; nil if that is not known.
func ArgOrder(module string) map[string]int { return orders()[module+"()"] }
