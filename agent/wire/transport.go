package wire

import (
	"context"
	"time"
)

// Transport carries messages between controller, broker and agents. The implementations are wire/nats and wire/mem;
// both pass wire/wiretest. All methods are safe for concurrent use. Messages larger than the broker's limit are split
// and joined on the way, up to MaxMessage.
type Transport interface {
	// Publish sends without waiting. An error means that the message was not sent; nil does not mean that anyone received
	// it.
	Publish(subject string, data []byte) error
	// Subscribe calls f for each message on subject, one at a time and in order, from a goroutine
	// of the transport; f must not block for long. Subjects may hold NATS wildcards.
	Subscribe(subject string, f func(Msg)) (Subscription, error)
	// Request sends and waits for one reply. The error is ErrNoResponder if nobody listens, ErrDenied if the broker did
	// not permit it, or the context's.
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
	// Flush waits until the broker has received what was published. The error is ErrDenied if the broker did not permit a
	// subscription or publication since the last Flush.
	Flush(ctx context.Context) error
	// Since returns since when there is a connection to the broker, the zero time while there is none.
	Since() time.Time
	// Close ends all subscriptions; no f runs after it returns. It must not be called from an f.
	Close() error
}

// MaxMessage is the size in bytes of the largest message that a Transport carries; a larger one is ErrTooLarge.
const MaxMessage = 64 << 20

// MaxEvent is the size in bytes of the largest event. One that no message can hold would be sent for ever.
const MaxEvent = MaxMessage / 2

// Msg is one message as received.
type Msg struct {
	Subject string
	Data    []byte
	// Reply is the subject of the answer, "" if none is wanted.
	Reply string
	// Respond answers a request; nil if no answer is wanted.
	Respond func(data []byte) error
}

// Subscription ends a Subscribe.
type Subscription interface {
	Unsubscribe() error
}

// ErrNoResponder says that nobody listens on the subject of a request.
const ErrNoResponder = transportError("nobody answers on this subject")

// ErrTooLarge says that a message is larger than MaxMessage. Sending it again does not help.
const ErrTooLarge = transportError("the message is larger than 64 MB")

// ErrAway says that there is no connection to the broker, so that nothing can be sent.
const ErrAway = transportError("the broker is away")

// ErrDenied says that the broker does not permit the request.
const ErrDenied = transportError("the broker does not permit it")

type transportError string

func (e transportError) Error() string { return string(e) }
