package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// SharedPlans packs openings. A plan that many hosts get is packed once for all of them: zstd allows a body to be
// several frames, of which the first is the plan's. The zero value is ready, and safe for concurrent use.
type SharedPlans struct {
	mu     sync.Mutex
	packed map[string][]byte // the first frame by the plan's digest; guarded by mu
}

// mostShared is how many plans are kept packed: those that hosts of one batch get differ little.
const mostShared = 16

// inlinePlan is up to which size in bytes, packed, a plan travels in the message that opens a session. An agent that
// gets none pulls it: a large one that is sent to all at once would lie in the broker's memory for each of them.
const inlinePlan = 16 << 10

// openingStart is how the body of every Opening begins: Start is its first field, and a plan without its place is not
// the last of it.
const openingStart = `{"start":{`

// Pack makes the frame of an Opening, as Codec.Pack does, without the plan if that is large.
func (s *SharedPlans) Pack(c *Codec, h Header, in Opening, p Packing) ([]byte, error) {
	body := in.Start.Plan
	if len(body) <= compressAbove {
		return c.Pack(h, in, p)
	}
	in.Start.Plan = nil
	rest, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a message of kind %q: %w", h.Kind, err)
	}
	rest, ok := bytes.CutPrefix(rest, []byte(openingStart))
	if !ok {
		return nil, errors.New("internal error: an opening begins otherwise than it is to")
	}
	first, err := s.first(c, in.Start.Digest, body)
	switch {
	case len(first) > inlinePlan, first == nil && len(body) > inlinePlan:
		return c.Pack(h, in, p)
	case err != nil || first == nil:
		in.Start.Plan = body
		return c.Pack(h, in, p)
	}
	h.Enc = "zstd"
	return p.close(h, plainFrame(append(make([]byte, 0, len(first)+len(rest)+16), first...), rest))
}

// first is the packed beginning of the openings that bring a plan, nil if it does not shrink.
func (s *SharedPlans) first(c *Codec, digest string, plan []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if had, ok := s.packed[digest]; ok {
		return had, nil
	}
	var text bytes.Buffer
	text.WriteString(openingStart + `"plan":`)
	if err := json.Compact(&text, plan); err != nil {
		return nil, err
	}
	text.WriteByte(',')
	packed, enc := c.compress(text.Bytes())
	if enc == "" {
		packed = nil
	}
	if s.packed == nil || len(s.packed) >= mostShared {
		s.packed = map[string][]byte{}
	}
	s.packed[digest] = packed
	return packed, nil
}

// plainFrame appends a frame of zstd that holds text as it is (RFC 8878): to pack what is small and differs costs
// more than it saves.
func plainFrame(out, text []byte) []byte {
	const (
		magic         = 0xFD2FB528
		singleSegment = 0xA0 // with four bytes of content size
		largest       = 128 << 10
	)
	out = binary.LittleEndian.AppendUint32(out, magic)
	out = append(out, singleSegment)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	for {
		n, last := min(len(text), largest), uint32(0)
		if n == len(text) {
			last = 1
		}
		head := uint32(n)<<3 | last // a raw block
		out = append(out, byte(head), byte(head>>8), byte(head>>16))
		out = append(out, text[:n]...)
		if text = text[n:]; last == 1 {
			return out
		}
	}
}
