package service

import (
	"context"
	"testing"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/agent/wire/natstest"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/streams"
)

// A keeper that runs has its lock; when it is gone, the console knows since when nobody runs it.
func TestAKeeperThatNobodyRunsIsNoticed(t *testing.T) {
	srv := natstest.Start(t, natstest.JetStream(t.TempDir()))
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Dial(t.Context(), nats.Config{URL: srv.ClientURL(), ID: id.ID(), Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := dutystate.Ensure(t.Context(), streams.Manager{Conn: conn.Conn()}); err != nil {
		t.Fatal(err)
	}
	b, x := &broker{}, &sources{conn: conn}
	all := []dutystate.Words{{Keeper: id.Key}}
	lock, err := dutystate.NewLock(t.Context(), conn.Conn(), wire.IDOf(id.Key), "h1")
	if err != nil {
		t.Fatal(err)
	}
	err = lock.With(t.Context(), nil, func(ctx context.Context) error {
		if idle := b.idleKeepers(ctx, x, all); len(idle) > 0 {
			t.Errorf("it runs: %v", idle)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	first := b.idleKeepers(t.Context(), x, all)[id.Key]
	if again := b.idleKeepers(t.Context(), x, all)[id.Key]; first.IsZero() || !again.Equal(first) {
		t.Errorf("nobody runs it since %s, and since %s", first, again)
	}
}
