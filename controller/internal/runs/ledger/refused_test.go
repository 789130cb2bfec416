package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
	"hark/controller/internal/runs/record"
)

// unanswering makes the broker one whose store has failed: it takes messages and answers nothing.
func (r *rig) unanswering() {
	r.t.Helper()
	if err := r.js.DeleteStream(r.t.Context(), StreamName); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.conn.Subscribe(wire.Record("*", "*", "*"), func(*nats.Msg) {}); err != nil {
		r.t.Fatal(err)
	}
	if err := r.conn.Flush(); err != nil {
		r.t.Fatal(err)
	}
}

// refusing makes the broker one that has no room for a message.
func (r *rig) refusing() {
	r.t.Helper()
	cfg := StreamConfig()
	cfg.MaxBytes, cfg.Discard = 1, jetstream.DiscardNew
	if _, err := r.js.UpdateStream(r.t.Context(), cfg); err != nil {
		r.t.Fatal(err)
	}
}

// A broker that takes nothing is recognised with one try, and the reason is told. A try leaves no run behind.
func TestABrokerThatTakesNothingIsRecognised(t *testing.T) {
	r := newRig(t)
	anna := r.person()
	if err := anna.Try(t.Context()); err != nil {
		t.Errorf("it takes records: %v", err)
	}
	if list, err := anna.Store().List(t.Context(), record.Filter{}); err != nil || len(list.Entries)+len(list.Warnings) > 0 {
		t.Errorf("the try is a run: %+v, %v", list, err)
	}
	r.refusing()
	if err := anna.Try(t.Context()); err == nil || !strings.Contains(err.Error(), "takes no records") {
		t.Errorf("it refuses: %v", err)
	}
	r.unanswering()
	if err := anna.Try(t.Context()); !errors.Is(err, errTakesNothing) {
		t.Errorf("it does not answer: %v", err)
	}
}

// hark runs push has no limit of its own: it ends and says why.
func TestSendingEndsAtABrokerThatTakesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*rig)
		say    string
	}{
		"refuses": {(*rig).refusing, "the broker takes no records: "},
		"silent":  {(*rig).unanswering, "its store failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			anna, s := r.person(), newShelf()
			s.make("r1", 10, "x")
			if _, err := anna.Share(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.breaks(r)
			if err := Note(anna.home, "r1"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if err := anna.Send(ctx, s, "r1"); err == nil || !strings.Contains(err.Error(), c.say) || ctx.Err() != nil {
				t.Errorf("%v", err)
			}
		})
	}
}
