package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/sealkeys"
)

// link is the required position of a message in the chain of a record.
type link struct {
	operator, run string
	seq           uint64
	prev          string
}

// anySeq is the position of a message that is checked by itself.
const anySeq = math.MaxUint64

// TamperedError says that a record at the broker is not the one that its operator sent.
type TamperedError struct{ Run, Why string }

func (e *TamperedError) Error() string {
	return fmt.Sprintf("the record of run %s is not what its operator sent: %s", e.Run, e.Why)
}

// check parses a message and checks that it belongs at this position of the record.
func (k link) check(data []byte) (*wire.Frame, error) {
	f, err := k.checkAlone(data)
	if err == nil && k.seq != anySeq && f.Header.Prev != k.prev {
		return nil, k.tampered("does not follow the one before it, which was left out or replaced")
	}
	return f, err
}

func (k link) tampered(format string, v ...any) error {
	return &TamperedError{Run: k.run, Why: k.name() + " " + fmt.Sprintf(format, v...)}
}

// checkAlone is check without the digest of the message before.
func (k link) checkAlone(data []byte) (*wire.Frame, error) {
	f, err := wire.Parse(data)
	switch {
	case err != nil:
		return nil, k.tampered("was altered (%v)", err)
	case !f.Signed || wire.IDOf(f.Header.Issuer) != k.operator:
		return nil, k.tampered("is not signed by its operator")
	case f.Header.Kind != wire.KindRecord:
		return nil, k.tampered("is something else")
	case f.Header.Run != k.run:
		return nil, k.tampered("is of run %s", f.Header.Run)
	case k.seq != anySeq && f.Header.Seq != k.seq:
		return nil, k.tampered("is part %d, in another's place", f.Header.Seq)
	}
	return f, nil
}

func (k link) name() string {
	switch k.seq {
	case 0:
		return "its beginning"
	case anySeq:
		return "its end"
	}
	return fmt.Sprintf("part %d", k.seq)
}

// next returns the position behind a message.
func (k link) next(data []byte) link {
	k.seq++
	k.prev = wire.FrameDigest(data)
	return k
}

// open opens a message that was checked.
func (l *Ledger) open(ctx context.Context, f *wire.Frame, operator string) (meta, []byte, error) {
	var m meta
	key, err := l.keys.Of(ctx, operator, sealkeys.Week(time.UnixMilli(f.Header.NotBefore)))
	if err != nil {
		return m, nil, err
	}
	body, err := f.Bytes(&l.codec, wire.SealRecord, wire.Keys{Record: &key})
	if err != nil {
		return m, nil, err
	}
	head, data, ok := bytes.Cut(body, []byte("\n"))
	if !ok {
		return m, nil, fmt.Errorf("a part of its record is cut off")
	}
	return m, data, json.Unmarshal(head, &m)
}
