package wire

import (
	"bytes"
	"encoding/json"
	"time"

	"hark/playbook/plan"
)

// scanned are bodies that a controller reads in large numbers. If an agent wrote them, scan reads them without
// encoding/json, which takes several times as long. It returns false for any other form, and keeps nothing of it then.
type scanned interface{ scan(raw []byte) bool }

// usualEvents is how many events a batch usually has at most: that a step has begun, that it is done, and the end.
const usualEvents = 3

// scan reads a batch.
func (b *Batch) scan(raw []byte) bool {
	s, in := scanner{rest: raw}, Batch{}
	s.object(func(name []byte) {
		switch string(name) {
		case "life":
			in.Life = string(s.text())
		case "turn":
			in.Turn = uint64(s.number())
		case "left":
			in.Left = s.truth()
		case "late":
			in.Late = time.Duration(s.number())
		case "run":
			in.Run = string(s.text())
		case "host":
			in.Host = string(s.text())
		case "events":
			s.once(in.Events == nil)
			in.Events = make([]Event, 0, usualEvents)
			s.list(func() { in.Events = append(in.Events, s.event(&in)) })
		case "ack":
			s.once(in.Ack == nil)
			in.Ack = s.ack()
		default:
			s.failed = true
		}
	})
	if s.failed || len(s.rest) > 0 {
		return false
	}
	*b = in
	return true
}

// event reads an event of a batch.
func (s *scanner) event(of *Batch) (e Event) {
	s.object(func(name []byte) {
		switch string(name) {
		case "run":
			e.Run = s.like(of.Run)
		case "play":
			e.Play = string(s.text())
		case "host":
			e.Host = s.like(of.Host)
		case "seq":
			e.Seq = uint64(s.number())
		case "kind":
			e.Kind = EventKind(s.text())
		case "time":
			s.failed = e.Time.UnmarshalText(s.text()) != nil || s.failed
		case "outcome":
			s.once(e.Outcome == nil)
			e.Outcome = s.outcome()
		default:
			s.rare(&e, name)
		}
	})
	return e
}

// rare reads a member that few events have.
func (s *scanner) rare(e *Event, name []byte) {
	switch string(name) {
	case "step":
		e.Step = plan.ID(s.text())
	case "name":
		e.Name = string(s.text())
	case "next":
		e.Next = plan.ID(s.text())
	case "state":
		e.State = HostState(s.text())
	case "text":
		e.Text = string(s.text())
	case "every":
		e.Every = time.Duration(s.number())
	case "stderr":
		e.Stderr = s.truth()
	case "adopted":
		e.Adopted = s.truth()
	default:
		s.failed = true
	}
}

// outcome reads an outcome with the members that most have; any other member makes the scan fail.
func (s *scanner) outcome() *Outcome {
	o := &Outcome{}
	s.object(func(name []byte) {
		switch string(name) {
		case "status":
			o.Status = Status(s.text())
		case "result":
			if raw := s.value(); !s.failed && json.Valid(raw) {
				o.Result = bytes.Clone(raw)
				return
			}
			s.failed = true
		case "effects":
			s.once(o.Effects == nil)
			s.failed = s.failed || json.Unmarshal(s.value(), &o.Effects) != nil
		case "ignored":
			o.Ignored = s.truth()
		case "loop":
			o.Loop = s.truth()
		default:
			s.failed = true
		}
	})
	return o
}

func (s *scanner) ack() *Ack {
	a := &Ack{}
	s.object(func(name []byte) {
		switch string(name) {
		case "run":
			a.Run = string(s.text())
		case "host":
			a.Host = string(s.text())
		case "life":
			a.Life = string(s.text())
		case "ends":
			a.Ends = s.truth()
		case "hears":
			a.Hears = s.truth()
		case "each":
			a.Each = s.truth()
		default:
			s.failed = true
		}
	})
	return a
}

// scan reads a hello.
func (h *Hello) scan(raw []byte) bool {
	s, in := scanner{rest: raw}, Hello{}
	s.object(func(name []byte) {
		switch string(name) {
		case "id":
			in.ID = string(s.text())
		case "name":
			in.Name = string(s.text())
		case "version":
			in.Version = string(s.text())
		case "proto":
			in.Proto = int(s.number())
		case "os":
			in.OS = string(s.text())
		case "arch":
			in.Arch = string(s.text())
		case "boot":
			in.Boot = string(s.text())
		case "started":
			s.failed = in.Started.UnmarshalText(s.text()) != nil || s.failed
		case "xkey":
			in.XKey = string(s.text())
		case "joint":
			in.Joint = s.truth()
		default:
			s.failed = true
		}
	})
	if s.failed || len(s.rest) > 0 {
		return false
	}
	*h = in
	return true
}

// object reads an object that is not empty. It calls member for each name.
func (s *scanner) object(member func(name []byte)) {
	if !s.take('{') {
		s.failed = true
	}
	for !s.failed {
		name := s.text()
		if s.failed = s.failed || !s.take(':'); s.failed {
			return
		}
		member(name)
		if s.take('}') {
			return
		}
		s.failed = s.failed || !s.take(',')
	}
}

// list reads a list that is not empty.
func (s *scanner) list(element func()) {
	if !s.take('[') {
		s.failed = true
	}
	for !s.failed {
		element()
		if s.take(']') {
			return
		}
		s.failed = s.failed || !s.take(',')
	}
}

// once fails on a second occurrence: encoding/json would merge the two.
func (s *scanner) once(first bool) { s.failed = s.failed || !first }

// like reads a text that is usually the one given, which saves a copy.
func (s *scanner) like(text string) string {
	if got := s.text(); string(got) != text {
		return string(got)
	}
	return text
}

// truth reads true or false.
func (s *scanner) truth() bool {
	for _, word := range []string{"true", "false"} {
		if rest, ok := bytes.CutPrefix(s.rest, []byte(word)); ok {
			s.rest = rest
			return word == "true"
		}
	}
	s.failed = true
	return false
}

// value reads an object or a list as raw JSON.
func (s *scanner) value() []byte {
	depth, within := 0, false
	for i := 0; i < len(s.rest) && !s.failed; i++ {
		switch c := s.rest[i]; {
		case within && c == '\\':
			i++
		case c == '"':
			within = !within
		case within:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth <= 0 {
			s.failed = depth < 0 || i == 0
			if s.failed {
				break
			}
			text := s.rest[:i+1]
			s.rest = s.rest[i+1:]
			return text
		}
	}
	s.failed = true
	return nil
}
