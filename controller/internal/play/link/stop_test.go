package link

import (
	"context"
	"strings"
	"testing"

	"hark/agent/wire"
)

// TestRunIsStoppedByItsOperatorAlone from wherever he is.
func TestRunIsStoppedByItsOperatorAlone(t *testing.T) {
	b, op, eve := newBroker(t), operator(t), operator(t)
	stopped := make(chan wire.Stop, 10)
	s := &Stops{Transport: b.operator(op), Operator: op, Run: "r1", Stop: func(w wire.Stop) { stopped <- w }}
	if _, err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	flush(t, s.Transport)
	ask := func(as *wire.Identity, run string) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return RequestRunStop(ctx, b.operator(as), as, run)
	}
	if err := ask(op, "r2"); err == nil || !strings.Contains(err.Error(), "not connected") {
		t.Errorf("a run that nobody drives: %v", err)
	}
	// Another operator, on the subject of the first, which a broker with credentials would not let him do.
	var codec wire.Codec
	frame := func(by *wire.Identity, run string) []byte {
		f, err := codec.Pack(wire.Header{Kind: wire.KindStop, Run: run}, wire.Stop{Run: run}, wire.Packing{Sign: by})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, f := range map[string][]byte{"another's": frame(eve, "r1"), "of another run": frame(op, "r2"), "garbage": []byte("stop")} {
		if err := s.Transport.Publish(wire.RunStopSubject(op.ID(), "r1"), f); err != nil {
			t.Fatal(err)
		}
		flush(t, s.Transport)
		if len(stopped) > 0 {
			t.Errorf("%s was obeyed", name)
		}
	}
	own := frame(op, "r1")
	for range 3 { // the broker repeats it
		if err := s.Transport.Publish(wire.RunStopSubject(op.ID(), "r1"), own); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(op, "r1"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if w := wait(t, stopped); w.Run != "r1" {
			t.Errorf("%+v", w)
		}
	}
	if len(stopped) > 0 {
		t.Error("one word was obeyed several times")
	}
}
