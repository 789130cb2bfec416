package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"time"
)

// scan reads an answer that is a piece of a file. encoding/json would look at the piece three times.
func (a *Answer) scan(raw []byte) bool {
	s, in := scanner{rest: raw}, Answer{}
	s.object(func(name []byte) {
		switch string(name) {
		case "over":
			in.Over = s.truth()
		case "fresh":
			in.Fresh = time.Duration(s.number())
		case "held":
			in.Held = time.Duration(s.number())
		case "data":
			s.once(in.Data == nil)
			in.Data = s.binary()
		case "eof":
			in.EOF = s.truth()
		case "secret":
			in.Secret = s.truth()
		default:
			s.failed = true
		}
	})
	if s.failed || len(s.rest) > 0 {
		return false
	}
	*a = in
	return true
}

// binary reads bytes in base64.
func (s *scanner) binary() []byte {
	if !s.take('"') {
		s.failed = true
		return nil
	}
	text := s.rest[:max(bytes.IndexByte(s.rest, '"'), 0)]
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	// Package base64 skips line ends, which a text in JSON cannot have. Then fewer bytes come than the length says.
	padding := len(text) - len(bytes.TrimRight(text, "="))
	s.rest = s.rest[len(text):]
	s.failed = s.failed || err != nil || len(text)%4 != 0 || n != len(out)-padding || !s.take('"')
	return out[:n]
}

// compose writes an answer that is a piece of a file, as encoding/json does. It returns false for any other answer.
func (a Answer) compose() ([]byte, bool) {
	others := a
	others.StopVerdict, others.Data, others.EOF, others.Secret = StopVerdict{}, nil, false, false
	if len(a.Data) == 0 || !reflect.ValueOf(others).IsZero() {
		return nil, false
	}
	verdict, err := json.Marshal(a.StopVerdict)
	if err != nil {
		return nil, false
	}
	const most = len(`,"data":"","eof":true,"secret":true}`)
	out := make([]byte, 0, len(verdict)+base64.StdEncoding.EncodedLen(len(a.Data))+most)
	if out = append(out, verdict[:len(verdict)-1]...); len(out) > 1 {
		out = append(out, ',')
	}
	out = append(base64.StdEncoding.AppendEncode(append(out, `"data":"`...), a.Data), '"')
	if a.EOF {
		out = append(out, `,"eof":true`...)
	}
	if a.Secret {
		out = append(out, `,"secret":true`...)
	}
	return append(out, '}'), true
}
