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
	j := newJoiner()
	piece := make([]byte, 8<<20)
	n := wire.MaxMessage/len(piece) + 2
	for i := range n {
		if whole, ok := j.add("x", i, n, piece); ok {
			t.Fatalf("%d bytes were joined", len(whole))
		}
	}
	if len(j.open) != 0 {
		t.Error("the parts are kept")
	}
}

func TestUnfinishedMessagesAreGivenUp(t *testing.T) {
	j := newJoiner()
	for i := range 10 * maxOpen {
		j.add(fmt.Sprint(i), 0, 2, []byte("x"))
	}
	if len(j.open) > maxOpen || len(j.order) != len(j.open) {
		t.Errorf("%d messages are open", len(j.open))
	}
	j = newJoiner()
	piece := make([]byte, wire.MaxMessage/2)
	for i := range 20 {
		j.add(fmt.Sprint(i), 0, 2, piece)
		if j.held > maxHeld {
			t.Fatalf("%d bytes are held", j.held)
		}
	}
	if _, ok := j.add("19", 1, 2, piece[:1]); !ok || j.held != 6*wire.MaxMessage/2 {
		t.Errorf("the latest was given up: %t, %d bytes", ok, j.held)
	}
}

// FuzzParts: whatever headers say, nothing panics, and what is joined is what was sent.
func FuzzParts(f *testing.F) {
	for _, mark := range []string{"", "a 0 2", "a 1 2", "a 0 1", "a -1 2", "a 0 -2", "a 0 999999999999", "a b c", "a 0 2 3", " ", "\x00"} {
		f.Add(mark, []byte("data"))
	}
	f.Fuzz(func(t *testing.T, mark string, data []byte) {
		j := newJoiner()
		m := nats.NewMsg("s")
		m.Header.Set(partHeader, mark)
		m.Data = data
		for range 3 {
			if whole, ok := j.join(m); ok && len(whole) < len(data) {
				t.Errorf("%q: %d bytes of %d", mark, len(whole), len(data))
			}
		}
		parts, err := split(&nats.Msg{Subject: "s", Data: data}, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range parts {
			if whole, ok := j.join(p); ok != (i == len(parts)-1) || ok && !bytes.Equal(whole, data) {
				t.Errorf("part %d of %d: %t", i, len(parts), ok)
			}
		}
	})
}
