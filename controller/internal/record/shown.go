package record

import (
	"bytes"
	"encoding/json"
	"strings"

	"hark/controller/internal/view"
	"hark/playbook/jinja/value"
)

// shown is of a result what may be kept: nothing of facts, and under no_log what a view would show.
func (o RecorderOptions) shown(r view.Result) json.RawMessage {
	raw := r.Outcome.Result
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
		dropFacts(d)
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

// dropFacts takes facts out of a result and out of the items of its loop.
func dropFacts(d *value.Dict) {
	d.Delete(value.Str("ansible_facts"))
	items, _ := d.Get("results")
	if list, ok := items.(*value.List); ok {
		for _, item := range list.Items {
			if d, ok := item.(*value.Dict); ok {
				dropFacts(d)
			}
		}
	}
}
