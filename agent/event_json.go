package agent

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// eventJSON returns an event as encoding/json has it, on one line. There are two of each task, so it is written by
// hand as far as every event goes, and the result and the variables, which may be large, once, into a buffer that has
// room for them: encoding/json copies what encodes itself, several times as its buffer grows.
func eventJSON(e *wire.Event) ([]byte, error) {
	o := e.Outcome
	size := 256 + len(e.Name) + len(e.Text)
	if o != nil {
		size += 128*(1+len(o.Effects)) + len(o.Result)
		for _, f := range o.Effects {
			size += value.ShortSize(f.Vars.Dict)
		}
	}
	head := append(make([]byte, 0, size), `{"run":`...)
	head = appendText(head, e.Run)
	head = appendText(append(head, `,"play":`...), e.Play)
	head = appendText(append(head, `,"host":`...), e.Host)
	head = strconv.AppendUint(append(head, `,"seq":`...), e.Seq, 10)
	head = appendText(append(head, `,"kind":`...), string(e.Kind))
	head = appendMember(head, "step", string(e.Step))
	head = appendMember(head, "name", e.Name)
	head, err := e.Time.AppendText(append(head, `,"time":"`...))
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(append(head, '"'))
	if o != nil {
		b.WriteString(`,"outcome":`)
		if err := writeOutcome(b, o); err != nil {
			return nil, err
		}
	}
	return eventEnd(b.Bytes(), e), nil
}

// eventEnd adds what comes after the outcome.
func eventEnd(b []byte, e *wire.Event) []byte {
	b = appendMember(b, "next", string(e.Next))
	b = appendMember(b, "state", string(e.State))
	b = appendMember(b, "text", e.Text)
	if e.Every != 0 {
		b = strconv.AppendInt(append(b, `,"every":`...), int64(e.Every), 10)
	}
	if e.Stderr {
		b = append(b, `,"stderr":true`...)
	}
	if e.Adopted {
		b = append(b, `,"adopted":true`...)
	}
	return append(b, '}')
}

// appendMember adds a member of an object that is left out where it says nothing.
func appendMember(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return appendText(b, text)
}

// appendText adds a text as JSON.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // text always encodes
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// writeOutcome writes an outcome, its result and its variables as they are.
func writeOutcome(b *bytes.Buffer, o *wire.Outcome) error {
	bare := *o
	bare.Result, bare.Effects = nil, nil
	within, err := json.Marshal(bare)
	if err != nil {
		return err
	}
	const mark = `"result":null`
	before, after, _ := bytes.Cut(within, []byte(mark))
	b.Write(before)
	b.WriteString(`"result":`)
	if len(o.Result) == 0 {
		b.WriteString("null")
	}
	b.Write(o.Result)
	b.Write(open(after))
	if len(o.Effects) > 0 {
		b.WriteString(`,"effects":[`)
		for i, f := range o.Effects {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeEffect(b, f); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
	return nil
}

// open returns an object without its end.
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
