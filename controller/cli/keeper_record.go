package cli

import (
	"errors"

	"hark/controller/internal/runs/record"
)

// heldSink holds the record of a keeper's turn back until it is known that it tells something: a clean turn leaves no
// record, since there are many. One that becomes large is written at once.
type heldSink struct {
	sink  record.Sink
	clean func() bool
	// kept is called when something is written.
	kept func()

	head    record.Head
	data    []byte // of the head
	parts   []record.Part
	size    int
	written bool
}

// mostHeld is how many bytes of a record are held.
const mostHeld = 2 << 20

// Begin implements record.Sink.
func (s *heldSink) Begin(h record.Head, data []byte) error {
	s.head, s.data = h, data
	return nil
}

// Part implements record.Sink.
func (s *heldSink) Part(p record.Part) error {
	if s.written {
		return s.sink.Part(p)
	}
	s.parts, s.size = append(s.parts, p), s.size+len(p.Data)
	if s.size > mostHeld {
		return s.write()
	}
	return nil
}

// End implements record.Sink.
func (s *heldSink) End(f record.Foot, data []byte) error {
	if !s.written && f.Status == record.OK && s.clean() {
		return nil
	}
	return errors.Join(s.write(), s.sink.End(f, data))
}

// Close implements record.Sink.
func (s *heldSink) Close() error { return s.sink.Close() }

// write writes what was held.
func (s *heldSink) write() error {
	if s.written {
		return nil
	}
	s.written = true
	if err := s.sink.Begin(s.head, s.data); err != nil {
		return err
	}
	s.kept()
	for _, p := range s.parts {
		if err := s.sink.Part(p); err != nil {
			return err
		}
	}
	s.parts = nil
	return nil
}
