package answer

import (
	"crypto/sha512"
	"math/big"
	"math/bits"
)

// twister is Python's random.Random (MT19937), so that a seed gives the passwords that it gives there.
type twister struct {
	state [624]uint32
	next  int
}

// newTwister is random.Random(seed) of a text.
func newTwister(seed string) *twister {
	sum := sha512.Sum512([]byte(seed))
	n := new(big.Int).SetBytes(append([]byte(seed), sum[:]...))
	var key []uint32
	mask := big.NewInt(1<<32 - 1)
	for n.Sign() > 0 {
		key = append(key, uint32(new(big.Int).And(n, mask).Uint64()))
		n.Rsh(n, 32)
	}
	if len(key) == 0 {
		key = []uint32{0}
	}
	t := &twister{}
	t.seed(key)
	return t
}

func (t *twister) seed(key []uint32) {
	const size = 624
	t.state[0] = 19650218
	for i := 1; i < size; i++ {
		t.state[i] = 1812433253*(t.state[i-1]^t.state[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	for range max(size, len(key)) {
		t.state[i] = (t.state[i] ^ (t.state[i-1]^t.state[i-1]>>30)*1664525) + key[j] + uint32(j)
		if i++; i >= size {
			t.state[0], i = t.state[size-1], 1
		}
		if j++; j >= len(key) {
			j = 0
		}
	}
	for range size - 1 {
		t.state[i] = (t.state[i] ^ (t.state[i-1]^t.state[i-1]>>30)*1566083941) - uint32(i)
		if i++; i >= size {
			t.state[0], i = t.state[size-1], 1
		}
	}
	t.state[0], t.next = 1<<31, size
}

func (t *twister) uint32() uint32 {
	if t.next >= len(t.state) {
		t.turn()
	}
	y := t.state[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (t *twister) turn() {
	for i := range t.state {
		y := t.state[i]&0x80000000 | t.state[(i+1)%624]&0x7fffffff
		v := t.state[(i+397)%624] ^ y>>1
		if y&1 != 0 {
			v ^= 0x9908b0df
		}
		t.state[i] = v
	}
	t.next = 0
}

// seeded gives a chooser among n things that always chooses alike, as random.choice does.
func seeded(seed string, n int) func() (int, error) {
	t := newTwister(seed)
	width := bits.Len(uint(n))
	return func() (int, error) {
		for {
			if k := int(t.uint32() >> (32 - width)); k < n {
				return k, nil
			}
		}
	}
}
