// Package pyrandom is Python's random module: the Mersenne Twister MT19937, seeded as Python seeds it, so that a seed
// draws here what it draws in Ansible.
package pyrandom

import (
	"crypto/sha512"
	"math/big"
	"math/rand/v2"

	"hark/modules/py/value"
)

// Random is a generator. It is for one goroutine.
type Random struct {
	state [624]uint32
	at    int
}

// New returns a generator that nobody can foresee. It is not for secrets.
func New() *Random {
	r := &Random{}
	r.init([]uint32{rand.Uint32(), rand.Uint32(), rand.Uint32(), rand.Uint32()})
	return r
}

// Seeded is random.Random(seed).
func Seeded(seed value.Value) (*Random, error) {
	n := value.AsBig(seed)
	if s, ok := value.Text(seed); ok {
		sum := sha512.Sum512([]byte(s))
		n = new(big.Int).SetBytes(append([]byte(s), sum[:]...))
	}
	if n == nil {
		return nil, value.TypeErrorf("The only supported seed types are: None,\nint, float, str, bytes, and bytearray.")
	}
	var key []uint32
	for raw := new(big.Int).Abs(n); raw.Sign() > 0; raw.Rsh(raw, 32) {
		key = append(key, uint32(new(big.Int).And(raw, big.NewInt(0xffffffff)).Uint64()))
	}
	if key == nil {
		key = []uint32{0}
	}
	r := &Random{}
	r.init(key)
	return r, nil
}

// Below draws an int of [0, n); n is more than 0.
func (r *Random) Below(n int) int { return int(r.BelowBig(big.NewInt(int64(n))).Int64()) }

// BelowBig is Below for ints of any size: bits are drawn until they are small enough.
func (r *Random) BelowBig(n *big.Int) *big.Int {
	for {
		if drawn := r.bits(n.BitLen()); drawn.Cmp(n) < 0 {
			return drawn
		}
	}
}

// bits draws an int of k bits: 32 at a time, the lowest first.
func (r *Random) bits(k int) *big.Int {
	out := new(big.Int)
	for shift := 0; k > 0; shift, k = shift+32, k-32 {
		word := r.uint32()
		if k < 32 {
			word >>= 32 - k
		}
		out.Or(out, new(big.Int).Lsh(big.NewInt(int64(word)), uint(shift)))
	}
	return out
}

func (r *Random) init(key []uint32) {
	mt := &r.state
	mt[0] = 19650218
	for i := 1; i < 624; i++ {
		mt[i] = 1812433253*(mt[i-1]^mt[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	for k := max(624, len(key)); k > 0; k-- {
		mt[i] = (mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1664525) + key[j] + uint32(j)
		if i++; i >= 624 {
			mt[0], i = mt[623], 1
		}
		if j++; j >= len(key) {
			j = 0
		}
	}
	for k := 623; k > 0; k-- {
		mt[i] = (mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1566083941) - uint32(i)
		if i++; i >= 624 {
			mt[0], i = mt[623], 1
		}
	}
	mt[0] = 0x80000000
	r.at = 624
}

func (r *Random) uint32() uint32 {
	if r.at >= 624 {
		for i := range r.state {
			y := r.state[i]&0x80000000 | r.state[(i+1)%624]&0x7fffffff
			r.state[i] = r.state[(i+397)%624] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		r.at = 0
	}
	y := r.state[r.at]
	r.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}
