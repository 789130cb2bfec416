package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// read reads a header. Headers that Pack wrote take the fast path of scan; others go through encoding/json.
func (h *Header) read(text []byte) error {
	if h.scan(text) {
		return nil
	}
	*h = Header{}
	return json.Unmarshal(text, h)
}

// scan reads a header whose texts have no escapes and whose members are all known and of their types. It returns false
// for all others. A controller reads one header for each message of each agent.
func (h *Header) scan(text []byte) bool {
	s := scanner{rest: text}
	if !s.take('{') {
		return false
	}
	for !s.failed {
		if !h.member(&s) {
			return false
		}
		if s.take('}') {
			return !s.failed && len(s.rest) == 0
		}
		if !s.take(',') {
			return false
		}
	}
	return false
}

// member reads one member.
func (h *Header) member(s *scanner) bool {
	name := s.text()
	if !s.take(':') {
		return false
	}
	switch string(name) {
	case "v":
		h.V = int(s.number())
	case "kind":
		h.Kind = Kind(s.text())
	case "fleet":
		h.Fleet = string(s.text())
	case "run":
		h.Run = string(s.text())
	case "plan":
		h.Plan = string(s.text())
	case "seq":
		h.Seq = uint64(s.number())
	case "issuer":
		h.Issuer = string(s.text())
	case "targets":
		h.Targets = s.texts()
	case "not_before":
		h.NotBefore = s.number()
	case "expires":
		h.Expires = s.number()
	case "nonce":
		h.Nonce = string(s.text())
	case "digest":
		h.Digest = string(s.text())
	case "enc":
		h.Enc = string(s.text())
	case "seal":
		h.Seal = Seal(s.text())
	case "from":
		h.From = string(s.text())
	case "to":
		h.To = string(s.text())
	case "prev":
		h.Prev = string(s.text())
	default:
		return false
	}
	return !s.failed
}

// scanner reads plain JSON without white space. Anything that it does not know makes it fail for good.
type scanner struct {
	rest   []byte
	failed bool
}

// take skips the next character if it is c, and reports whether it was.
func (s *scanner) take(c byte) bool {
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text reads a text of printable ASCII without escapes.
func (s *scanner) text() []byte {
	if !s.take('"') {
		s.failed = true
		return nil
	}
	n := bytes.IndexByte(s.rest, '"')
	for i := 0; i < n; i++ {
		if c := s.rest[i]; c < ' ' || c > '~' || c == '\\' {
			n = -1
		}
	}
	if n < 0 {
		s.failed = true
		return nil
	}
	text := s.rest[:n]
	s.rest = s.rest[n+1:]
	return text
}

// texts reads a list of texts that is not empty.
func (s *scanner) texts() []string {
	var all []string
	if !s.take('[') {
		s.failed = true
	}
	for !s.failed {
		all = append(all, string(s.text()))
		if s.take(']') {
			break
		}
		if !s.take(',') {
			s.failed = true
		}
	}
	return all
}

// number reads a whole number of up to 18 digits that is not negative.
func (s *scanner) number() int64 {
	n := 0
	for n < len(s.rest) && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	if n == 0 || n > 18 || n > 1 && s.rest[0] == '0' {
		s.failed = true
		return 0
	}
	v, err := strconv.ParseInt(string(s.rest[:n]), 10, 64)
	s.failed = s.failed || err != nil
	s.rest = s.rest[n:]
	return v
}
