package runmodel

import "math/bits"

// hostSet is a set of hosts by their numbers: a list while it is short, a bit for each host when that takes less room.
type hostSet struct {
	list []int32
	bits []uint64
	n    int
	high int32 // the highest number in it
}

// shortList is how long a list may be in any case.
const shortList = 16

// add adds a host. While the set is a list, the caller must make sure that it is not in the set yet.
func (s *hostSet) add(h int32) {
	s.high = max(s.high, h)
	if s.bits == nil {
		s.list = append(s.list, h)
		s.n++
		if s.n > shortList && s.n*32 > int(s.high)+64 {
			s.spread()
		}
		return
	}
	s.set(h)
}

// spread converts the list to bits.
func (s *hostSet) spread() {
	all := s.list
	s.list, s.n = nil, 0
	for _, h := range all {
		s.set(h)
	}
}

func (s *hostSet) set(h int32) {
	if at := int(h / 64); at >= len(s.bits) {
		s.bits = append(s.bits, make([]uint64, at+1-len(s.bits))...)
	}
	if bit := uint64(1) << (h % 64); s.bits[h/64]&bit == 0 {
		s.bits[h/64] |= bit
		s.n++
	}
}

// has reports whether a host is in the set.
func (s *hostSet) has(h int32) bool {
	if s.bits != nil {
		return int(h/64) < len(s.bits) && s.bits[h/64]&(1<<(h%64)) != 0
	}
	for _, x := range s.list {
		if x == h {
			return true
		}
	}
	return false
}

// each calls f with every host of the set.
func (s *hostSet) each(f func(h int32)) {
	for _, h := range s.list {
		f(h)
	}
	for i, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			f(int32(i*64 + bits.TrailingZeros64(word)))
		}
	}
}

// first returns a host of the set, which must not be empty.
func (s *hostSet) first() int32 {
	if s.bits == nil {
		return s.list[0]
	}
	for i, word := range s.bits {
		if word != 0 {
			return int32(i*64 + bits.TrailingZeros64(word))
		}
	}
	return 0
}
