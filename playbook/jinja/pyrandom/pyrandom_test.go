package pyrandom

import (
	"math/big"
	"slices"
	"testing"

	"hark/modules/py/value"
)

// The expectations are what Python 3.11 draws: six times randrange(10), twice randrange(1000000007) and
// randrange(2**80).
func TestSeedsDrawWhatTheyDrawInPython(t *testing.T) {
	for _, c := range []struct {
		seed  value.Value
		small []int
		large []int
		big   string
	}{
		{value.Int(0), []int{6, 6, 0, 4, 8, 7}, []int{434794718, 985946604}, "733365618734417526064697"},
		{value.Int(1), []int{2, 9, 1, 4, 1, 7}, []int{817077201, 482637352}, "917848217900366313099361"},
		{value.Int(-1), []int{2, 9, 1, 4, 1, 7}, []int{817077201, 482637352}, "917848217900366313099361"},
		{value.Int(42), []int{1, 0, 4, 3, 3, 2}, []int{790779946, 110053353}, "72035121894869497483673"},
		{value.NewInt(new(big.Int).Lsh(big.NewInt(1), 70)), []int{3, 6, 7, 1, 0, 3}, []int{298813368, 169730082},
			"1000229395315638964684222"},
		{value.Str("a"), []int{4, 8, 1, 9, 9, 8}, []int{188203560, 942762170}, "15971358455831317625299"},
		{value.SourceText(""), []int{7, 9, 3, 6, 3, 5}, []int{831255059, 669269180}, "884010891152732664102881"},
		{value.UnsafeStr("é"), []int{6, 1, 2, 4, 1, 5}, []int{94103771, 800700700}, "1126163873474780410272179"},
		{value.Str("web1.example.org"), []int{4, 9, 5, 4, 0, 7}, []int{637779075, 370154440}, "526720216912993702625712"},
	} {
		r, err := Seeded(c.seed)
		if err != nil {
			t.Fatal(err)
		}
		var small, large []int
		for range c.small {
			small = append(small, r.Below(10))
		}
		for range c.large {
			large = append(large, r.Below(1000000007))
		}
		drawn := r.BelowBig(new(big.Int).Lsh(big.NewInt(1), 80)).String()
		if !slices.Equal(small, c.small) || !slices.Equal(large, c.large) || drawn != c.big {
			t.Errorf("%v draws %v, %v, %s", c.seed, small, large, drawn)
		}
	}
}

// The state is made anew after 624 numbers.
func TestLongSequencesAreThoseOfPython(t *testing.T) {
	r, err := Seeded(value.Int(7))
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for range 1300 {
		all = append(all, r.BelowBig(big.NewInt(1<<32)).Int64())
	}
	if got, want := []int64{all[0], all[623], all[624], all[1299]},
		[]int64{647892279, 428968842, 880440101, 2425861982}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWhatIsNoSeedIsRefused(t *testing.T) {
	if _, err := Seeded(value.NewList()); err == nil {
		t.Error("a list was taken for a seed")
	}
}

func TestUnseededGeneratorsDiffer(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(1), 256)
	if a, b := New().BelowBig(n), New().BelowBig(n); a.Cmp(b) == 0 || a.Cmp(n) >= 0 {
		t.Errorf("%v and %v", a, b)
	}
}
