package agent

import (
	"bytes"
	"encoding/json"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// largeEvent is from how many bytes on it matters how often an event is copied while it is encoded.
const largeEvent = 256 << 10

// eventJSON is an event as encoding/json has it, on one line. The result and the variables of a large one are written once, into a buffer that
// has room for them: encoding/json copies what encodes itself, several times as its buffer grows.
func eventJSON(e *wire.Event) ([]byte, error) {
	o := e.Outcome
	if o == nil {
		return json.Marshal(e)
	}
	size := len(o.Result)
	for _, f := range o.Effects {
		size += value.ShortSize(f.Vars.Dict)
	}
	if size < largeEvent || len(o.Result) == 0 {
		return json.Marshal(e)
	}
	bare, outcome := *e, *o
	bare.Outcome, outcome.Result, outcome.Effects = nil, json.RawMessage("null"), nil
	around, err := json.Marshal(bare)
	if err != nil {
		return nil, err
	}
	within, err := json.Marshal(outcome)
	if err != nil {
		return nil, err
	}
	const mark = `"result":null`
	before, after, _ := bytes.Cut(within, []byte(mark))
	var b bytes.Buffer
	b.Grow(size + len(around) + len(within) + 128*(1+len(o.Effects)))
	b.Write(open(around))
	b.WriteString(`,"outcome":`)
	b.Write(before)
	b.WriteString(`"result":`)
	b.Write(o.Result)
	b.Write(open(after))
	if len(o.Effects) > 0 {
		b.WriteString(`,"effects":[`)
		for i, f := range o.Effects {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeEffect(&b, f); err != nil {
				return nil, err
			}
		}
		b.WriteByte(']')
	}
	b.WriteString("}}")
	return b.Bytes(), nil
}

// open is an object without its end.
func open(object []byte) []byte { return bytes.TrimSuffix(object, []byte("}")) }

func writeEffect(b *bytes.Buffer, f wire.Effect) error {
	vars := f.Vars.Dict
	f.Vars = plan.Dict{}
	bare, err := json.Marshal(f)
	if err != nil || vars == nil {
		b.Write(bare)
		return err
	}
	b.Write(open(bare))
	b.WriteString(`,"vars":`)
	if err := value.WriteShort(b, vars); err != nil {
		return err
	}
	b.WriteByte('}')
	return nil
}
