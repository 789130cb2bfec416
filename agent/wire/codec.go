package wire

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// compressAbove is the size in bytes above which bodies are compressed. MaxBody is the largest body that is unpacked.
// maxWordsBody is the limit for presence and requests to be enrolled, which come from agents that nobody asked, and for
// pieces of files.
const (
	compressAbove = 1 << 10
	MaxBody       = 64 << 20
	maxWordsBody  = PieceSize
)

// bodyLimit returns the size in bytes of the largest body of a kind.
func bodyLimit(k Kind) int {
	switch k {
	case KindHello, KindBeat, KindBye, KindJoin, KindRights, KindPiece:
		return maxWordsBody
	}
	return MaxBody
}

// Codec packs and unpacks bodies. The zero value is ready. It makes its coders on first use, and small ones, since an
// idle agent should cost next to nothing. A Codec is safe for concurrent use.
type Codec struct {
	enc   func() (*zstd.Encoder, error)
	dec   func() (*zstd.Decoder, error)
	small func() (*zstd.Decoder, error) // for bodies up to maxWordsBody

	once sync.Once
}

func (c *Codec) setup() {
	c.once.Do(func() {
		c.enc = sync.OnceValues(func() (*zstd.Encoder, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
				zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
		})
		c.dec, c.small = decoder(MaxBody), decoder(maxWordsBody)
	})
}

func decoder(limit uint64) func() (*zstd.Decoder, error) {
	return sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(limit))
	})
}

// compress returns raw unchanged if it is small or does not shrink.
func (c *Codec) compress(raw []byte) ([]byte, string) {
	if len(raw) <= compressAbove {
		return raw, ""
	}
	c.setup()
	enc, err := c.enc()
	if err != nil {
		return raw, ""
	}
	packed := enc.EncodeAll(raw, make([]byte, 0, len(raw)/2))
	if len(packed) >= len(raw) {
		return raw, ""
	}
	return packed, "zstd"
}

func (c *Codec) decompress(raw []byte, enc string, limit int) ([]byte, error) {
	switch enc {
	case "":
		if len(raw) > limit {
			return nil, refuse(Malformed, "its body has more than %d KB", limit>>10)
		}
		return raw, nil
	case "zstd":
		c.setup()
		open := c.dec
		if limit < MaxBody {
			open = c.small
		}
		dec, err := open()
		if err != nil {
			return nil, err
		}
		out, err := dec.DecodeAll(raw, nil)
		if err != nil {
			return nil, refuse(Malformed, "its body cannot be unpacked: %v", err)
		}
		return out, nil
	}
	return nil, refuse(Newer, "its body is packed with %q, which this side does not know", enc)
}
