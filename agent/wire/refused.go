package wire

import "fmt"

// Reason is why a message was refused, for counting.
type Reason string

// The reasons.
const (
	Malformed Reason = "malformed"
	Newer     Reason = "newer"     // a protocol version that this side does not know
	Altered   Reason = "altered"   // body, header or subject do not match
	Forged    Reason = "forged"    // no signature, or a bad one
	Untrusted Reason = "untrusted" // the issuer may not command this side
	Audience  Reason = "audience"  // for other receivers
	Expired   Reason = "expired"   // too old, or from the future
	Replayed  Reason = "replayed"  // received before
	Unsealed  Reason = "unsealed"  // cannot be opened with the keys of this side
	Forbidden Reason = "forbidden" // the host's own policy forbids it
	Unable    Reason = "unable"    // the message is good, this side cannot: its disk is full, its state directory is gone
)

// RefusedError says why a message was refused.
type RefusedError struct {
	Reason Reason
	Text   string
}

func (e *RefusedError) Error() string { return "refused: " + e.Text }

func refuse(r Reason, format string, a ...any) error {
	return &RefusedError{Reason: r, Text: fmt.Sprintf(format, a...)}
}
