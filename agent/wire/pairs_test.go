package wire

import (
	"bytes"
	"testing"
)

// What is sealed with a key that was kept is what nkeys seals, and opens it, in both directions.
func TestKeptPairsSealAsNkeysDoes(t *testing.T) {
	one, other := identity(t), identity(t)
	for i, text := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("long "), 10_000)} {
		ours, err := one.box(text, other.XKey)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := other.curve.Open(ours, one.XKey); len(text) > 0 && (err != nil || !bytes.Equal(got, text)) {
			t.Errorf("text %d: nkeys opens %d bytes, %v", i, len(got), err)
		}
		theirs, err := other.curve.Seal(text, one.XKey)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := one.unbox(theirs, other.XKey); err != nil || !bytes.Equal(got, text) {
			t.Errorf("text %d: what nkeys sealed opens to %d bytes, %v", i, len(got), err)
		}
	}
}

// What others sealed, or altered, does not open; what is no key is an error.
func TestBoxesOfOthersDoNotOpen(t *testing.T) {
	one, other, third := identity(t), identity(t), identity(t)
	closed, err := third.box([]byte("secret"), one.XKey)
	if err != nil {
		t.Fatal(err)
	}
	altered := bytes.Clone(closed)
	altered[len(altered)-1] ^= 1
	for name, tt := range map[string]struct {
		text []byte
		from string
	}{"of another": {closed, other.XKey}, "altered": {altered, third.XKey}, "cut off": {closed[:20], third.XKey},
		"of nobody": {closed, third.Key}, "nothing": {nil, ""}} {
		if got, err := one.unbox(tt.text, tt.from); err == nil {
			t.Errorf("%s: it opens to %q", name, got)
		}
	}
	if _, err := one.box(nil, "X"); err == nil {
		t.Error("something was sealed for nobody")
	}
}

// Kept pairs are of use to their identity alone, and whole.
func TestPairsAreKeptForTheirOwnerAlone(t *testing.T) {
	one, other := identity(t), identity(t)
	if kept, err := one.Pairs(); kept != nil || err != nil {
		t.Errorf("without any: %d bytes, %v", len(kept), err)
	}
	if _, err := one.box(nil, other.XKey); err != nil {
		t.Fatal(err)
	}
	kept, err := one.Pairs()
	if err != nil || kept == nil {
		t.Fatal(err)
	}
	if again, err := one.Pairs(); again != nil || err != nil {
		t.Errorf("without news: %d bytes, %v", len(again), err)
	}
	shared, _ := one.shared(other.XKey)
	if bytes.Contains(kept, shared[:]) {
		t.Error("the keys are in clear")
	}
	text, err := one.Text()
	if err != nil {
		t.Fatal(err)
	}
	later, err := ParseIdentity(text)
	if err != nil {
		t.Fatal(err)
	}
	altered := bytes.Clone(kept)
	altered[30] ^= 1
	for name, tt := range map[string]struct {
		id   *Identity
		text []byte
		good bool
	}{"a later process": {later, kept, true}, "somebody else": {other, kept, false}, "altered": {later, altered, false},
		"cut off": {later, kept[:10], false}} {
		if err := tt.id.KeepPairs(tt.text); (err == nil) != tt.good {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(later.pairs.keys) != 1 || later.pairs.news {
		t.Errorf("kept are %d", len(later.pairs.keys))
	}
	if got, _ := later.shared(other.XKey); *got != *shared {
		t.Error("another key was kept")
	}
}

func BenchmarkBox(b *testing.B) {
	one, err := NewIdentity()
	if err != nil {
		b.Fatal(err)
	}
	other, err := NewIdentity()
	if err != nil {
		b.Fatal(err)
	}
	text := make([]byte, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := one.box(text, other.XKey); err != nil {
			b.Fatal(err)
		}
	}
}
