package facts

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"hark/modules/py/value"
)

//go:embed order.txt
var orderText string

// ranks are the places of the names of facts, and of the keys in them.
var ranks = sync.OnceValue(func() map[string]int {
	rank := map[string]int{}
	for line := range strings.Lines(orderText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(line) {
			rank[name] = len(rank)
		}
	}
	return rank
})

// inOrder are facts as Ansible has them. What others made keeps its own order: local facts and the environment.
func inOrder(facts map[string]any) *value.Dict {
	d, _ := value.FromGo(facts, value.KindUnsafe).(*value.Dict)
	out := value.NewDict()
	for _, k := range byRank(d) {
		v, _ := d.GetKey(k)
		if name, _ := value.Text(k); name != "ansible_local" && name != "ansible_env" {
			v = arranged(v)
		}
		out.SetKey(k, v)
	}
	return out
}

// arranged returns a fact with the keys in it in order.
func arranged(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		for i := range v.Items {
			v.Items[i] = arranged(v.Items[i])
		}
	case *value.Dict:
		out := value.NewDict()
		for _, k := range byRank(v) {
			item, _ := v.GetKey(k)
			out.SetKey(k, arranged(item))
		}
		return out
	}
	return v
}

// byRank returns the keys of a dict by their ranks, those without any as they stand behind the others.
func byRank(d *value.Dict) []value.Value {
	keys := d.Keys()
	at := func(k value.Value) int {
		name, _ := value.Text(k)
		if n, ok := ranks()[name]; ok {
			return n
		}
		return len(ranks())
	}
	slices.SortStableFunc(keys, func(a, b value.Value) int { return at(a) - at(b) })
	return keys
}
