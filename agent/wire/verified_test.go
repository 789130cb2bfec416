package wire

import (
	"bytes"
	"testing"
)

// signed is a frame that an identity has signed.
func signed(t testing.TB, id *Identity) []byte {
	t.Helper()
	var c Codec
	frame, err := c.Pack(Header{Kind: KindHello}, Hello{Name: "web1"}, Packing{Sign: id})
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// What was verified once is believed again, in a later process of the same identity too, and nothing else is: not
// with another body, header or signature.
func TestWhatWasVerifiedIsBelievedToTheByte(t *testing.T) {
	owner, agent := identity(t), identity(t)
	good := signed(t, agent)
	var first Verified
	if _, err := first.Parse(good); err != nil {
		t.Fatal(err)
	}
	kept, err := first.Kept(owner)
	if err != nil || kept == nil {
		t.Fatalf("%d bytes, %v", len(kept), err)
	}
	if again, err := first.Kept(owner); again != nil || err != nil {
		t.Errorf("without news: %d bytes, %v", len(again), err)
	}
	var next Verified
	if err := next.Keep(owner, kept); err != nil {
		t.Fatal(err)
	}
	if f, err := next.Parse(good); err != nil || !f.Signed || f.Header.Issuer != agent.Key {
		t.Errorf("what was verified: %v, %v", f, err)
	}
	if news, _ := next.Kept(owner); news != nil {
		t.Error("it was verified again")
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if f, err := next.Parse(bad); err == nil && f.Signed && f.Header.Issuer == agent.Key {
			t.Fatalf("byte %d is another, and it is believed", i)
		}
	}
}

// What is kept is of use to its owner alone, and whole.
func TestVerifiedFramesAreKeptForTheirOwnerAlone(t *testing.T) {
	owner, other := identity(t), identity(t)
	var v Verified
	if _, err := v.Parse(signed(t, other)); err != nil {
		t.Fatal(err)
	}
	kept, err := v.Kept(owner)
	if err != nil {
		t.Fatal(err)
	}
	altered := bytes.Clone(kept)
	altered[len(altered)-1] ^= 1
	pairs, err := owner.Shut(pairsPurpose, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for name, closed := range map[string][]byte{"altered": altered, "cut off": kept[:20], "nothing": nil,
		"of another purpose": pairs} {
		if err := v.Keep(owner, closed); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if err := v.Keep(other, kept); err == nil {
		t.Error("it is taken by another identity")
	}
}

func BenchmarkVerified(b *testing.B) {
	agent, err := NewIdentity()
	if err != nil {
		b.Fatal(err)
	}
	frame := signed(b, agent)
	for name, v := range map[string]*Verified{"again": {}, "first": nil} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				look := v
				if look == nil {
					look = &Verified{}
				}
				if _, err := look.Parse(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
