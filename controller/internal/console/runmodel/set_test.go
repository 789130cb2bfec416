package runmodel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHostSetsHoldWhatWasAdded: few and many, far apart and side by side, in any order.
func TestHostSetsHoldWhatWasAdded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, of int }{{1, 1}, {1, 100_000}, {16, 16}, {17, 17}, {17, 100_000}, {3000, 100_000},
		{9000, 10_000}, {200, 6400}} {
		want := random.Perm(c.of)[:c.n]
		var s hostSet
		for _, h := range want {
			s.add(int32(h))
		}
		var got []int
		s.each(func(h int32) { got = append(got, int(h)) })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || s.n != c.n || !slices.Contains(want, int(s.first())) {
			t.Errorf("%d of %d: it holds %d, counts %d, the first is %d", c.n, c.of, len(got), s.n, s.first())
		}
		for h := range min(c.of, 2000) {
			if _, found := slices.BinarySearch(want, h); s.has(int32(h)) != found {
				t.Fatalf("%d of %d: has %d: %v", c.n, c.of, h, !found)
			}
		}
		if bytes, list := 4*cap(s.list)+8*cap(s.bits), 4*c.n; bytes > 2*min(max(list, 8*shortList), c.of/8+1024) {
			t.Errorf("%d of %d take %d bytes", c.n, c.of, bytes)
		}
	}
}
