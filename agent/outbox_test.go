package agent

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hark/agent/wire"
)

// TestABeginningTravelsWithWhatComesNext: unless that takes long, or somebody waits for it.
func TestABeginningTravelsWithWhatComesNext(t *testing.T) {
	for name, tt := range map[string]struct {
		then func(*outbox)
		want []wire.EventKind // of the next batch, at once
	}{
		"nothing":       {func(*outbox) {}, nil},
		"its end":       {func(o *outbox) { o.add(wire.Event{Kind: wire.Done}) }, []wire.EventKind{wire.Started, wire.Done}},
		"time":          {func(*outbox) { time.Sleep(2 * linger) }, []wire.EventKind{wire.Started}},
		"another":       {func(o *outbox) { o.add(wire.Event{Kind: wire.Started}) }, nil},
		"who waits":     {func(o *outbox) { o.urge() }, []wire.EventKind{wire.Started}},
		"acknowledging": {func(o *outbox) { o.ack(0) }, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOutbox(newTestLine(t), nil, 0)
			defer o.close(false)
			o.add(wire.Event{Kind: wire.Started})
			tt.then(o)
			synctest.Wait()
			var got []wire.EventKind
			if b, _ := o.next(); b != nil {
				for _, raw := range b.Events {
					var e wire.Event
					if err := json.Unmarshal(raw, &e); err != nil {
						t.Fatal(err)
					}
					got = append(got, e.Kind)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("after %s %v is sent, want %v", name, got, tt.want)
			}
		})
	}
}
