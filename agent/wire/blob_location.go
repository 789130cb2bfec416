package wire

import "strconv"

// FilesStream is the stream in which the broker keeps pieces of files while the hosts of a run pull them.
const FilesStream = "HARK_FILES"

// PieceSize is how many bytes of a file go in one message.
const PieceSize = 256 << 10

// BlobLocation says where the pieces of a blob are at the broker, and which key opens them. Only hosts that the blob
// was named to receive it.
type BlobLocation struct {
	Operator string `json:"operator"` // id of the key of the operator whose run it is
	Token    string `json:"token"`    // of this blob in this run; it says nothing about the content
	Key      Key    `json:"key"`      // of this blob in this run
	Piece    int64  `json:"piece"`    // bytes of a piece; the last may have fewer
	Ready    int64  `json:"ready"`    // how many pieces are there, from the first one on
	Whole    bool   `json:"whole,omitempty"`
	// InFlight is how many pieces may be in flight to one host at once.
	InFlight int `json:"in_flight"`
}

// Has reports whether piece n, counted from 0, is at the broker.
func (s *BlobLocation) Has(n int64) bool { return s != nil && n < s.Ready }

// Last reports whether piece n is the last one, as far as is known.
func (s *BlobLocation) Last(n int64) bool { return s.Whole && n == s.Ready-1 }

// Subject returns the subject of piece n.
func (s *BlobLocation) Subject(n int64) string {
	return FilePiece(s.Operator, s.Token, strconv.FormatInt(n, 10))
}

// Pack makes the message of piece n.
func (s *BlobLocation) Pack(c *Codec, run string, n int64, data []byte) ([]byte, error) {
	return c.PackBytes(Header{Kind: KindPiece, Run: run, Plan: s.Token, Seq: uint64(n) + 1}, data,
		Packing{Key: &s.Key, Seal: SealFile})
}

// Open opens a message that must be piece n; any other is refused as Altered.
func (s *BlobLocation) Open(c *Codec, run string, n int64, message []byte) ([]byte, error) {
	f, err := Parse(message)
	if err != nil {
		return nil, err
	}
	if h := f.Header; h.Kind != KindPiece || h.Run != run || h.Plan != s.Token || h.Seq != uint64(n)+1 {
		return nil, refuse(Altered, "it is not the piece that was asked for")
	}
	return f.Bytes(c, SealFile, Keys{File: &s.Key})
}
