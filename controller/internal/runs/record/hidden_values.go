package record

import (
	"bytes"
	"encoding/json"
	"strings"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/modules/result"
)

// shown returns what may be kept of a result: no facts, under no_log what a view would show, and only the status where
// the screen shows no more.
func (o RecorderOptions) shown(k Kind, r view.Result) json.RawMessage {
	raw := result.Raw(r.Outcome.Result)
	// the screen shows all of it
	failed := k != KindRetry && (r.Outcome.Status == wire.StatusFailed || r.Outcome.Status == wire.StatusUnreachable)
	o.Facts = o.Facts || failed
	brief := o.Brief && !failed && !raw.Verbose()
	hidden := r.Outcome.NoLog || r.Task.NoLog || raw.MayHide()
	facts := bytes.Contains(raw, []byte(`ansible_facts"`)) && !(o.Facts && setsFacts(r.Task.Action))
	text := json.RawMessage(raw)
	if hidden || facts {
		d := r.Visible().Whole()
		if facts {
			d = o.withoutFacts(d)
		}
		var err error
		if text, err = value.EncodeShort(d); err != nil {
			return nil // views show it as empty
		}
	}
	if brief {
		return briefed(text, r.Task.Diff)
	}
	return text
}

// setsFacts reports whether an action's facts are variables that the playbook names.
func setsFacts(action string) bool {
	return action[strings.LastIndexByte(action, '.')+1:] == "set_fact"
}

// interpreter is the fact of the Python that Ansible found: it comes with results of any module.
const interpreter = "discovered_interpreter_python"

// withoutFacts returns a result without facts, also in the items of its loop.
func (o RecorderOptions) withoutFacts(d *value.Dict) *value.Dict {
	d = d.Copy()
	facts, _ := d.Get("ansible_facts")
	of, _ := facts.(*value.Dict)
	kept := value.NewDict()
	if of != nil && o.Facts {
		if python, ok := of.Get(interpreter); ok {
			kept.Set(interpreter, python)
		}
	}
	if kept.Len() > 0 || of != nil && of.Len() == 0 { // keep an empty mapping as it was
		d.Set("ansible_facts", kept)
	} else {
		d.Delete(value.Str("ansible_facts"))
	}
	items, _ := d.Get("results")
	if list, ok := items.(*value.List); ok {
		bare := value.NewList()
		for _, item := range list.Items {
			if d, ok := item.(*value.Dict); ok {
				item = o.withoutFacts(d)
			}
			bare.Items = append(bare.Items, item)
		}
		d.Set("results", bare)
	}
	return d
}
