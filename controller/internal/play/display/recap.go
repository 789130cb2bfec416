package display

import (
	"maps"
	"slices"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/modules/result"
)

// Recap counts results as the PLAY RECAP shows them, over all plays of a run.
type Recap struct {
	counts map[string]*view.Counts
	custom map[string]map[string]any
}

// NewRecap returns an empty Recap.
func NewRecap() *Recap {
	return &Recap{counts: map[string]*view.Counts{}, custom: map[string]map[string]any{}}
}

// Of returns the counts of a host, which is in the recap from then on.
func (r *Recap) Of(host string) *view.Counts {
	c := r.counts[host]
	if c == nil {
		c = &view.Counts{}
		r.counts[host] = c
	}
	return c
}

// add counts the end of a step. Includes count as ok for each file, when the file is shown.
func (r *Recap) add(host string, o *wire.Outcome, include bool) {
	c := r.Of(host)
	switch o.Status {
	case wire.StatusFailed:
		switch {
		case o.Ignored:
			c.OK++
			c.Ignored++
			countChanged(c, o)
		case o.Rescued:
			c.Rescued++
		default:
			c.Failed++
		}
	case wire.StatusUnreachable:
		if o.Ignored {
			c.OK++
			c.Ignored++
		} else {
			c.Unreachable++
		}
	case wire.Skipped:
		c.Skipped++
	default:
		if include {
			return
		}
		c.OK++
		countChanged(c, o)
	}
}

// countChanged counts a change. A result that failed and was ignored says so itself.
func countChanged(c *view.Counts, o *wire.Outcome) {
	changed := o.Status == wire.Changed
	if o.Status == wire.StatusFailed {
		changed = o.Said().Changed()
	}
	if changed {
		c.Changed++
	}
}

// Stats returns the counts so far.
func (r *Recap) Stats() view.Stats {
	s := view.Stats{Hosts: slices.Sorted(maps.Keys(r.counts)), Counts: make(map[string]view.Counts, len(r.counts)),
		Custom: r.custom}
	for host, c := range r.counts {
		s.Counts[host] = *c
	}
	return s
}

// addCustom adds the statistics of set_stats.
func (r *Recap) addCustom(host string, o *wire.Outcome) {
	if o.Loop || o.Status == wire.Skipped || !result.Raw(o.Result).Has(statistics) {
		return
	}
	v, _ := o.Said().Get(statistics)
	stats, ok := v.(*value.Dict)
	if !ok {
		return
	}
	whose := host
	if each, told := stats.Get("per_host"); told && !value.IsTrue(each) {
		whose = "_run"
	}
	all, _ := stats.Get("data")
	data, _ := value.ToGo(value.OrNone(all)) // it was JSON just now
	of, _ := data.(map[string]any)
	for k, v := range of {
		r.setCustom(whose, k, v, stats.True("aggregate"))
	}
}

// statistics is the key under which the result of set_stats has them.
const statistics = "ansible_stats"

// setCustom stores a statistic. With aggregate, numbers add up, text and lists are joined, and mappings merged; a value
// of another type than the stored one is dropped.
func (r *Recap) setCustom(whose, name string, v any, aggregate bool) {
	own := r.custom[whose]
	if own == nil {
		own = map[string]any{}
		r.custom[whose] = own
	}
	if old, ok := own[name]; ok && aggregate {
		v = joined(old, v)
	}
	own[name] = v
}

func joined(old, v any) any {
	switch o := old.(type) {
	case int64:
		if n, ok := v.(int64); ok {
			return o + n
		}
	case float64:
		if n, ok := v.(float64); ok {
			return o + n
		}
	case string:
		if s, ok := v.(string); ok {
			return o + s
		}
	case []any:
		if l, ok := v.([]any); ok {
			return slices.Concat(o, l)
		}
	case map[string]any:
		if m, ok := v.(map[string]any); ok {
			return merged(o, m)
		}
	}
	return old
}

// merged returns a mapping over another, merged at all depths.
func merged(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	for k, v := range over {
		below, ok := out[k].(map[string]any)
		above, too := v.(map[string]any)
		if ok && too {
			v = merged(below, above)
		}
		out[k] = v
	}
	return out
}
