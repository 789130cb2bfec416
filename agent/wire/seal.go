package wire

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// Seal names the key that a body is sealed with.
type Seal string

// The seals. A body without a seal holds nothing secret (presence, cancel).
const (
	SealBox  Seal = "box"  // for the owner of a curve key (nkeys xkey)
	SealHost Seal = "host" // with the key of one agent's session, from its Opening
	SealRun  Seal = "run"  // with the key that all agents of a run have, from their Openings
	// SealRecord is the key of a week's records, which their readers have from WeekKeys.
	SealRecord Seal = "record"
	// SealFile is the key of one file of one run, which hosts have from its BlobLocation.
	SealFile Seal = "file"
)

// Key seals and opens bodies: XChaCha20-Poly1305.
type Key [chacha20poly1305.KeySize]byte

// NewKey makes a random key.
func NewKey() Key {
	var k Key
	_, _ = rand.Read(k[:]) // never fails, it ends the process if the system has no randomness
	return k
}

// MarshalText writes the key as base64.
func (k Key) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, k[:]), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(raw) != len(k) {
		return fmt.Errorf("cannot read a key: it is not %d bytes in base64", len(k))
	}
	copy(k[:], raw)
	return nil
}

// bound returns what a sealed body is bound to: if anybody changed the header of an unsigned message, its body would
// not open.
func bound(h Header) []byte {
	// plain data always encodes
	b, _ := json.Marshal([]any{h.V, h.Kind, h.Run, h.Plan, h.Seq, h.Nonce, h.To, h.Enc, h.Seal})
	return b
}

// seal seals raw as the packing demands and notes it in the header.
func (p Packing) seal(h *Header, raw []byte) ([]byte, error) {
	switch {
	case p.Key != nil:
		h.Seal = p.Seal
		aead, err := chacha20poly1305.NewX(p.Key[:])
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(raw)+aead.Overhead())
		_, _ = rand.Read(nonce) // never fails
		return aead.Seal(nonce, nonce, raw, bound(*h)), nil
	case p.To != "":
		h.Seal, h.From = SealBox, p.Box.XKey
		return p.Box.box(raw, p.To)
	case p.Sign == nil:
		return nil, fmt.Errorf("internal error: neither a signature nor a key")
	}
	return raw, nil
}

func (k Key) open(h Header, sealed []byte) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(k[:])
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, refuse(Malformed, "the sealed body is cut off")
	}
	raw, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], bound(h))
	if err != nil {
		return nil, refuse(Unsealed, "its body cannot be opened with the key of the session")
	}
	return raw, nil
}

// Keys are the keys of a receiver; those that it does not have are nil.
type Keys struct {
	Own                     *Identity // for SealBox
	Host, Run, Record, File *Key
}

// open opens the body. need is the seal that it must have: the receiver names it, so that nobody can send in clear what
// should be sealed.
func (f *Frame) open(need Seal, k Keys) ([]byte, error) {
	h := f.Header
	if h.Seal != need {
		return nil, refuse(Altered, "its body is sealed with %q and not with %q", h.Seal, need)
	}
	switch {
	case need == "":
		return f.body, nil
	case need == SealBox && k.Own != nil:
		raw, err := k.Own.unbox(f.body, h.From)
		if err != nil {
			return nil, refuse(Unsealed, "its body is not sealed for this side")
		}
		return raw, nil
	case need == SealHost && k.Host != nil:
		return k.Host.open(h, f.body)
	case need == SealRun && k.Run != nil:
		return k.Run.open(h, f.body)
	case need == SealRecord && k.Record != nil:
		return k.Record.open(h, f.body)
	case need == SealFile && k.File != nil:
		return k.File.open(h, f.body)
	}
	return nil, refuse(Unsealed, "this side has no %q key for it", need)
}

// Body opens the body, which must be sealed as need says, decodes it and checks what it says of its sender.
func (f *Frame) Body(c *Codec, need Seal, k Keys, into any) error {
	raw, err := f.Bytes(c, need, k)
	if err != nil {
		return err
	}
	if err := Decode(raw, into); err != nil {
		return refuse(Malformed, "its body is not what a %q message holds: %v", f.Header.Kind, err)
	}
	return nil
}

// Bytes opens and unpacks a body that is not JSON, which must be sealed as need says.
func (f *Frame) Bytes(c *Codec, need Seal, k Keys) ([]byte, error) {
	raw, err := f.open(need, k)
	if err != nil {
		return nil, err
	}
	return c.decompress(raw, f.Header.Enc, bodyLimit(f.Header.Kind))
}
