package play

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"hark/agent/wire"
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/modules/result"
)

// hider hides secrets in what is shown of a run.
type hider struct {
	all *mask.Masker // nil: nothing is hidden

	mu    sync.Mutex
	hosts map[string]*mask.Masker // secrets that hosts have named, by who spoke; guarded by mu
	texts map[string][]string     // what was added in this run, "" for all hosts; guarded by mu
	// python are the no_log parameters of modules in Python, by their files; guarded by mu.
	python map[string][]string
}

func newHider(all *mask.Masker) *hider {
	return &hider{all: all, hosts: map[string]*mask.Masker{}, texts: map[string][]string{}}
}

// addSecrets adds what a host says is secret. It is hidden only in what that host says: otherwise the host could remove
// words of others.
func (h *hider) addSecrets(host string, texts []string) {
	if h.all != nil && len(texts) > 0 {
		h.of(host).Add(texts...)
		h.added(host, texts)
	}
}

// addForAll adds what is hidden whoever says it.
func (h *hider) addForAll(texts []string) {
	h.all.Add(texts...)
	h.added("", texts)
}

// added notes secrets for whoever goes on with the run.
func (h *hider) added(host string, texts []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, text := range texts {
		if !slices.Contains(h.texts[host], text) {
			h.texts[host] = append(h.texts[host], text)
		}
	}
}

// told returns what was added, by host, with "" for all.
func (h *hider) told() map[string][]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.texts)
}

// recall adds what an earlier run has added.
func (h *hider) recall(told map[string][]string) {
	for host, texts := range told {
		switch {
		case h.all == nil:
		case host == "":
			h.addForAll(texts)
		default:
			h.addSecrets(host, texts)
		}
	}
}

// of returns the secrets that a host has named.
func (h *hider) of(host string) *mask.Masker {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.hosts[host]
	if own == nil {
		own = &mask.Masker{}
		h.hosts[host] = own
	}
	return own
}

// hide takes in what an event says is secret, and hides secrets in its result: what is printed around it the display
// hides, and the record what it writes. What the controller has evaluated may have come from another host than the
// one whose step it was.
func (h *hider) hide(e *wire.Event) {
	if h.all == nil {
		return
	}
	o, speaker := e.Outcome, e.Host
	if o != nil && e.Own && o.Delegated != "" {
		speaker = o.Delegated
	}
	said := h.of(speaker)
	if o != nil {
		o.Hidden = said
		if res := o.Said(); len(res.Secrets) > 0 {
			if e.Own {
				h.addForAll(res.Secrets)
			} else {
				h.addSecrets(speaker, res.Secrets)
			}
			res.Secrets = nil
			o.Tell(value.PlainJSON(res.Whole()))
		}
	}
	for _, m := range []*mask.Masker{h.all, said} {
		e.Text = m.Text(e.Text)
		if o != nil {
			hideIn(o, m)
		}
	}
	if o != nil && e.Own {
		h.hideItems(o)
	}
}

// hideItems hides in the results of a loop's items what those hosts have told that have done them for another.
func (h *hider) hideItems(o *wire.Outcome) {
	results, _ := o.Said().Get("results")
	list, _ := results.(*value.List)
	if list == nil || !o.Loop {
		return
	}
	hidden := false
	items := make([]value.Value, len(list.Items))
	for i, item := range list.Items {
		items[i] = item
		d, isDict := item.(*value.Dict)
		if !isDict {
			continue
		}
		by := result.Of(d.Copy()).Delegated.Text("ansible_delegated_host")
		if m := h.of(by); by != "" && m.Holds(value.PlainJSON(d)) {
			items[i], hidden = m.Value(d), true
		}
	}
	if hidden {
		whole := o.Said().Whole()
		whole.Set("results", value.NewList(items...))
		o.Tell(value.PlainJSON(whole))
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

// hiddenResult returns a result without secrets. What errors are about stays as the playbook has it, where its place
// is looked for by it: the display hides what it prints of it.
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
