package foreign

import (
	"strings"

	"hark/modules"
)

// Since ansible-core 2.19 modules tell of errors, warnings and deprecations as objects of Ansible's own types, which name their type. Playbooks
// and views see what they were before: texts, and mappings of plain values.

// Raised is what the message of a module that has raised something begins with.
const Raised = "Task failed: Module failed: "

// typeKey is the key of an object that names its type.
const typeKey = "__ansible_type"

// plainResult takes the types out of what a module has returned.
func plainResult(data map[string]any) {
	if o, ok := data["exception"].(modules.Object); ok {
		event, _ := o.Map()["event"].(modules.Object)
		delete(data, "exception")
		if trace := traceback(event, 0); trace != "" {
			data["exception"] = trace
		}
		if _, ok := data["msg"]; !ok {
			data["msg"] = Raised + brief(event, 0)
		}
	}
	for key, v := range data {
		data[key] = plain(v)
	}
}

// plain is a value without types, at any depth.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case modules.Object:
		if i := index(v, typeKey); i >= 0 {
			return ofType(v, modules.Str(v[i].Value))
		}
		for i := range v {
			v[i].Value = plain(v[i].Value)
		}
	}
	return v
}

// ofType is the plain value of an object of a type.
func ofType(o modules.Object, name string) any {
	m := o.Map()
	event, _ := m["event"].(modules.Object)
	switch name {
	case "WarningSummary", "ErrorSummary":
		return brief(event, 0)
	case "DeprecationSummary":
		out := modules.Object{{Key: "msg", Value: brief(event, 0)}}
		by, _ := m["deprecator"].(modules.Object)
		if of := by.Map(); of["resolved_name"] != nil {
			out = append(out, modules.Member{Key: "collection_name", Value: of["resolved_name"]})
		}
		for _, key := range []string{"date", "version", "deprecator"} {
			if m[key] != nil {
				out = append(out, modules.Member{Key: key, Value: plain(m[key])})
			}
		}
		return out
	}
	if v, ok := m["value"]; ok { // with tags, or one of an enumeration
		return plain(v)
	}
	out := make(modules.Object, 0, len(o))
	for _, member := range o {
		if member.Key != typeKey {
			out = append(out, modules.Member{Key: member.Key, Value: plain(member.Value)})
		}
	}
	return out
}

func index(o modules.Object, key string) int {
	for i := range o {
		if o[i].Key == key {
			return i
		}
	}
	return -1
}

// maxChain bounds the causes that a module tells of.
const maxChain = 20

// brief is what an event says, and what it was caused by, on one line.
func brief(event modules.Object, depth int) string {
	m := event.Map()
	text := modules.Str(m["msg"])
	if cause, follow := causeOf(m); follow && depth < maxChain {
		if more := brief(cause, depth+1); more != "" && !strings.Contains(text, strings.TrimSuffix(more, ".")) {
			text = strings.TrimSuffix(text, ".") + ": " + more
		}
	}
	return text
}

// causeOf is the event before this one, and whether it is told in short texts too.
func causeOf(event map[string]any) (modules.Object, bool) {
	chain, _ := event["chain"].(modules.Object)
	m := chain.Map()
	cause, ok := m["event"].(modules.Object)
	return cause, ok && m["follow"] != false
}

// traceback is where an event came from, its causes first; "" if that was not told.
func traceback(event modules.Object, depth int) string {
	m := event.Map()
	trace, _ := m["formatted_traceback"].(string)
	cause, _ := causeOf(m)
	if len(cause) == 0 || depth >= maxChain {
		return trace
	}
	before := traceback(cause, depth+1)
	if before == "" || trace == "" {
		return before + trace
	}
	chain, _ := m["chain"].(modules.Object)
	return before + "\n" + modules.Str(chain.Map()["traceback_reason"]) + "\n\n" + trace
}
