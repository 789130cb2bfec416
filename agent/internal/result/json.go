package result

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

const censoredText = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

// Censored is what may be shown of a result that is not to be logged.
func Censored(res *value.Dict) json.RawMessage {
	d := value.NewDict()
	d.Set("censored", value.Str(censoredText))
	for _, name := range []string{"attempts", "changed", "retries", string(Delegated)} {
		if v, ok := res.Get(name); ok {
			d.Set(name, v)
		}
	}
	return JSON(d)
}

// Shown is a result for the views. Nobody sees invocation before -vvv, so it does not travel.
func Shown(res *value.Dict, invocation bool) json.RawMessage {
	if invocation {
		return JSON(res)
	}
	out := res.Copy()
	out.Delete(value.Str("invocation"))
	if items := itemsOf(res); items != nil {
		l := value.NewList()
		for _, item := range items {
			if d, ok := item.(*value.Dict); ok {
				d = d.Copy()
				d.Delete(value.Str("invocation"))
				item = d
			}
			l.Items = append(l.Items, item)
		}
		out.Set("results", l)
	}
	return JSON(out)
}

// JSON is a value as plain JSON, which is read with value.Decode: lines stand there as in value.EncodeShort, kinds of text and tuples are not told apart, numbers print as Python's.
func JSON(v value.Value) json.RawMessage {
	var b bytes.Buffer
	writeJSON(&b, v)
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, v value.Value) {
	switch v := v.(type) {
	case nil, value.None:
		b.WriteString("null")
	case value.Bool:
		b.WriteString(strconv.FormatBool(bool(v)))
	case value.Int:
		b.WriteString(strconv.FormatInt(int64(v), 10))
	case *value.BigInt:
		b.WriteString(v.Int.String())
	case value.Float:
		writeFloat(b, v)
	case value.Bytes:
		writeText(b, string(v))
	case *value.List:
		writeItems(b, v.Items)
	case *value.Tuple:
		writeItems(b, v.Items)
	case *value.Dict:
		writeDict(b, v)
	default:
		text, ok := value.Text(v)
		if !ok {
			text, _ = value.ToStr(v)
		}
		writeText(b, text)
	}
}

func writeText(b *bytes.Buffer, s string) { value.WriteJSONText(b, s) }

// writeFloat: JSON has no infinities; Python's names for them go as text.
func writeFloat(b *bytes.Buffer, f value.Float) {
	text := value.FloatText(float64(f))
	if strings.ContainsAny(text, "0123456789") {
		b.WriteString(text)
		return
	}
	writeText(b, text)
}

func writeItems(b *bytes.Buffer, items []value.Value) {
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		writeJSON(b, item)
	}
	b.WriteByte(']')
}

func writeDict(b *bytes.Buffer, d *value.Dict) {
	b.WriteByte('{')
	for i := 0; i < d.Len(); i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		k, v := d.Kept(i)
		name, ok := value.Text(k)
		if !ok {
			name, _ = value.ToStr(k)
		}
		writeText(b, name)
		b.WriteByte(':')
		if l, ok := v.(*value.Lines); ok {
			if l.Write(b, d, name) {
				continue
			}
			v = l.List()
		}
		writeJSON(b, v)
	}
	b.WriteByte('}')
}
