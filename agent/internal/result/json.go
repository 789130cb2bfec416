package result

import (
	"encoding/json"

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

// JSON is a value as value.PlainJSON writes it.
func JSON(v value.Value) json.RawMessage { return value.PlainJSON(v) }
