package record

import (
	"bytes"
	"encoding/json"
	"strings"

	"hark/agent/wire"
	"hark/controller/internal/view"
	"hark/modules/py/value"
)

// shown is of a result what may be kept: nothing of facts, under no_log what a view would show, and where the screen shows only how it came
// out nothing but that.
func (o RecorderOptions) shown(k Kind, r view.Result) json.RawMessage {
	raw := r.Outcome.Result
	failed := k != KindRetry && (r.Outcome.Status == wire.StatusFailed || r.Outcome.Status == wire.StatusUnreachable) // the screen has it whole
	o.Facts = o.Facts || failed
	if o.Brief && !failed && !bytes.Contains(raw, []byte(`"_ansible_verbose_always":true`)) {
		raw = briefed(raw, r.Task.Diff)
	}
	hidden := r.Outcome.NoLog || r.Task.NoLog || mayHide(raw)
	facts := bytes.Contains(raw, []byte(`ansible_facts"`)) && !(o.Facts && setsFacts(r.Task.Action))
	if !hidden && !facts {
		return raw
	}
	v, err := value.Decode(raw, value.KindStr)
	d, ok := v.(*value.Dict)
	if err != nil || !ok {
		return nil // views show it as empty
	}
	if hidden {
		d = view.Censored(d, r.Outcome.NoLog || r.Task.NoLog)
	}
	if facts {
		o.dropFacts(d)
	}
	text, err := value.EncodeShort(d)
	if err != nil {
		return nil
	}
	return text
}

// mayHide tells whether a result may say that it is hidden. Most say that they are not.
func mayHide(raw []byte) bool {
	for mark := []byte(`"_ansible_no_log"`); ; {
		_, rest, found := bytes.Cut(raw, mark)
		if !found {
			return false
		}
		if raw = bytes.TrimLeft(rest, ": "); !bytes.HasPrefix(raw, []byte("false")) {
			return true
		}
	}
}

// setsFacts tells the action whose facts are variables that the playbook names.
func setsFacts(action string) bool {
	return action[strings.LastIndexByte(action, '.')+1:] == "set_fact"
}

// interpreter is the fact by which Ansible says which Python it found: it comes with results of any module, and is none of the host's.
const interpreter = "discovered_interpreter_python"

// dropFacts takes facts out of a result and out of the items of its loop.
func (o RecorderOptions) dropFacts(d *value.Dict) {
	facts, _ := d.Get("ansible_facts")
	of, _ := facts.(*value.Dict)
	kept := value.NewDict()
	if of != nil && o.Facts {
		if python, ok := of.Get(interpreter); ok {
			kept.Set(interpreter, python)
		}
	}
	if kept.Len() > 0 || of != nil && of.Len() == 0 { // that there were none is no fact
		d.Set("ansible_facts", kept)
	} else {
		d.Delete(value.Str("ansible_facts"))
	}
	items, _ := d.Get("results")
	if list, ok := items.(*value.List); ok {
		for _, item := range list.Items {
			if d, ok := item.(*value.Dict); ok {
				o.dropFacts(d)
			}
		}
	}
}
