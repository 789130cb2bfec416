package roster

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/wire"
)

// How often the agents are counted, and how often they are told though nothing has changed: some may have missed it.
const (
	countEvery = time.Minute
	tellEvery  = 10 * time.Minute
)

// PublishFleetSize tells all agents how many they are, until ctx is over: it decides over how long a time they come
// back to a broker that was away. wrong is told of what goes wrong, once for each reason.
func PublishFleetSize(ctx context.Context, conn *nats.Conn, wrong func(error)) {
	told, at, last := 0, time.Time{}, ""
	for {
		n, err := count(ctx, conn)
		if err == nil && (n != told || time.Since(at) >= tellEvery) {
			if err = publishFleetSize(conn, n); err == nil {
				told, at = n, time.Now()
			}
		}
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			wrong(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(countEvery):
		}
	}
}

func publishFleetSize(conn *nats.Conn, agents int) error {
	text, err := json.Marshal(wire.FleetSize{Agents: agents})
	if err != nil {
		return err
	}
	return conn.Publish(wire.ToAll(wire.KindFleetSize), text)
}

// count returns how many agents have said hello to the broker and were not forgotten.
func count(ctx context.Context, conn *nats.Conn) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	js, err := jetstream.New(conn)
	if err != nil {
		return 0, err
	}
	stream, err := js.Stream(ctx, StreamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(wire.PresenceOfAll(wire.KindHello)))
	if err != nil {
		return 0, err
	}
	return len(info.State.Subjects), nil
}
