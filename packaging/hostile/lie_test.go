//go:build hostile

package hostile

import (
	"encoding/json"
	"maps"
	"slices"

	"hark/agent/wire"
	"hark/playbook/plan"
)

// lie is what a host says in its answers that is not so. A host that lies keeps to the protocol: its messages are
// good, in turn and its own. The same lie is
// told by an agent (hostile.lies), by an ssh target and by a container (newFarSite).
type lie struct {
	// Of are the actions at whose steps its events lie, in full or as the playbook writes them; none is all. Results of
	// calls lie whatever the action.
	Of []string `json:"of,omitempty"`
	// Result are fields of the results of its steps and of its calls, over those that are there. Of ansible_facts each
	// is a field of its own.
	Result map[string]any `json:"result,omitempty"`
	// Layers are the variables that its events tell as effects of its steps, by layer: facts, set or include.
	Layers map[string]map[string]any `json:"layers,omitempty"`
	// Host is whose variables these are said to be, "" for the host's own.
	Host string `json:"host,omitempty"`
	// Raw stands in place of all that a result says, as JSON.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// everywhere is a lie that tells of variables in every layer, and as facts of every result.
func everywhere(variables map[string]any) lie {
	return lie{
		Result: map[string]any{"ansible_facts": variables},
		Layers: map[string]map[string]any{"facts": variables, "set": variables, "include": variables},
	}
}

// lies makes the agent lie from now on, until reset.
func (h *hostile) lies(l lie) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.onEvent, h.onResult = l.event, l.result
}

// event is what becomes of an event of the host's own.
func (l lie) event(s *session, e wire.Event) []wire.Event {
	if e.Outcome == nil || e.Kind != wire.Done && e.Kind != wire.Item || e.Outcome.Status == wire.Skipped ||
		!l.tells(s, e) {
		return []wire.Event{e}
	}
	o := *e.Outcome
	o.Result = l.over(o.Result)
	if e.Kind == wire.Done {
		for _, layer := range slices.Sorted(maps.Keys(l.Layers)) {
			effect := wire.Effect{Layer: layer, Host: l.Host}
			if raw, err := json.Marshal(l.Layers[layer]); err == nil && json.Unmarshal(raw, &effect.Vars) == nil {
				o.Effects = append(slices.Clone(o.Effects), effect)
			}
		}
	}
	e.Outcome = &o
	return []wire.Event{e}
}

// tells reports whether it is told at the step of an event.
func (l lie) tells(s *session, e wire.Event) bool {
	if len(l.Of) == 0 {
		return true
	}
	p, err := s.plan()
	if err != nil {
		return false
	}
	step := plan.NewIndex(p).Step(e.Step)
	return step != nil && (slices.Contains(l.Of, step.Action) || slices.Contains(l.Of, step.Written))
}

// result alters the result of a call.
func (l lie) result(_ *session, d *wire.ExecDone) { d.Result = l.over(d.Result) }

// over is a result with the fields of the lie.
func (l lie) over(result json.RawMessage) json.RawMessage {
	if l.Raw != nil {
		return l.Raw
	}
	var fields map[string]any
	if json.Unmarshal(result, &fields) != nil || fields == nil {
		fields = map[string]any{}
	}
	for name, v := range l.Result {
		had, isMap := fields[name].(map[string]any)
		more, both := v.(map[string]any)
		if name == "ansible_facts" && isMap && both {
			maps.Copy(had, more)
			v = had
		}
		fields[name] = v
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return result
	}
	return raw
}
