package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Header describes a message. The issuer signs its exact bytes, and it names the digest of the body, so nobody can
// change a part of a message on its way.
type Header struct {
	V     int    `json:"v"`
	Kind  Kind   `json:"kind"`
	Fleet string `json:"fleet,omitempty"`
	Run   string `json:"run,omitempty"`
	Plan  string `json:"plan,omitempty"` // digest of the plan that the message is about
	// Seq numbers the messages of an issuer in a run, per kind.
	Seq    uint64 `json:"seq,omitempty"`
	Issuer string `json:"issuer,omitempty"` // public signing key
	// Targets are ids of agents; TargetRun is every agent with a session of Run.
	Targets   []string `json:"targets,omitempty"`
	NotBefore int64    `json:"not_before,omitempty"` // milliseconds since 1970
	Expires   int64    `json:"expires,omitempty"`
	Nonce     string   `json:"nonce"`
	Digest    string   `json:"digest"` // sha256 of the body as sent, hex
	// Enc is how the body is compressed ("zstd"), Seal the key that it is sealed with.
	Enc  string `json:"enc,omitempty"`
	Seal Seal   `json:"seal,omitempty"`
	// From is the sender's public curve key when Seal is SealBox.
	From string `json:"from,omitempty"`
	// To is the nonce of the request that this answers.
	To string `json:"to,omitempty"`
	// Prev is the FrameDigest of the part of a record before this one, so that no part can be left out or replaced.
	Prev string `json:"prev,omitempty"`
}

// TargetRun in Header.Targets addresses every agent that holds a session of the run.
const TargetRun = "run"

// Lifetime is how long an envelope is valid, Skew the tolerated difference of clocks.
const (
	Lifetime = 10 * time.Minute
	Skew     = 300 * time.Second
)

// MaxHeader is the size in bytes of the largest header that Parse reads.
const MaxHeader = 1 << 20

// magic begins every frame; the digit is the version of the framing.
const magic = "hk1\n"

// Packing says how Pack protects a message. One of Sign and Key must be given.
type Packing struct {
	// Sign signs the header. If Jointly is set it signs in Sign's place, once for many headers (BatchSigner), for
	// receivers that know such signatures.
	Sign    *Identity
	Jointly func(head []byte) ([]byte, error)
	// Key seals the body with a key that both sides have from the Opening; Seal names it.
	Key  *Key
	Seal Seal
	// To seals the body for the owner of a public curve key; Box is the sender's pair.
	To  string
	Box *Identity
	// Now is the clock, nil is time.Now.
	Now func() time.Time
}

// Pack makes a frame of a header and a body. It marshals the body as JSON, compresses it when it is large, and seals
// it. It fills in version, issuer, times and digest, and the nonce unless the header has one.
func (c *Codec) Pack(h Header, body any, p Packing) ([]byte, error) {
	if a, ok := body.(Answer); ok {
		if raw, ok := a.compose(); ok {
			return c.PackBytes(h, raw, p)
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a message of kind %q: %w", h.Kind, err)
	}
	return c.PackBytes(h, raw, p)
}

// PackBytes is Pack for a body that is not JSON.
func (c *Codec) PackBytes(h Header, raw []byte, p Packing) ([]byte, error) {
	raw, h.Enc = c.compress(raw)
	return p.close(h, raw)
}

// close makes a frame of a header and a compressed body.
func (p Packing) close(h Header, raw []byte) ([]byte, error) {
	if p.Now == nil {
		p.Now = time.Now
	}
	now := p.Now()
	h.V = Version
	if h.Nonce == "" {
		h.Nonce = NewNonce()
	}
	h.NotBefore, h.Expires = now.UnixMilli(), now.Add(Lifetime).UnixMilli()
	if p.Sign != nil {
		h.Issuer = p.Sign.Key
	}
	raw, err := p.seal(&h, raw)
	if err != nil {
		return nil, fmt.Errorf("cannot seal a message of kind %q: %w", h.Kind, err)
	}
	sum := sha256.Sum256(raw)
	h.Digest = hex.EncodeToString(sum[:])
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	var sig []byte
	if p.Sign != nil {
		sign := p.Sign.Sign
		if p.Jointly != nil {
			sign = p.Jointly
		}
		if sig, err = sign(head); err != nil {
			return nil, fmt.Errorf("cannot sign a message of kind %q: %w", h.Kind, err)
		}
	}
	return frame(head, sig, raw), nil
}

func frame(head, sig, body []byte) []byte {
	b := make([]byte, 0, len(magic)+2*binary.MaxVarintLen32+len(head)+len(sig)+len(body))
	b = append(b, magic...)
	b = binary.AppendUvarint(b, uint64(len(head)))
	b = append(b, head...)
	b = binary.AppendUvarint(b, uint64(len(sig)))
	b = append(b, sig...)
	return append(b, body...)
}

// FrameDigest returns the sha256 of a whole message, in hex.
func FrameDigest(frame []byte) string {
	sum := sha256.Sum256(frame)
	return hex.EncodeToString(sum[:])
}

// Frame is a parsed message. Believe its header only after Check has passed, or after Body has opened it with a key
// that only the two sides have.
type Frame struct {
	Header Header
	// Signed says that the header has a valid signature of Header.Issuer.
	Signed bool

	body []byte
}

// Parse takes a frame apart. It checks its form, the digest of the body and the signature if there is one. It never
// panics, whatever the bytes are. For a message of a newer version it returns the frame, unchecked, beside the error,
// so that the sender can be told.
func Parse(data []byte) (*Frame, error) { return parse(data, verifyHeader) }

// parse is Parse with a func that verifies a signature by the owner of a key.
func parse(data []byte, verified func(key string, head, sig []byte) bool) (*Frame, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, refuse(Malformed, "it does not begin as a message of hark")
	}
	head, rest, ok := cutField(rest, MaxHeader)
	if !ok {
		return nil, refuse(Malformed, "the header is cut off or too large")
	}
	sig, body, ok := cutField(rest, 256)
	if !ok {
		return nil, refuse(Malformed, "the signature is cut off")
	}
	f := &Frame{body: body}
	if err := f.Header.read(head); err != nil {
		return nil, refuse(Malformed, "the header is not JSON: %v", err)
	}
	if f.Header.V < 1 {
		return nil, refuse(Malformed, "it speaks no version of the protocol")
	}
	if f.Header.V > Version {
		return f, refuse(Newer, "it speaks protocol version %d, this is version %d: upgrade this side", f.Header.V, Version)
	}
	sum := sha256.Sum256(body)
	if f.Header.Digest != hex.EncodeToString(sum[:]) {
		return nil, refuse(Altered, "the body does not match its digest")
	}
	if len(sig) > 0 {
		if !verified(f.Header.Issuer, head, sig) {
			return nil, refuse(Forged, "the signature is not that of %s", f.Header.Issuer)
		}
		f.Signed = true
	}
	return f, nil
}

// KindIn returns the kind that a message claims, "" if it cannot be read. Nothing of the message has been checked.
func KindIn(data []byte) Kind {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return ""
	}
	head, _, ok := cutField(rest, MaxHeader)
	var h Header
	if !ok || h.read(head) != nil {
		return ""
	}
	return h.Kind
}

// cutField reads a length and that many bytes.
func cutField(b []byte, limit uint64) (field, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > limit || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	b = b[size:]
	return b[:n], b[n:], true
}

// Demands are what a receiver requires of a signed message before it obeys.
type Demands struct {
	// Trusted reports whether the issuer may send to this receiver.
	Trusted func(issuer string) bool
	// Fleet, if set, must be the message's.
	Fleet string
	// ID is the receiver's; it must be among the targets. "" does not look at targets. With Run, a message to all
	// agents of a run will do.
	ID  string
	Run bool
	// Kind is the kind in the message's subject.
	Kind Kind
	// Now is the clock, nil is time.Now.
	Now func() time.Time
}

// Check returns a *RefusedError unless the receiver may obey a signed frame. It does not look for replays: the
// receiver's journal does.
func (d Demands) Check(f *Frame) error {
	h := f.Header
	now := time.Now
	if d.Now != nil {
		now = d.Now
	}
	at := now()
	switch {
	case !f.Signed:
		return refuse(Forged, "it bears no signature")
	case !d.Trusted(h.Issuer):
		return refuse(Untrusted,
			"its issuer %s is not trusted here (an operator that this agent obeys can change that: `hark key trust %s`)",
			h.Issuer, h.Issuer)
	case h.Kind != d.Kind:
		return refuse(Altered, "it is a %q message on the subject of %q", h.Kind, d.Kind)
	case d.Fleet != "" && h.Fleet != d.Fleet:
		return refuse(Audience, "it is for fleet %q, this is %q", h.Fleet, d.Fleet)
	case d.ID != "" && !slices.Contains(h.Targets, d.ID) && !(d.Run && slices.Contains(h.Targets, TargetRun)):
		return refuse(Audience, "it is for other agents")
	case at.Add(Skew).UnixMilli() < h.NotBefore:
		return refuse(Expired, "it is dated %s ahead of this clock", time.UnixMilli(h.NotBefore).Sub(at).Round(time.Second))
	case at.Add(-Skew).UnixMilli() > h.Expires:
		return refuse(Expired, "it expired %s ago", at.Sub(time.UnixMilli(h.Expires)).Round(time.Second))
	}
	return nil
}

// NewNonce returns 96 random bits as text, which identify a message.
func NewNonce() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails, it ends the process if the system has no randomness
	return base64.RawURLEncoding.EncodeToString(b[:])
}
