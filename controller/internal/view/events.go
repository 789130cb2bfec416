package view

import (
	"cmp"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// event is one of the errors that led to a failure, outermost first.
type event struct {
	msg, help string
	Spot
	nowhere bool // no place is told
	// deprecated: it is a deprecation, and no warning.
	deprecated bool
}

// eventsOf reads the events of a result.
func eventsOf(l *value.List) []event {
	if l == nil {
		return nil
	}
	out := []event{}
	for _, item := range l.Items {
		if d, ok := item.(*value.Dict); ok {
			at := Spot{Text: textOf(d, "text"), Key: textOf(d, "key"), File: textOf(d, "file")}
			out = append(out, event{msg: textOf(d, "msg"), help: textOf(d, "help"), Spot: at, nowhere: d.True("nowhere"), deprecated: d.True("deprecated")})
		}
	}
	return out
}

// failure tells why a task failed, as ansible-core 2.19 does: the message, and each of the errors with its place.
func (d *Display) failure(s shown, o Options) {
	events := s.events
	if o.Origin == nil || s.Outcome.NoLog || events != nil && len(events) == 0 {
		return
	}
	if events == nil {
		by := cmp.Or(s.marks.FailedBy, "Action")
		events = []event{{msg: "Task failed."}, {msg: by + " failed."}}
		if msg := textOf(s.res, "msg"); msg != "" {
			events = append(events, event{msg: msg})
		} else if _, told := s.res.Get("msg"); !told {
			events = append(events, event{msg: "Unknown error."})
		}
	}
	drop(s.res, "exception")
	place := placeOf(s.Task)
	d.onceTagged("[ERROR]: ", told(events, func(at Spot) string { return o.Origin(place, at) }), ColorError, o.FailedToStderr)
}

// Origins are the places that a failure is told with, and what templates gave to tell, where failures are told as in ansible-core 2.19.
func (r Result) Origins(origin func(task string, s Spot) string) map[Spot]string {
	if r.Outcome == nil || r.Outcome.NoLog {
		return nil
	}
	s := prepare(r)
	events := append(s.notices, s.events...)
	if bad := s.Outcome.Status; s.events == nil && (bad == wire.StatusFailed || bad == wire.StatusUnreachable) {
		events = append(events, event{})
	}
	var out map[Spot]string
	for _, e := range events {
		if e.nowhere {
			continue
		}
		if out == nil {
			out = map[Spot]string{}
		}
		out[e.Spot] = origin(placeOf(r.Task), e.Spot)
	}
	return out
}

// placeOf is where a task stands, file:line:column; "" if that is not known.
func placeOf(t Task) string {
	if t.Step == nil {
		return ""
	}
	return t.Step.Place
}

// told is the text of events; those of one place are one.
func told(events []event, origin func(Spot) string) string {
	where := make([]string, len(events))
	for i, e := range events {
		if !e.nowhere {
			where[i] = "\n" + origin(e.Spot)
		}
	}
	var segments []string
	for i := 0; i < len(events); {
		help := events[i].help
		j := i + 1
		for ; j < len(events) && where[j] == where[i]; j++ {
			if events[j].help != "" {
				help = events[j].help
			}
		}
		text := chained(events[i:j]) + where[i]
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
