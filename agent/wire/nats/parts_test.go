package nats

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"hark/agent/wire"
)

func TestOversizedMessagesAreRefusedAtBothEnds(t *testing.T) {
	if _, err := split(&nats.Msg{Data: make([]byte, wire.MaxMessage+1)}, partSize); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a sender splits it: %v", err)
	}
	// Somebody else's client does not keep the limit.
	var j joiner
	piece := make([]byte, 8<<20)
	for _, n := range []int{wire.MaxMessage/len(piece) + 2, 2} {
		for i := range n + 8 {
			if whole, ok := j.add("a", part{"x", i, n, piece}); ok && n > 2 {
				t.Fatalf("%d bytes were joined", len(whole))
			}
		}
	}
	if len(j.senders) != 0 || j.held != 0 {
		t.Error("the parts are kept")
	}
}

// What nobody would send is refused when it begins: it is not kept, and displaces nothing.
func TestBeginningsOfNothingAreRefused(t *testing.T) {
	var j joiner
	for n, p := range map[string]part{
		"one byte": {"a", 0, 2, []byte("x")}, "nothing": {"a", 0, 2, nil},
		"too many":   {"a", 0, 1 << 30, make([]byte, minPart)},
		"the second": {"a", 1, 2, make([]byte, minPart)}, "one": {"a", 0, 1, make([]byte, minPart)},
	} {
		if _, ok := j.add("a", p); ok || len(j.senders) != 0 {
			t.Errorf("%s is kept", n)
		}
	}
	j.add("a", part{"a", 0, 4, make([]byte, minPart)})
	if _, ok := j.add("a", part{"a", 1, 4, []byte("x")}); ok || len(j.senders) != 0 {
		t.Error("a part that is shorter than the first is taken")
	}
}

func TestUnfinishedMessagesAreGivenUp(t *testing.T) {
	var j joiner
	for i := range 10 * maxOpenEach {
		j.add("a", part{fmt.Sprint(i), 0, 2, make([]byte, minPart)})
	}
	if s := j.senders["a"]; len(s.open) > maxOpenEach || len(s.order) != len(s.open) || j.held != len(s.open)*minPart {
		t.Errorf("%d messages are open", len(s.open))
	}
	j = joiner{}
	piece := make([]byte, wire.MaxMessage/2)
	for i := range 20 {
		j.add(fmt.Sprint(i%7), part{fmt.Sprint(i), 0, 2, piece})
		if j.held > maxHeld {
			t.Fatalf("%d bytes are held", j.held)
		}
	}
	if _, ok := j.add(fmt.Sprint(19%7), part{"19", 1, 2, piece[:1]}); !ok {
		t.Error("the latest was given up")
	}
}

// Who begins a thousand messages displaces his own and nobody else's.
func TestNobodyDisplacesAnothersParts(t *testing.T) {
	var j joiner
	half := make([]byte, 1<<20)
	if _, ok := j.add("honest", part{"x", 0, 2, half}); ok {
		t.Fatal("a half is a whole")
	}
	for i := range 100 {
		j.add("liar", part{fmt.Sprint(i), 0, 2, half})
		j.add("liar", part{"large", 0, 3, make([]byte, wire.MaxMessage/4)})
		j.add("liar", part{"x", 1, 2, half})
	}
	if whole, ok := j.add("honest", part{"x", 1, 2, half}); !ok || len(whole) != 2*len(half) {
		t.Errorf("it was given up: %d bytes", len(whole))
	}
}

// FuzzParts: whatever headers say, nothing panics, and what is joined is what was sent.
func FuzzParts(f *testing.F) {
	for _, mark := range []string{"", "a 0 2", "a 1 2", "a 0 1", "a -1 2", "a 0 -2", "a 0 999999999999", "a b c",
		"a 0 2 3", " ", "\x00"} {
		f.Add(mark, []byte("data"))
	}
	f.Fuzz(func(t *testing.T, mark string, data []byte) {
		var j joiner
		m := nats.NewMsg("s")
		m.Header.Set(partHeader, mark)
		m.Data = data
		for range 3 {
			if whole, ok := j.join(m); ok && len(whole) < len(data) {
				t.Errorf("%q: %d bytes of %d", mark, len(whole), len(data))
			}
		}
		if limit := minPart + len(mark); len(data) > 0 {
			data = bytes.Repeat(data, 3*limit/len(data)+1)
			parts, err := split(&nats.Msg{Subject: "s", Data: data}, limit)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range parts {
				if whole, ok := j.join(p); ok != (i == len(parts)-1) || ok && !bytes.Equal(whole, data) {
					t.Errorf("part %d of %d: %t", i, len(parts), ok)
				}
			}
		}
	})
}

// FuzzManySenders: whatever parts liars send, and in whatever order, what is held of each and of all has its bounds,
// and the message of somebody else arrives whole. A liar is a sender for each byte of the order, and each names any
// message, part and number.
func FuzzManySenders(f *testing.F) {
	f.Add([]byte("abcabc"), "a 0 2", "a 1 2", uint16(0))
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), "x 0 9999", "honest 0 3", uint16(9))
	f.Add([]byte{0, 1, 2, 3, 255}, "honest 1 3", "honest 2 3", uint16(65535))
	f.Add([]byte("ab"), "", " 0 2", uint16(1))
	f.Fuzz(func(t *testing.T, order []byte, first, second string, more uint16) {
		var j joiner
		honest := [3][]byte{make([]byte, minPart), bytes.Repeat([]byte{1}, minPart), {2}}
		for i, piece := range honest {
			whole, ok := j.add("honest", part{"honest", i, len(honest), piece})
			if ok != (i == 2) || ok && !bytes.Equal(whole, bytes.Join(honest[:], nil)) {
				t.Fatalf("part %d: %t", i, ok)
			}
			for n, who := range order[:min(len(order), 100)] {
				m := nats.NewMsg("liar" + string('a'+rune(who%8)))
				m.Header.Set(partHeader, []string{first, second, fmt.Sprint(n, " 0 ", int(more)+2)}[n%3])
				m.Data = make([]byte, minPart+int(who))
				j.join(m)
			}
			held := 0
			for who, s := range j.senders {
				if held += s.held; len(s.open) > maxOpenEach || len(s.order) != len(s.open) || s.held > maxHeldEach {
					t.Fatalf("%s has %d messages and %d bytes", who, len(s.open), s.held)
				}
			}
			if held != j.held || held > maxHeld {
				t.Fatalf("%d bytes are held, %d are counted", held, j.held)
			}
		}
	})
}
