package admit

import (
	"bytes"
	"encoding/json"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/result"
)

// small is the length in bytes up to which an answer is read without estimating its memory first.
const small = 64 << 10

// Result takes in the result of a call: what a host has said, for a step of its own or of another host's. Secrets that
// it names are its own; of the marks that the controller goes by it may set those that modules set. The error is that
// it says too much.
func (d *Admission) Result(e *wire.Exec, raw json.RawMessage) (json.RawMessage, error) {
	weight := len(raw)
	if len(raw) > small {
		weight = value.Weight(raw)
	}
	d.mu.Lock()
	fits := d.accounts.fly(e.Host, e.Origin, e.Step, weight)
	d.mu.Unlock()
	if !fits {
		return nil, tooMuch(e.Host)
	}
	if !result.MayHaveMarks(raw) {
		return raw, nil
	}
	return d.unmarked(e.Host, raw), nil
}

// unmarked returns a result without the marks that no module sets, and without the secrets that a host names in it.
func (d *Admission) unmarked(host string, raw json.RawMessage) json.RawMessage {
	in := json.NewDecoder(bytes.NewReader(raw))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return raw
	}
	out, dropped := append(make([]byte, 0, len(raw)), '{'), false
	for in.More() {
		key, err := in.Token()
		var member json.RawMessage
		if err == nil {
			err = in.Decode(&member)
		}
		if err != nil {
			return raw // it is no result, which is said where it is read
		}
		name, _ := key.(string)
		if name == result.NewSecrets {
			d.secrets(host, member)
		}
		if name == result.NewSecrets || result.OfHouse(name) {
			dropped = true
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		text, _ := json.Marshal(name)
		out = append(append(append(out, text...), ':'), member...)
	}
	if !dropped {
		return raw
	}
	return append(out, '}')
}

// secrets returns what a host says is secret.
func (d *Admission) secrets(host string, list json.RawMessage) {
	v, _ := value.Decode(list, value.KindUnsafe)
	texts, ok := v.(*value.List)
	if !ok || d.c.Secrets == nil {
		return
	}
	var all []string
	for _, item := range texts.Items {
		if text, ok := value.Text(item); ok {
			all = append(all, text)
		}
	}
	d.c.Secrets(host, all)
}
