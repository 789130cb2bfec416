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
// writes. What a host says is secret is hidden in its own results alone: it could take words out of those of others.
func (h *hider) hide(e *wire.Event) {
	if h.all == nil {
		return
	}
	known, own := []*mask.Masker{h.all}, h.all
	if !e.Own {
		if own = h.hosts[e.Host]; own == nil {
			own = &mask.Masker{}
			h.hosts[e.Host] = own
		}
		known = append(known, own)
	}
	o := e.Outcome
	if o != nil {
		o.Hidden = own
		if said := o.Said(); len(said.Secrets) > 0 {
			own.Add(said.Secrets...)
			said.Secrets = nil
			o.Tell(value.PlainJSON(said.Whole()))
		}
	}
	for _, m := range known {
		e.Text = m.Text(e.Text)
		if o != nil {
			hideIn(o, m)
		}
	}
}

// hideIn hides secrets in what is shown of an outcome.
func hideIn(o *wire.Outcome, m *mask.Masker) {
	if m.Holds(o.Result) {
		o.Tell(hiddenResult(o.Said(), m))
	}
	o.Item, o.Label = m.JSON(o.Item), m.Text(o.Label)
	for i := range o.Included {
		o.Included[i].Item, o.Included[i].Label = m.JSON(o.Included[i].Item), m.Text(o.Included[i].Label)
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
