package wire

import (
	"fmt"

	"github.com/nats-io/nkeys"
)

// WeekKeys is the key that seals an operator's records of a week, closed for each of their readers. Only those readers
// can open the records, whoever the broker lets have them.
type WeekKeys struct {
	Week string `json:"week"` // year and number as ISO 8601 has them: 2026-W47
	From string `json:"from"` // the operator's public curve key
	// Boxes are the key (32 bytes), closed with nkeys' xkey, by the reader's public curve key.
	Boxes map[string][]byte `json:"boxes"`
}

// Stop asks a controller to stop a run, as Ctrl-C at its terminal does.
type Stop struct {
	Run string `json:"run"`
}

// ValidReader reports whether text is a public curve key.
func ValidReader(text string) bool { return nkeys.IsValidPublicCurveKey(text) }

// Close seals a key for the owner of a public curve key.
func (id *Identity) Close(k Key, to string) ([]byte, error) {
	box, err := id.box(k[:], to)
	if err != nil {
		return nil, fmt.Errorf("cannot close a key for %s: %v", to, err)
	}
	return box, nil
}

// Open opens a key that the owner of the curve key from has sealed for this identity.
func (id *Identity) Open(box []byte, from string) (Key, error) {
	raw, err := id.unbox(box, from)
	var k Key
	if err != nil || len(raw) != len(k) {
		return k, fmt.Errorf("the key is not closed for this reader")
	}
	copy(k[:], raw)
	return k, nil
}
