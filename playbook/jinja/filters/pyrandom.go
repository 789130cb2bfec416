package filters

import (
	"crypto/sha512"
	"encoding/binary"
	"math/big"
	"math/bits"
	"math/rand/v2"

	"hark/playbook/jinja"
	"hark/playbook/jinja/value"
)

// twister is the Mersenne Twister MT19937 as Python's random module uses it: with the same seed a filter draws what it
// draws in Ansible.
type twister struct {
	state [624]uint32
	at    int
}

// newTwister seeds a generator as random.Random(seed) does.
func newTwister(seed value.Value) (*twister, error) {
	var n *big.Int
	if s, ok := value.Text(seed); ok {
		sum := sha512.Sum512([]byte(s))
		n = new(big.Int).SetBytes(append([]byte(s), sum[:]...))
	} else if n = value.AsBig(seed); n == nil {
		return nil, value.TypeErrorf("The only supported seed types are: None,\nint, float, str, bytes, and bytearray.")
	}
	var key []uint32
	for raw := new(big.Int).Abs(n); raw.Sign() > 0; raw.Rsh(raw, 32) {
		key = append(key, uint32(new(big.Int).And(raw, big.NewInt(0xffffffff)).Uint64()))
	}
	if key == nil {
		key = []uint32{0}
	}
	t := &twister{}
	t.init(key)
	return t, nil
}

// randomTwister is a generator that nobody can foresee.
func randomTwister() *twister {
	t := &twister{}
	t.init([]uint32{rand.Uint32(), rand.Uint32(), rand.Uint32(), rand.Uint32()})
	return t
}

func (t *twister) init(key []uint32) {
	mt := &t.state
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
	t.at = 624
}

func (t *twister) uint32() uint32 {
	if t.at >= 624 {
		for i := range t.state {
			y := t.state[i]&0x80000000 | t.state[(i+1)%624]&0x7fffffff
			t.state[i] = t.state[(i+397)%624] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		t.at = 0
	}
	y := t.state[t.at]
	t.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// below draws an int in [0, n), as Random._randbelow does: bits until they are small enough.
func (t *twister) below(n uint64) uint64 {
	k := bits.Len64(n)
	for {
		if r := t.bits(k); r < n {
			return r
		}
	}
}

func (t *twister) bits(k int) uint64 {
	if k <= 32 {
		return uint64(t.uint32() >> (32 - k))
	}
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:4], t.uint32())
	binary.LittleEndian.PutUint32(b[4:], t.uint32()>>(64-k))
	return binary.LittleEndian.Uint64(b[:])
}

// ansibleRandom are Ansible's filters that draw lots.
func ansibleRandom() map[string]jinja.Filter {
	return map[string]jinja.Filter{"random": randomFilter, "shuffle": shuffle}
}

func seeded(seed value.Value) (*twister, error) {
	if value.IsNone(seed) {
		return randomTwister(), nil
	}
	return newTwister(seed)
}

func randomFilter(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("rand", value.Opt("start", none), value.Opt("step", none), value.Opt("seed", none))
	if err != nil {
		return nil, err
	}
	t, err := seeded(a[2])
	if err != nil {
		return nil, err
	}
	if n, ok := value.AsInt(in); ok {
		return t.inRange(n, a[0], a[1])
	}
	if !value.IsNone(a[0]) || !value.IsNone(a[1]) {
		return nil, value.FilterErrorf("start and step can only be used with integer values")
	}
	items, err := value.Elements(in)
	if err != nil {
		return nil, value.FilterErrorf("random can only be used on sequences and integers")
	}
	if len(items) == 0 {
		return nil, value.Errorf("IndexError", "Cannot choose from an empty sequence")
	}
	return items[t.below(uint64(len(items)))], nil
}

// inRange is randrange(start, end, step).
func (t *twister) inRange(end int64, start, step value.Value) (value.Value, error) {
	from, by := int64(0), int64(1)
	if n, ok := value.AsInt(start); ok {
		from = n
	}
	if n, ok := value.AsInt(step); ok && n != 0 {
		by = n
	}
	width := end - from
	count := width
	if by > 1 {
		count = (width + by - 1) / by
	} else if by < 0 {
		count = (width + by + 1) / by
	}
	if count <= 0 {
		return nil, value.ValueErrorf("empty range for randrange() (%d, %d, %d)", from, end, width)
	}
	return value.Int(from + by*int64(t.below(uint64(count)))), nil
}

func shuffle(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("randomize_list", value.Opt("seed", none))
	if err != nil {
		return nil, err
	}
	items, err := value.Elements(in)
	if err != nil {
		return in, nil // as Ansible: what cannot be shuffled comes back as it is
	}
	t, err := seeded(a[0])
	if err != nil {
		return nil, err
	}
	out := append([]value.Value{}, items...)
	for i := len(out) - 1; i > 0; i-- {
		j := t.below(uint64(i + 1))
		out[i], out[j] = out[j], out[i]
	}
	return list(out), nil
}
