package sealkeys

import (
	"testing"
	"time"

	"hark/agent/wire"
)

// TestWeeksAreThoseOfISO8601, in UTC: the first and last days of a year may be of its neighbour's weeks.
func TestWeeksAreThoseOfISO8601(t *testing.T) {
	for _, tt := range []struct{ at, want string }{
		{"2026-11-22T23:59:59Z", "2026-W47"}, {"2026-11-23T00:00:00Z", "2026-W48"}, {"2026-11-23T00:30:00+01:00", "2026-W47"},
		{"2027-01-03T12:00:00Z", "2026-W53"}, {"2024-12-30T00:00:00Z", "2025-W01"}, {"2026-01-05T00:00:00Z", "2026-W02"},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := Week(at); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.at, got, tt.want)
		}
	}
}

// TestKeysAreSharedAnewWhenTheReadersChange, and only then: one more, one fewer, another one.
func TestKeysAreSharedAnewWhenTheReadersChange(t *testing.T) {
	box := []byte("closed")
	had := &wire.WeekKeys{Boxes: map[string][]byte{"self": box, "a": box}}
	for _, tt := range []struct {
		readers []string
		same    bool
	}{
		{[]string{"a"}, true}, {[]string{"a", "a", "self"}, true}, {nil, false}, {[]string{"b"}, false},
		{[]string{"a", "b"}, false},
	} {
		k := &Keys{cfg: Config{Self: &wire.Identity{XKey: "self"}, Readers: tt.readers}}
		if got := same(k.wanted(), had); got != tt.same {
			t.Errorf("%v: %v, want %v", tt.readers, got, tt.same)
		}
	}
}

// The key of a week is the same in every process of an operator, another one each week and in each stream, and another
// operator has another.
func TestALostKeyIsMadeAgain(t *testing.T) {
	newKeys := func(id *wire.Identity, stream string) *Keys {
		return &Keys{cfg: Config{Self: id, Stream: stream}, known: map[weekOf]wire.Key{}}
	}
	anna, bert := newIdentity(t), newIdentity(t)
	key := func(id *wire.Identity, stream, week string) wire.Key {
		t.Helper()
		k, err := newKeys(id, stream).lost(weekOf{id.ID(), week})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	had := map[wire.Key]bool{}
	for _, k := range []wire.Key{key(anna, "A", "2026-W47"), key(anna, "A", "2026-W48"), key(anna, "B", "2026-W47"), key(bert, "A", "2026-W47")} {
		if had[k] {
			t.Error("two keys are the same")
		}
		had[k] = true
	}
	if key(anna, "A", "2026-W47") != key(anna, "A", "2026-W47") {
		t.Error("another process makes another key")
	}
	// A key that this process knows stays: one of a version before was made by chance.
	k, other := newKeys(anna, "A"), wire.NewKey()
	k.learn(weekOf{anna.ID(), "2026-W47"}, other)
	if got, err := k.lost(weekOf{anna.ID(), "2026-W47"}); err != nil || got != other {
		t.Errorf("%v", err)
	}
}

func newIdentity(t *testing.T) *wire.Identity {
	t.Helper()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}
