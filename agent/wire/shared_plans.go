package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// SharedPlans packs openings. A plan that many hosts get is compressed once for all of them: a zstd body may be several
// frames, and the first is the plan's. The zero value is ready, and safe for concurrent use.
type SharedPlans struct {
	mu     sync.Mutex
	packed map[string][]byte // the first frame by the plan's digest; guarded by mu
}

// mostShared is how many compressed plans are kept: hosts of one batch get few different ones.
const mostShared = 16

// inlinePlan is the size in bytes, compressed, up to which a plan travels in the opening. An agent that gets none pulls
// it: a large one that is sent to all at once would fill the broker's memory.
const inlinePlan = 16 << 10

// openingStart begins the body of every Opening: Start is its first field, and the plan is not the last field of Start.
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

// first returns the compressed beginning of the openings that contain a plan, nil if it does not shrink.
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

// plainFrame appends a zstd frame that holds text uncompressed (RFC 8878): compressing what is small and differs costs
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
