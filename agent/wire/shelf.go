package wire

import "strconv"

// FilesStream is the stream in which the broker keeps pieces of files while the hosts of a run pull them.
const FilesStream = "HARK_FILES"

// PieceSize is how many bytes of a file go in one message.
const PieceSize = 256 << 10

// Shelf says where the pieces of a blob lie at the broker, and with what they are opened. It is told to the hosts
// alone that the blob was named to.
type Shelf struct {
	Operator string `json:"operator"` // id of the key of the operator whose run it is
	Token    string `json:"token"`    // of this blob in this run; it tells nothing of what is in it
	Key      Key    `json:"key"`      // of this blob in this run
	Piece    int64  `json:"piece"`    // bytes of a piece; the last may have fewer
	Ready    int64  `json:"ready"`    // how many pieces are there, from the first one on
	Whole    bool   `json:"whole,omitempty"`
	// Flight is how many pieces may be on their way to one host at once.
	Flight int `json:"flight"`
}

// Has reports whether the piece n is there, from 0.
func (s *Shelf) Has(n int64) bool { return s != nil && n < s.Ready }

// Last reports whether the piece n is the last one, as far as is known.
func (s *Shelf) Last(n int64) bool { return s.Whole && n == s.Ready-1 }

// Subject is where the piece n lies.
func (s *Shelf) Subject(n int64) string {
	return FilePiece(s.Operator, s.Token, strconv.FormatInt(n, 10))
}

// Pack makes the message of the piece n.
func (s *Shelf) Pack(c *Codec, run string, n int64, data []byte) ([]byte, error) {
	return c.PackBytes(Header{Kind: KindPiece, Run: run, Plan: s.Token, Seq: uint64(n) + 1}, data, Packing{Key: &s.Key, Seal: SealFile})
}

// Open opens what came as the piece n.
func (s *Shelf) Open(c *Codec, run string, n int64, message []byte) ([]byte, error) {
	f, err := Parse(message)
	if err != nil {
		return nil, err
	}
	if h := f.Header; h.Kind != KindPiece || h.Run != run || h.Plan != s.Token || h.Seq != uint64(n)+1 {
		return nil, refuse(Altered, "it is not the piece that was asked for")
	}
	return f.Bytes(c, SealFile, Keys{File: &s.Key})
}
