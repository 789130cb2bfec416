package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hark/agent/wire"
	"hark/modules/py/value"
)

// event is one of the errors that led to a failure, outermost first.
type event struct {
	msg, help string
	Spot
	nowhere bool // no place is told
	unsaid  bool // it is not told, but what it is about is
	apart   bool // it is no part of the line before it, though it is about the same
	// deprecated: it is a deprecation, and no warning; until is the ansible-core that does not have it any more.
	deprecated bool
	until      string
	// parts are failures that it sums up, each with the errors that led to it; before is what is said between it and
	// the events that follow.
	parts  [][]event
	before string
	// of is the value whose place the message names; nil for most.
	of *Spot
}

// nowhereKnown is what a message says where the place of a value is to be told.
const nowhereKnown = "'<unknown>'"

// ofValue returns the value of an event that is about at.
func ofValue(d *value.Dict, at Spot) *Spot {
	if !d.True("of") {
		return nil
	}
	at.Var = textOf(d, "var")
	item, _ := d.Get("item")
	if n, ok := value.AsInt(item); ok {
		at.Item = int(n)
	}
	return &at
}

// place names in messages of events, and in the result that repeats them, the places of the values that they are about.
func place(events []event, res *value.Dict, origin func(Spot) string) {
	for i, e := range events {
		if e.of == nil {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(origin(*e.of), "Origin: "), "\n")
		msg := strings.Replace(e.msg, nowhereKnown, value.ReprText(first), 1)
		events[i].msg = msg
		for _, k := range res.Keys() {
			v, _ := res.GetKey(k)
			if text, ok := value.Text(v); ok && strings.Contains(text, e.msg) {
				res.SetKey(k, value.UnsafeStr(strings.Replace(text, e.msg, msg, 1)))
			}
		}
	}
}

// eventsOf reads the events of a result.
func eventsOf(l *value.List) []event {
	if l == nil {
		return nil
	}
	out := []event{}
	for _, item := range l.Items {
		if d, ok := item.(*value.Dict); ok {
			at := Spot{Text: textOf(d, "text"), Key: textOf(d, "key"), Name: textOf(d, "name"), File: textOf(d, "file"),
				Value: d.True("value")}
			out = append(out, event{of: ofValue(d, at), msg: textOf(d, "msg"), help: textOf(d, "help"), Spot: at,
				nowhere: d.True("nowhere"), apart: d.True("apart"), unsaid: d.True("unsaid"), deprecated: d.True("deprecated"),
				until: textOf(d, "until"), parts: partsOf(d), before: textOf(d, "before")})
		}
	}
	return out
}

// partsOf returns the failures that an event sums up.
func partsOf(d *value.Dict) [][]event {
	v, _ := d.Get("parts")
	list, _ := v.(*value.List)
	if list == nil {
		return nil
	}
	var out [][]event
	for _, item := range list.Items {
		if part, ok := item.(*value.List); ok {
			out = append(out, eventsOf(part))
		}
	}
	return out
}

// failure explains why a task failed, as ansible-core 2.19 does: the message, and each of the errors with its place.
func (d *Display) failure(s shown, o Options) {
	events := s.events
	if o.Origin == nil || s.Outcome.NoLog || events != nil && len(events) == 0 {
		return
	}
	origin := s.origin(o.Origin)
	place(events, s.res, origin)
	if len(events) == 1 && events[0].unsaid {
		events = nil
	}
	if events == nil {
		by := cmp.Or(s.marks.FailedBy, "Action")
		events = []event{{msg: "Task failed."}, {msg: by + " failed."}}
		if msg := textOf(s.res, "msg"); msg != "" {
			events = append(events, event{msg: msg})
		} else if v, told := s.res.Get("msg"); !told {
			events = append(events, event{msg: "Unknown error."})
		} else if value.IsNone(v) {
			events = append(events, event{msg: "None"})
		}
	}
	if unwritten(s.Task) {
		events = slices.Clone(events)
		for i := range events {
			events[i].nowhere = events[i].nowhere || events[i].Spot == Spot{}
		}
	}
	drop(s.res, "exception")
	d.onceTagged("[ERROR]: ", eventsText(events, origin), ColorError, o.FailedToStderr)
}

// origin returns positions of the result's task, without what its host named as secret.
func (r Result) origin(by func(task string, s Spot) string) func(at Spot) string {
	return func(at Spot) string { return r.Outcome.Hidden.Text(by(placeOf(r.Task), at)) }
}

// Origins returns the places that a failure is told with, and what templates gave to tell, where failures are told as
// in ansible-core 2.19.
func (r Result) Origins(origin func(task string, s Spot) string) map[Spot]string {
	if r.Outcome == nil || r.Outcome.NoLog {
		return nil
	}
	s, at := prepare(r), r.origin(origin)
	events := append(s.notices, s.events...)
	if bad := s.Outcome.Status; s.events == nil && (bad == wire.StatusFailed || bad == wire.StatusUnreachable) {
		events = append(events, event{})
	}
	var out map[Spot]string
	for _, e := range events {
		for _, part := range e.parts {
			events = append(events, part...)
		}
	}
	for _, e := range events {
		if e.nowhere {
			continue
		}
		if out == nil {
			out = map[Spot]string{}
		}
		out[e.Spot] = at(e.Spot)
		if e.of != nil {
			out[*e.of] = origin(placeOf(r.Task), *e.of)
		}
	}
	return out
}

// unwritten reports whether a task is written nowhere: the gathering of facts before a play. Its position is the
// play's.
func unwritten(t Task) bool { return t.Step != nil && t.Step.Implicit }

// placeOf returns where a task stands, file:line:column; "" if that is not known.
func placeOf(t Task) string {
	if t.Step == nil {
		return ""
	}
	return t.Step.Place
}

const causedBy = "\n\n<<< caused by >>>\n\n"

// eventsText returns the text of events.
func eventsText(events []event, origin func(Spot) string) string {
	if head := events[0]; head.parts != nil {
		text := head.msg + "\n" + summed(head.parts, origin)
		if rest := events[1:]; len(rest) > 0 {
			text = chained(events) + "\n\n" + text + "\n\n" + head.before + "\n\n" +
				strings.Join(segments(rest, origin), causedBy)
		}
		return text
	}
	list := segments(events, origin)
	text := strings.Join(list, causedBy)
	if len(list) > 1 {
		text = chained(events) + "\n\n" + text
	}
	return text
}

// summed returns the text of failures that one sums up.
func summed(parts [][]event, origin func(Spot) string) string {
	var b strings.Builder
	for i, part := range parts {
		fmt.Fprintf(&b, "\n+--[ Sub-Event %d of %d ]---\n| \n", i+1, len(parts))
		for line := range strings.SplitSeq(eventsText(part, origin), "\n") {
			b.WriteString("| " + line + "\n")
		}
		b.WriteString("| ")
	}
	return b.String() + "\n+--[ End Sub-Event ]---"
}

// segments returns the texts of events; those that tell the same of where and what can be done are one.
func segments(events []event, origin func(Spot) string) []string {
	where := make([]string, len(events))
	for i, e := range events {
		if !e.nowhere {
			where[i] = "\n" + origin(e.Spot)
		}
	}
	var out []string
	for i := 0; i < len(events); {
		j := i + 1
		for ; j < len(events) && !events[j].apart; j++ {
			silent := where[j] == "" && events[j].help == ""
			if !silent && (where[j] != where[i] || events[j].help != events[i].help) {
				break
			}
		}
		text, help := chained(events[i:j])+where[i], events[i].help
		switch {
		case help != "" && where[i] == "" && !strings.Contains(text+help, "\n"):
			text += " " + help
		case help != "":
			text += "\n\n" + help
		}
		out = append(out, text)
		i = j
	}
	return out
}

// chained returns the message of all events in one line.
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
