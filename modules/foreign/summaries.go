package foreign

import (
	"strings"

	"hark/modules"
	"hark/modules/py/value"
)

// Since ansible-core 2.19 modules tell of errors, warnings and deprecations as objects of Ansible's own types, which
// name their type. Playbooks and views see what they were before: texts, and mappings of plain values.

// Raised is what the message of a module that has raised something begins with.
const Raised = modules.Uncaught

// typeKey is the key of an object that names its type.
const typeKey = "__ansible_type"

// plainResult returns what a module has returned without types.
func plainResult(data *value.Dict) *value.Dict {
	if o := part(data, "exception"); o != nil {
		event := part(o, "event")
		data.Delete(value.Str("exception"))
		if trace := traceback(event, 0); trace != "" {
			data.Put("exception", trace)
		}
		if !data.Has("msg") {
			data.Put("msg", Raised+brief(event, 0))
		}
	}
	return plainEntries(data)
}

// part returns the object under a key, nil if there is none.
func part(d *value.Dict, key string) *value.Dict {
	v, _ := d.Get(key)
	o, _ := v.(*value.Dict)
	return o
}

// plain returns a value without types, at any depth.
func plain(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		for i := range v.Items {
			v.Items[i] = plain(v.Items[i])
		}
	case *value.Dict:
		if name, ok := v.Get(typeKey); ok {
			return ofType(v, value.Printed(name))
		}
		return plainEntries(v)
	}
	return v
}

func plainEntries(d *value.Dict) *value.Dict {
	out := value.NewDict()
	d.Each(func(k, v value.Value) bool { return out.SetKey(k, plain(v)) })
	return out
}

// ofType returns the plain value of an object of a type.
func ofType(o *value.Dict, name string) value.Value {
	switch name {
	case "WarningSummary", "ErrorSummary":
		return value.UnsafeStr(brief(part(o, "event"), 0))
	case "DeprecationSummary":
		out := value.DictOf("msg", brief(part(o, "event"), 0))
		if by, _ := part(o, "deprecator").Get("resolved_name"); by != nil && !value.IsNone(by) {
			out.Put("collection_name", by)
		}
		for _, key := range []string{"date", "version", "deprecator"} {
			if v, _ := o.Get(key); v != nil && !value.IsNone(v) {
				out.Put(key, plain(v))
			}
		}
		return out
	}
	if v, ok := o.Get("value"); ok { // with tags, or one of an enumeration
		return plain(v)
	}
	o.Delete(value.Str(typeKey))
	return plainEntries(o)
}

// maxChain bounds the causes that a module reports.
const maxChain = 20

// brief returns what an event says, and what it was caused by, on one line.
func brief(event *value.Dict, depth int) string {
	v, _ := event.Get("msg")
	text := value.Printed(value.OrNone(v))
	if cause, follow := causeOf(event); follow && depth < maxChain {
		if more := brief(cause, depth+1); more != "" && !strings.Contains(text, strings.TrimSuffix(more, ".")) {
			text = strings.TrimSuffix(text, ".") + ": " + more
		}
	}
	return text
}

// causeOf returns the event before this one, and whether it is told in short texts too.
func causeOf(event *value.Dict) (cause *value.Dict, told bool) {
	chain := part(event, "chain")
	cause = part(chain, "event")
	follow, _ := chain.Get("follow")
	return cause, cause != nil && follow != value.Bool(false)
}

// traceback returns where an event came from, its causes first; "" if that was not told.
func traceback(event *value.Dict, depth int) string {
	trace := event.Text("formatted_traceback")
	cause, _ := causeOf(event)
	if cause.Len() == 0 || depth >= maxChain {
		return trace
	}
	before := traceback(cause, depth+1)
	if before == "" || trace == "" {
		return before + trace
	}
	reason, _ := part(event, "chain").Get("traceback_reason")
	return before + "\n" + value.Printed(value.OrNone(reason)) + "\n\n" + trace
}
