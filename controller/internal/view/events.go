package view

import (
	"strings"

	"hark/modules/py/value"
)

// event is one of the errors that led to a failure, outermost first.
type event struct {
	msg, at, help string
}

// eventsOf reads the events of a result.
func eventsOf(res *value.Dict) []event {
	v, _ := res.Get("_ansible_events")
	l, ok := v.(*value.List)
	if !ok {
		return nil
	}
	var out []event
	for _, item := range l.Items {
		parts, _ := item.(*value.List)
		if parts == nil || len(parts.Items) < 3 {
			continue
		}
		out = append(out, event{msg: pyText(parts.Items[0]), at: pyText(parts.Items[1]), help: pyText(parts.Items[2])})
	}
	return out
}

// failure tells why a task failed, as ansible-core 2.19 does: the message, and each of the errors with its place.
func (d *Display) failure(s shown, o Options) {
	if o.Origin == nil || s.Outcome.NoLog {
		return
	}
	events := s.events
	if events == nil {
		by := s.failedBy
		if by == "" {
			by = "Action"
		}
		events = []event{{msg: "Task failed."}, {msg: by + " failed."}}
		if msg := textOf(s.res, "msg"); msg != "" {
			events = append(events, event{msg: msg})
		}
	}
	drop(s.res, "exception")
	place := ""
	if s.Task.Step != nil {
		place = s.Task.Step.Place
	}
	d.onceTagged("[ERROR]: ", told(events, func(at string) string { return o.Origin(place, at) }), ColorError, o.FailedToStderr)
}

// told is the text of events; those of one place are one.
func told(events []event, origin func(at string) string) string {
	var segments []string
	for i := 0; i < len(events); {
		where, help := origin(events[i].at), events[i].help
		j := i + 1
		for j < len(events) && origin(events[j].at) == where {
			if events[j].help != "" {
				help = events[j].help
			}
			j++
		}
		text := chained(events[i:j]) + "\n" + where
		if help != "" {
			text += "\n\n" + help
		}
		segments = append(segments, text)
		i = j
	}
	text := strings.Join(segments, "\n\n<<< caused by >>>\n\n")
	if len(segments) > 1 {
		text = chained(events) + "\n\n" + text
	}
	return text
}

// chained is the message of all events in one line.
func chained(events []event) string {
	msg := events[len(events)-1].msg
	for i := len(events) - 2; i >= 0; i-- {
		if outer := events[i].msg; strings.HasSuffix(outer, msg) {
			msg = outer
		} else {
			msg = strings.TrimRight(outer, ".") + ": " + msg
		}
	}
	return msg
}
