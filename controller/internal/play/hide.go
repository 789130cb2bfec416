package play

import (
	"encoding/json"

	"hark/agent/wire"
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/modules/result"
)

// hider hides secrets in what is shown of a run.
type hider struct {
	all   *mask.Masker            // nil: nothing is hidden
	hosts map[string]*mask.Masker // what agents have told, by their hosts
}

// hide takes in what an event says is secret, and hides secrets in its result: what is printed around it the display hides, and the record what it
// writes. What a host says is secret is hidden in
// its own results alone: it could take words out of those of others.
func (h *hider) hide(e *wire.Event) {
	if h.all == nil {
		return
	}
	known := []*mask.Masker{h.all}
	if !e.Own {
		if h.hosts[e.Host] == nil {
			h.hosts[e.Host] = &mask.Masker{}
		}
		known = append(known, h.hosts[e.Host])
	}
	if o := e.Outcome; o != nil {
		if said := o.Said(); len(said.Secrets) > 0 {
			known[len(known)-1].Add(said.Secrets...)
			said.Secrets = nil
			o.Tell(value.PlainJSON(said.Whole()))
		}
	}
	if e.Outcome != nil {
		e.Outcome.Hidden = known[len(known)-1]
	}
	for _, m := range known {
		e.Text = m.Text(e.Text)
		if e.Outcome != nil {
			hideIn(e.Outcome, m)
		}
	}
}

// hideIn hides secrets in what is shown of an outcome.
func hideIn(o *wire.Outcome, m *mask.Masker) {
	if m.Holds(o.Result) {
		o.Tell(hiddenResult(o.Said(), m))
	}
	o.Item, o.Label = hidden(o.Item, m), m.Text(o.Label)
	for i := range o.Included {
		o.Included[i].Item, o.Included[i].Label = hidden(o.Included[i].Item, m), m.Text(o.Included[i].Label)
	}
}

// hiddenResult is a result without secrets. What errors are about stays as the playbook has it, where its place is looked for by it: the display hides
// what it prints of it.
func hiddenResult(res *result.Result, m *mask.Masker) json.RawMessage {
	written := func(key string) bool { return key == "text" || key == "key" || key == "file" || key == "name" }
	res.Dict, _ = m.Value(res.Dict).(*value.Dict)
	if res.Events != nil {
		res.Events, _ = m.ValueBut(res.Events, written).(*value.List)
	}
	if res.Notices != nil {
		res.Notices, _ = m.ValueBut(res.Notices, written).(*value.List)
	}
	if res.Label != nil {
		res.Label = m.Value(res.Label)
	}
	res.Cause = m.Text(res.Cause)
	return value.PlainJSON(res.Whole())
}

// hidden is a value without secrets.
func hidden(raw json.RawMessage, m *mask.Masker) json.RawMessage {
	if !m.Holds(raw) {
		return raw
	}
	v, err := value.Decode(raw, value.KindStr)
	if err != nil {
		return raw
	}
	return value.PlainJSON(m.Value(v))
}
