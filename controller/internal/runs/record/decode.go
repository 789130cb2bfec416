package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"hark/agent/wire"
)

// DecodeLine reads one line of a record. The caller sets number and time. The error for a head of a later version is a
// *NewerError.
func DecodeLine(text []byte) (Line, error) {
	if l, ok := plainResult(text); ok {
		return l, nil
	}
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return Line{}, fmt.Errorf("a line of the record cannot be read: %v", err)
	}
	if l.Kind == KindHead && l.Head != nil && l.Head.V > Version {
		return Line{}, &NewerError{Run: l.Head.Run, Version: l.Head.V}
	}
	return l, nil
}

// plainResult reads the most frequent form of a line: a result with its numbers, its status and what the module
// returned. It returns false for lines with anything else. Reflection takes ten times as long.
func plainResult(text []byte) (Line, bool) {
	var l Line
	s := scan{text: text}
	for open := byte('{'); !s.take('}'); open = ',' {
		if !s.take(open) {
			return l, false
		}
		key := s.value()
		if !s.take(':') {
			return l, false
		}
		if v := s.value(); !l.plain(string(key), v) {
			return l, false
		}
	}
	s.blank()
	return l, s.pos == len(text) && l.Status != ""
}

// plain sets a member from its text, and returns false for one that a plain result does not have.
func (l *Line) plain(key string, v []byte) bool {
	var n int64
	var ok bool
	switch key {
	case `"k"`:
		l.Kind, ok = plainKind(v)
		return ok
	case `"s"`:
		l.Status, ok = plainStatus(v)
		return ok
	case `"r"`:
		l.Result = bytes.Clone(v)
		return json.Valid(v)
	case `"a"`, `"t"`, `"h"`, `"d"`:
		if n, ok = plainNumber(v); !ok {
			return false
		}
	default:
		return false
	}
	switch key {
	case `"a"`:
		l.After = n
	case `"t"`:
		l.Task = int(n)
	case `"h"`:
		l.Host = int(n)
	case `"d"`:
		l.Took = n
	}
	return true
}

func plainKind(v []byte) (Kind, bool) {
	switch string(v) {
	case `"done"`:
		return KindDone, true
	case `"item"`:
		return KindItem, true
	}
	return "", false
}

func plainStatus(v []byte) (wire.Status, bool) {
	switch string(v) {
	case `"ok"`:
		return wire.OK, true
	case `"changed"`:
		return wire.Changed, true
	case `"skipped"`:
		return wire.Skipped, true
	case `"failed"`:
		return wire.StatusFailed, true
	case `"unreachable"`:
		return wire.StatusUnreachable, true
	}
	return "", false
}

func plainNumber(v []byte) (int64, bool) {
	if len(v) == 0 || len(v) > 1 && v[0] == '0' || v[0] == '+' || v[0] == '-' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

// Fine skips the line of a result that is neither failed nor unreachable, without decoding it, and reports whether it
// did. It leaves other lines alone.
func (p *Place) Fine(text []byte) bool {
	s := scan{text: text}
	var after int64
	for open := byte('{'); s.take(open); open = ',' {
		key := s.value()
		if !s.take(':') {
			return false
		}
		v := s.value()
		var ok bool
		switch string(key) {
		case `"k"`:
			_, ok = plainKind(v)
		case `"a"`:
			after, ok = plainNumber(v)
		case `"t"`, `"h"`:
			_, ok = plainNumber(v)
		case `"s"`: // stands behind the others
			status, known := plainStatus(v)
			if !known || status == wire.StatusFailed || status == wire.StatusUnreachable {
				return false
			}
			p.pass(after)
			return true
		}
		if !ok {
			return false
		}
	}
	return false
}
